"""What is asked at the one exit, right before a message is posted; the answers are decisions.

Everything that a check reads comes from the log, or from the look at the team that was just made.
"""

from ov_es_adapters.daemon.consequences import hand_over_steps
from ov_es_adapters.daemon.intake import Intake
from ov_es_adapters.daemon.ledger import Decision, Step, View
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.ports import Clock
from ov_es_domain.delivery import commands as c
from ov_es_domain.delivery.aggregate import Delivery
from ov_es_domain.delivery.machine import DeliveryState
from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.identity import Identifier, watch_key
from ov_es_domain.lifecycle import Command
from ov_es_domain.policy import withholding
from ov_es_domain.policy.clocks import offset
from ov_es_domain.policy.settling import Look, NextStep, find_rendered, look
from ov_es_domain.policy.team_facts import RenderedMessage, TicketFacts
from ov_es_domain.policy.withholding import Withheld
from ov_es_domain.watch.commands import NoteClock
from ov_es_projections.delivered_keys import as_text
from ov_es_projections.projection import Row

_SAME_CONTENT = "same-content-rendered"
_REALLY_POSTED = {
    DeliveryState.DELIVERED.value,
    DeliveryState.ATTEMPTING.value,
    DeliveryState.UNKNOWN.value,
}


def about(view: View, key: str, command: Command) -> Decision:
    """Return the decision that is one command to a delivery."""
    delivery = view.delivery(key)
    return Decision(
        steps=[Step(key, command)],
        cause=view.reference(key),
        correlation=delivery.ticket or delivery.thread or delivery.source,
    )


def rows_in(view: View, target: Target) -> list[Row]:
    """Return the rows of all messages that were ever promised in a place."""
    return view.rows(
        "deliveries",
        channel_id=as_text(target.channel_id),
        parent_id=as_text(target.parent_id),
    )


def _is_proof(row: Row) -> bool:
    """Tell whether a message stands for a delivery, which it does for one alone (DL-6)."""
    is_out = row["state"] == DeliveryState.DELIVERED.value or row["reason"] == _SAME_CONTENT
    return is_out and row["message_id"] is not None


def source_message(delivery: Delivery) -> str | None:
    """Return the id of the message that a delivery answers, as text."""
    if not delivery.source.startswith("mention:"):
        return None
    return delivery.source.rsplit(":", 1)[-1]


class ExitChecks:
    """The rules of the exit, with what they have to know of us."""

    def __init__(self, intake: Intake, clock: Clock, settings: WatchSettings) -> None:
        """`intake` knows who we are."""
        self._intake = intake
        self._clock = clock
        self._settings = settings
        self._lists_roots = False

    def before_the_look(self, view: View, key: str) -> Decision | None:
        """Say why it isn't posted at all, if that's known already (DL-4, DL-5, DL-22)."""
        delivery = view.delivery(key)
        if delivery.state != DeliveryState.PLANNED:
            return None
        command: Command | None = None
        now = self._clock.now()
        previous = delivery.previous
        has_place = delivery.purpose is Purpose.NOTE or delivery.target.channel_id is not None
        if view.thread(delivery.thread).is_cancelled:
            command = c.SuppressDelivery(reason="thread-cancelled", rule="DL-5", message_id=None)
        elif not has_place:
            command = c.AbandonDelivery(reason="no-channel", by="DL-22")
        elif previous is not None and view.delivery(previous).state == DeliveryState.ABANDONED:
            command = c.AbandonDelivery(reason="an-earlier-part-is-missing", by="OUT-10")
        elif withholding.is_expired(
            delivery, now=now, most_seconds=self._settings.delivery_age_seconds_max
        ):
            age = now - max(delivery.source_at, delivery.due)
            command = c.AbandonDelivery(reason=f"expired after {age / 3600:.0f} h", by="OUT-14")
        return None if command is None else about(view, key, command)

    def with_ticket(self, view: View, key: str, facts: TicketFacts) -> Decision | None:
        """Say why news of a ticket isn't told any more, if that is so (STP-07)."""
        delivery = view.delivery(key)
        if delivery.state != DeliveryState.PLANNED or delivery.ticket is None:
            return None
        ourselves = self._intake.ourselves
        found = withholding.ticket_moved_on(delivery, facts, ourselves)
        if found is None:
            return None
        decision = about(view, key, _suppress(found))
        if found.reason != "handed-over":
            return decision
        owner = facts.agent_identifier or str(facts.agent_id or "")
        handed_over = hand_over_steps(view, delivery.ticket, owner, because=key)
        return Decision(
            steps=[*decision.steps, *handed_over],
            cause=decision.cause,
            correlation=decision.correlation,
        )

    def clock(
        self, view: View, delivery: Delivery, thread: list[RenderedMessage]
    ) -> Decision | None:
        """Note how far the team's clock is from ours, where our own posts there tell (OWN-06)."""
        identifier = self._settings.agent.identifier
        theirs = {str(m.id): m.created_at for m in thread if m.created_at is not None}
        pairs = [
            (theirs[str(row["message_id"])], float(row["attempted_at"]))
            for row in rows_in(view, delivery.target)
            if row["attempts"] == 1
            and row["attempted_at"] is not None
            and str(row["message_id"]) in theirs
        ]
        found = offset(pairs, known=view.watch(identifier).clock_offset)
        if found is None:
            return None
        key = watch_key(identifier)
        step = Step(key, NoteClock(offset_seconds=found))
        return Decision(steps=[step], cause=view.reference(key), correlation=key)

    def with_thread(
        self, view: View, key: str, thread: list[RenderedMessage], epoch: int
    ) -> Decision | None:
        """Decide on what the thread shows; the stand-down is asked about once more (DL-3.5)."""
        delivery = view.delivery(key)
        if delivery.state not in {DeliveryState.PLANNED, DeliveryState.UNKNOWN}:
            return None
        root = delivery.target.parent_id
        self._lists_roots = self._lists_roots or any(str(m.id) == str(root) for m in thread)
        rows = rows_in(view, delivery.target)
        own = self._own(thread)
        bound = {str(row["message_id"]) for row in rows if _is_proof(row) and row["key"] != key}
        found = find_rendered(
            delivery, thread, source_message=source_message(delivery), is_ours=own, bound=bound
        )
        seen = look(delivery, found, now=self._clock.now())
        command = self._settle(delivery, seen)
        if command is None:
            against = None
            if not delivery.is_released:
                against = self._against(view, delivery, thread, own, bound, rows)
            command = self._post_or_hold(view, delivery, against, rows, len(thread), epoch)
        return about(view, key, command)

    def _settle(self, delivery: Delivery, seen: Look) -> Command | None:
        """Return what a look came to; None: it's to be posted now."""
        match seen.step:
            case NextStep.ALREADY_OUT:
                return c.ConfirmDelivery(message_id=seen.message_id, proof="rendered")
            case NextStep.SAME_CONTENT:
                return c.SuppressDelivery(
                    reason=_SAME_CONTENT, rule="DL-6", message_id=seen.message_id
                )
            case NextStep.LOOK_AGAIN:
                return c.LookForDelivery(reason="not-there-yet", look_at=delivery.repost_after)
            case NextStep.TRY_AGAIN:
                return c.ReplanDelivery(reason="not-there", until=self._clock.now())
            case NextStep.POST:
                return None

    def _against(  # noqa: PLR0913 - all that the look showed
        self,
        view: View,
        delivery: Delivery,
        thread: list[RenderedMessage],
        own: set[Identifier],
        bound: set[str],
        rows: list[Row],
    ) -> Withheld | None:
        source = source_message(delivery)
        if source is None:
            return None
        root = delivery.target.parent_id
        if withholding.source_is_gone(
            thread, source=source, root=root, lists_roots=self._lists_roots
        ):
            return Withheld(withholding.SOURCE_DELETED, "DUP-14")
        tried = [
            view.delivery(str(row["key"]))
            for row in rows
            if int(row["attempts"] or 0) and row["message_id"] is None
        ]
        other = withholding.posted_by_someone_else(
            delivery, thread, source=source, own=own, bound=bound, unproven=tried
        )
        return None if other is None else Withheld(withholding.SOMEONE_ELSE, "OWN-04", other.id)

    def _post_or_hold(  # noqa: PLR0913 - likewise
        self,
        view: View,
        delivery: Delivery,
        against: Withheld | None,
        rows: list[Row],
        rendered: int,
        epoch: int,
    ) -> Command:
        if view.thread(delivery.thread).is_cancelled:
            return c.SuppressDelivery(reason="thread-cancelled", rule="TH-17", message_id=None)
        if against is not None:
            return _suppress(against)
        until = withholding.held_until(
            (float(row["attempted_at"] or 0.0) for row in rows if row["state"] in _REALLY_POSTED),
            most=self._settings.posts_per_minute_max,
            now=self._clock.now(),
        )
        if until is not None:
            return c.DeferDelivery(reason="too-many-posts-in-this-minute", until=until)
        return c.AttemptDelivery(epoch=epoch, rendered=rendered)

    def _own(self, thread: list[RenderedMessage]) -> set[Identifier]:
        ourselves = self._intake.ourselves
        return {
            message.id
            for message in thread
            if message.is_agent
            and (
                (ourselves.id is not None and str(message.author_agent_id) == str(ourselves.id))
                or message.author_identifier == ourselves.identifier
            )
        }


def _suppress(found: Withheld) -> c.SuppressDelivery:
    return c.SuppressDelivery(reason=found.reason, rule=found.rule, message_id=found.message_id)
