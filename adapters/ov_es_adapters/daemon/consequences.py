"""What a decision about one aggregate means for the others: steps that several flows share."""

from dataclasses import replace

from ov_es_adapters.daemon.ledger import Step, View
from ov_es_domain.delivery.commands import AbandonDelivery, PlanDelivery
from ov_es_domain.delivery.machine import OPEN_STATES
from ov_es_domain.delivery.target import NOWHERE, Purpose, Target
from ov_es_domain.identity import delivery_key, parse_key, part_slot
from ov_es_domain.policy.splitting import split
from ov_es_domain.ticket.commands import HandOverTicket
from ov_es_domain.turn.commands import CancelTurn, RequestStop
from ov_es_domain.turn.kinds import StopReason
from ov_es_domain.turn.machine import TurnState
from ov_es_projections.projection import Row

_SLOT_CHARACTERS_MAX = 180
"""So many characters of a notice tell it from others in the same place (BL-5)."""


def open_turns_in(view: View, thread: str | None) -> list[Row]:
    """Return the rows of the turns that are open in a thread, both lanes (TH-8)."""
    return [] if thread is None else view.rows("open_turns", thread=thread)


def stop_steps(
    view: View, key: str, reason: StopReason, by: str, because: str | None
) -> list[Step]:
    """Return how an open turn is ended: at once if it waits, by its run's end if it runs."""
    turn = view.turn(key)
    if turn.is_running:
        return [Step(key, RequestStop(reason=reason, by=by), because)]
    if turn.state in {TurnState.QUEUED, TurnState.INTERRUPTED}:
        return [Step(key, CancelTurn(reason=reason, by=by), because)]
    return []


def hand_over_steps(view: View, ticket: str, to: str, *, because: str | None) -> list[Step]:
    """Return what follows when a ticket isn't ours any more (TK-5, TK-6, DL-20)."""
    steps = [Step(ticket, HandOverTicket(to=to), because)]
    for row in view.rows("open_turns", ticket=ticket):
        steps += stop_steps(view, str(row["key"]), StopReason.HANDED_OVER, "the team", ticket)
    for row in view.rows("deliveries", ticket=ticket, state="owed"):
        gone = AbandonDelivery(reason="handed-over", by="the team")
        steps.append(Step(str(row["key"]), gone, ticket))
    return steps


def blocker_steps(  # noqa: PLR0913 - a blocker keeps all of its routing (BL-3 to BL-6)
    view: View,
    target: Target,
    notice: str,
    source: str,
    turn: str | None,
    *,
    at: float,
    after: str,
    note: str | None = None,
) -> list[Step]:
    """Return the promises of a blocker: in its channel, and on its ticket if it has one (BL-7).

    The same one in the same place is said once (BL-5). `note` is what the ticket gets; None: the
    same words.
    """
    parent = "top" if target.parent_id is None else target.parent_id
    ticket = view.turn(turn).ticket if turn is not None else source
    told = PlanDelivery(
        slot=f"blocker:{target.channel_id}:{parent}:{_beginning(notice)}",
        purpose=Purpose.BLOCKER,
        target=target,
        content=notice,
        source=source,
        source_at=at,
        turn=turn,
        ticket=ticket,
        thread=target.thread,
    )
    steps = [Step(delivery_key(told.slot), told, after)]
    if ticket is not None:
        said = notice if note is None else note
        noted = PlanDelivery(
            slot=f"note:{parse_key(ticket).id}:{_beginning(said)}",
            purpose=Purpose.NOTE,
            target=NOWHERE,
            content=said,
            source=source,
            source_at=at,
            turn=turn,
            ticket=ticket,
            thread=None,
        )
        steps.append(Step(delivery_key(noted.slot), noted, after))
    return steps


def _beginning(notice: str) -> str:
    return " ".join(notice.split())[:_SLOT_CHARACTERS_MAX]


def in_parts(plan: PlanDelivery, *, most: int, after: str) -> list[Step]:
    """Return the promise of a message, or of each of its parts where it's too long (OUT-10).

    The parts are in the log with their words, so that a restart goes on with the same split.
    """
    return [
        Step(
            delivery_key(part_slot(plan.slot, number)),
            replace(plan, slot=part_slot(plan.slot, number), content=content, part=number),
            after,
        )
        for number, content in enumerate(split(plan.content, most=most), start=1)
    ]


def has_open_notes(view: View, ticket: str) -> bool:
    """Tell whether a note on a ticket is still to be written: it'll change the ticket."""
    return any(
        row["purpose"] == Purpose.NOTE.value
        for state in OPEN_STATES
        for row in view.rows("deliveries", state=state.value, ticket=ticket)
    )
