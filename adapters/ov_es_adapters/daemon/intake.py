"""Gives every arrival its one outcome, from the socket and from reconciliation alike."""

from collections.abc import Callable, Collection
from logging import getLogger

from ov_es_adapters.daemon.consequences import open_turns_in, stop_steps
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.daemon.ticket_intake import TicketIntake
from ov_es_adapters.errors import ToolCallError
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.ports import Worktrees
from ov_es_domain.delivery.commands import PlanDelivery
from ov_es_domain.delivery.machine import DeliveryState
from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.identity import (
    Identifier,
    delivery_key,
    mention_source,
    reply_slot,
    signal_key,
    turn_key,
)
from ov_es_domain.lifecycle import handle
from ov_es_domain.policy import wording
from ov_es_domain.policy.addressing import Audience, address, is_talk_among_others
from ov_es_domain.policy.admission import (
    Admitted,
    MentionOutcome,
    Ourselves,
    Redirects,
    Refused,
    StandsDown,
    Suppressed,
    admit_mention,
)
from ov_es_domain.policy.lanes import SHARED_GROUP, kind_of_mention
from ov_es_domain.policy.team_facts import RenderedMessage
from ov_es_domain.policy.vocabulary import Vocabulary
from ov_es_domain.signal.arrival import Arrival, ArrivalKind
from ov_es_domain.signal.commands import AcceptSignal, RefuseSignal, SuppressSignal
from ov_es_domain.thread.aggregate import THREAD, Thread
from ov_es_domain.thread.commands import (
    HearThread,
    NoteThreadTurn,
    PauseThread,
    RedirectThread,
    StandThreadDown,
    WakeThread,
)
from ov_es_domain.turn.commands import QueueTurn
from ov_es_domain.turn.kinds import StopReason, TurnKind

_LOGGER = getLogger("ov_es.intake")
_FOR_OTHERS = {"explicit-other-recipient", "talk-among-others"}


class Intake:
    """Admits arrivals: one commit holds the outcome and all that follows from it."""

    def __init__(  # noqa: PLR0913 - the parts that an admission asks
        self,
        ledger: Ledger,
        team: TeamClient,
        worktrees: Worktrees,
        settings: WatchSettings,
        vocabulary: Vocabulary,
        authorized_roots: Callable[[], Collection[str]],
    ) -> None:
        """`authorized_roots` tells which repositories a person has authorized for pushing."""
        self._ledger = ledger
        self._team = team
        self._settings = settings
        self._vocabulary = vocabulary
        self.authorized_roots = authorized_roots
        self._tickets = TicketIntake(
            ledger,
            team,
            worktrees,
            settings,
            vocabulary,
            ourselves=lambda: self.ourselves,
            authorized_roots=authorized_roots,
        )

    @property
    def ourselves(self) -> Ourselves:
        """Who we are, with the numeric id as soon as the log has it."""
        agent = self._settings.agent
        known = self._ledger.view.watch(agent.identifier).agent_id
        return Ourselves(
            aliases=agent.aliases,
            identifier=agent.identifier,
            id=agent.id if known is None else known,
        )

    async def take(self, arrival: Arrival) -> None:
        """Record the outcome of an arrival, and the turn that it leads to."""
        is_ticket = arrival.kind not in {ArrivalKind.MENTION, ArrivalKind.UNKNOWN}
        if is_ticket and not arrival.problem:
            await self._tickets.take(arrival)
            return
        overheard = await self._overhear(arrival)
        await self._ledger.commit(lambda view: self._decide_mention(view, arrival, overheard))

    # --- mentions, and what can't be read ------------------------------------------------------

    async def _overhear(self, arrival: Arrival) -> HearThread | None:
        """Return what was said in a thread without reaching us, where the outcome rests on it.

        Most of what people say never comes as a frame. Before an agent's turn too many is refused
        a person's word is looked for (LUP-02), and before a message that names nobody is taken
        for ours, whose talk it goes on with (ADR-06).
        """
        thread = self._ledger.view.thread(arrival.thread)
        by_agent = arrival.sender is not None and arrival.sender.is_agent
        is_too_many = by_agent and thread.agent_turns >= self._settings.agent_turns_max
        if not is_too_many and (by_agent or not self._names_nobody(arrival)):
            return None
        try:
            said = await self._team.thread(arrival.channel_id, arrival.root_id)
        except ToolCallError as error:
            _LOGGER.warning("%s can't be read: %s", arrival.thread, error.reason)
            return None
        if is_too_many:
            return _person_since(said, thread, arrival.channel_id)
        before = _before(said, arrival.message_id)
        ourselves = self.ourselves
        is_others = is_talk_among_others(
            before,
            aliases=ourselves.aliases,
            own_id=ourselves.id,
            identifier=ourselves.identifier,
        )
        if not before or is_others == thread.is_among_others:
            return None
        source = mention_source(arrival.channel_id, before[-1].id)
        return HearThread(source=source, by_agent=before[-1].is_agent, for_others=is_others)

    def _names_nobody(self, arrival: Arrival) -> bool:
        """Tell whether it's a readable answer in a thread that names nobody, and new to us."""
        is_answer = arrival.parent_id is not None and arrival.thread is not None
        if arrival.problem or not is_answer:
            return False
        if self._ledger.view.signal(signal_key(arrival.source)).is_addressed:
            return False
        said = arrival.text if arrival.said is None else arrival.said
        ourselves = self.ourselves
        found = address(
            said, aliases=ourselves.aliases, own_id=ourselves.id, mentions=arrival.mentions
        )
        return found.audience is Audience.NOBODY

    def _decide_mention(
        self, view: View, arrival: Arrival, overheard: HearThread | None
    ) -> Decision:
        key = signal_key(arrival.source)
        steps: list[Step] = []
        thread = view.thread(arrival.thread)
        if overheard is not None and arrival.thread is not None:
            steps.append(Step(arrival.thread, overheard))
            _, thread = handle(THREAD, thread, overheard)
        outcome = self._admit(view, arrival, key, thread)
        steps += self._outcome_steps(view, arrival, key, outcome, thread)
        return Decision(
            steps=steps,
            cause=f"{arrival.via.value}:{arrival.wire_kind or arrival.kind.value}",
            correlation=arrival.thread or arrival.source,
        )

    def _admit(self, view: View, arrival: Arrival, key: str, thread: Thread) -> MentionOutcome:
        return admit_mention(
            arrival,
            signal=view.signal(key),
            signal_key=view.reference(key),
            thread=thread,
            has_work_in_thread=bool(open_turns_in(view, arrival.thread)),
            ourselves=self.ourselves,
            vocabulary=self._vocabulary,
            agent_turns_max=self._settings.agent_turns_max,
            is_own_post=_is_own_post(view, arrival),
            signature_seconds=self._settings.signature_seconds,
        )

    def _outcome_steps(
        self, view: View, arrival: Arrival, key: str, outcome: MentionOutcome, thread: Thread
    ) -> list[Step]:
        match outcome:
            case Suppressed(reason=reason, rule=rule, repeats=repeats):
                suppress = SuppressSignal(
                    arrival=arrival, reason=reason, repeats=repeats, rule=rule
                )
                return [Step(key, suppress)]
            case Refused(reason=reason, rule=rule):
                refuse = RefuseSignal(arrival=arrival, reason=reason, rule=rule)
                further = _heard_steps(arrival, key, reason)
                is_news = not thread.is_paused and not thread.is_cancelled
                if rule == "LUP-02" and is_news:
                    further = _pause_steps(arrival, key)
                return [Step(key, refuse), *further]
            case StandsDown(reason=reason, rule=rule):
                accept = AcceptSignal(arrival=arrival, reason=reason, rule=rule)
                return [Step(key, accept), *self._cancel_thread(view, arrival, key)]
            case Redirects(reason=reason, rule=rule):
                refuse = RefuseSignal(arrival=arrival, reason=reason, rule=rule)
                return [Step(key, refuse), *self._cancel_thread(view, arrival, key, away=True)]
            case Admitted(reason=reason, rule=rule):
                accept = AcceptSignal(arrival=arrival, reason=reason, rule=rule)
                return [Step(key, accept), *self._queue_mention(view, arrival, key)]

    def _cancel_thread(
        self, view: View, arrival: Arrival, because: str, *, away: bool = False
    ) -> list[Step]:
        """Cancel what waits and what runs for exactly this thread, in both lanes (TH-8)."""
        if arrival.thread is None:
            return []
        by = arrival.sender.name if arrival.sender else ""
        change = RedirectThread if away else StandThreadDown
        steps = [
            Step(arrival.thread, change(by=by, source=arrival.source, at=arrival.at), because)
        ]
        for row in open_turns_in(view, arrival.thread):
            steps += stop_steps(
                view, str(row["key"]), StopReason.THREAD_CANCELLED, by, arrival.thread
            )
        return steps

    def _queue_mention(self, view: View, arrival: Arrival, because: str) -> list[Step]:
        generation = view.signal(because).generation + 1
        by_agent = arrival.sender is not None and arrival.sender.is_agent
        kind = kind_of_mention(
            arrival.text,
            has_workspace=self._settings.has_workspace,
            vocabulary=self._vocabulary,
        )
        steps: list[Step] = []
        if arrival.thread is not None:
            if view.thread(arrival.thread).is_cancelled:
                steps.append(Step(arrival.thread, WakeThread(source=arrival.source), because))
            noted = NoteThreadTurn(source=arrival.source, by_agent=by_agent)
            steps.append(Step(arrival.thread, noted, because))
        message_id: Identifier | None = arrival.message_id
        if message_id is None:
            # The same words, much later, are another message: they get an answer of their own.
            message_id = arrival.digest + (f"-{generation}" if generation > 1 else "")
        queue = QueueTurn(
            source=arrival.source,
            generation=generation,
            kind=kind,
            group=SHARED_GROUP if kind is TurnKind.FULL else "",
            ticket=None,
            thread=arrival.thread,
            target=Target(channel_id=arrival.channel_id, parent_id=arrival.root_id),
            slot=reply_slot(arrival.channel_id, message_id),
            title="",
            text=arrival.text,
            sender=arrival.sender.name if arrival.sender else "",
            by_agent=by_agent,
            accepted_at=arrival.at,
        )
        steps.append(Step(turn_key(arrival.source, generation), queue, because))
        return steps


def _before(said: list[RenderedMessage], message_id: Identifier | None) -> list[RenderedMessage]:
    """Return the messages before one; all of them where it isn't there (yet)."""
    places = [n for n, message in enumerate(said) if str(message.id) == str(message_id)]
    return said[: places[0]] if places else said


def _person_since(
    said: list[RenderedMessage], thread: Thread, channel_id: Identifier | None
) -> HearThread | None:
    """Return the last person's word behind the message that our last turn answered."""
    last = (thread.last_turn or "").rpartition(":")[2]
    places = [n for n, message in enumerate(said) if str(message.id) == last]
    people = [m.id for m in said[places[-1] + 1 :] if not m.is_agent] if places else []
    if not people:
        return None
    source = mention_source(channel_id, people[-1])
    return HearThread(source=source, by_agent=False, for_others=thread.is_among_others)


def _is_own_post(view: View, arrival: Arrival) -> bool:
    """Tell whether a message is one that we posted, whoever it's shown as (LUP-01)."""
    if arrival.message_id is None:
        return False
    rows = view.rows("deliveries", message_id=str(arrival.message_id))
    return any(
        row["state"] == DeliveryState.DELIVERED.value
        and row["channel_id"] == str(arrival.channel_id)
        for row in rows
    )


def _heard_steps(arrival: Arrival, because: str, reason: str) -> list[Step]:
    """Keep what was said among others: what answers it isn't for us either."""
    is_said = arrival.is_mention and not arrival.problem and reason != "own-message"
    if arrival.thread is None or not is_said:
        return []
    by_agent = arrival.sender is not None and arrival.sender.is_agent
    heard = HearThread(source=arrival.source, by_agent=by_agent, for_others=reason in _FOR_OTHERS)
    return [Step(arrival.thread, heard, because)]


def _pause_steps(arrival: Arrival, because: str) -> list[Step]:
    """Tell people once that agents aren't answered any more, and then be silent (LUP-02)."""
    if arrival.thread is None:
        return []
    notice = PlanDelivery(
        slot=f"pause:{arrival.channel_id}:{arrival.root_id}:{arrival.message_id}",
        purpose=Purpose.BLOCKER,
        target=Target(channel_id=arrival.channel_id, parent_id=arrival.root_id),
        content=wording.loop_notice(),
        source=arrival.source,
        source_at=arrival.at,
        turn=None,
        ticket=None,
        thread=arrival.thread,
    )
    return [
        Step(arrival.thread, PauseThread(source=arrival.source), because),
        Step(delivery_key(notice.slot), notice, arrival.thread),
    ]
