"""What a decision about one aggregate means for the others: steps that several flows share."""

from ov_es_adapters.daemon.ledger import Step, View
from ov_es_domain.delivery.commands import AbandonDelivery, PlanDelivery
from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.identity import delivery_key
from ov_es_domain.ticket.commands import HandOverTicket
from ov_es_domain.turn.commands import CancelTurn, RequestStop
from ov_es_domain.turn.kinds import StopReason
from ov_es_domain.turn.machine import TurnState
from ov_es_projections.projection import Row


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


def blocker_step(  # noqa: PLR0913 - a blocker keeps all of its routing (BL-3 to BL-6)
    view: View,
    target: Target,
    notice: str,
    source: str,
    turn: str | None,
    *,
    at: float,
    after: str,
) -> Step:
    """Return the promise of a blocker; the same one in the same place is said once (BL-5)."""
    parent = "top" if target.parent_id is None else target.parent_id
    slot = f"blocker:{target.channel_id}:{parent}:{' '.join(notice.split())[:180]}"
    ticket = view.turn(turn).ticket if turn is not None else source
    plan = PlanDelivery(
        slot=slot,
        purpose=Purpose.BLOCKER,
        target=target,
        content=notice,
        source=source,
        source_at=at,
        turn=turn,
        ticket=ticket,
        thread=target.thread,
    )
    return Step(delivery_key(slot), plan, after)
