"""Every ticket that was ever ours, and where it stands: reconciliation and `status` read it."""

from collections.abc import Iterable

from ov_es_domain.recorded import Recorded
from ov_es_domain.ticket import events as e
from ov_es_domain.ticket.machine import TicketState
from ov_es_projections.projection import ColumnType, Projection, Put, RowChange, Table, Value

TICKETS_TABLE = Table(
    name="tickets",
    columns={
        "key": ColumnType.TEXT,
        "state": ColumnType.TEXT,
        "slug": ColumnType.TEXT,
        "title": ColumnType.TEXT,
        "revision": ColumnType.TEXT,
        "turn": ColumnType.TEXT,
        "reason": ColumnType.TEXT,
        "since": ColumnType.REAL,
    },
    key=("key",),
    indexes=(("state",),),
)


def _apply(event: Recorded) -> Iterable[RowChange]:
    def put(state: TicketState, **values: Value) -> list[RowChange]:
        row: dict[str, Value] = {"key": event.key, "state": state.value, "since": event.at}
        return [Put("tickets", {**row, **values})]

    match event.body:
        case e.TicketSeen() as body:
            return put(
                TicketState.SEEN,
                slug=body.slug,
                title=body.title,
                revision=body.revision,
                reason=body.reason,
                turn=None,
            )
        case e.TicketQueued(turn=turn):
            return put(TicketState.QUEUED, turn=turn)
        case e.TicketStarted(turn=turn):
            return put(TicketState.WORKING, turn=turn)
        case e.TicketRequeued(turn=turn, reason=reason):
            return put(TicketState.QUEUED, turn=turn, reason=reason)
        case e.TicketReported(revision=revision):
            return put(TicketState.REPORTED, revision=revision, turn=None)
        case e.TicketBlocked(reason=reason):
            return put(TicketState.BLOCKED, reason=reason, turn=None)
        case e.TicketPaused(reason=reason):
            return put(TicketState.PAUSED, reason=reason, turn=None)
        case e.TicketRevisionNoted(revision=revision):
            return [Put("tickets", {"key": event.key, "revision": revision})]
        case e.TicketReleased(reason=reason):
            return put(TicketState.RELEASED, reason=reason, turn=None)
        case e.TicketHandedOver(to=to):
            return put(TicketState.HANDED_OVER, reason=to, turn=None)
        case _:
            return ()


KNOWN_TICKETS = Projection(name="known_tickets", version=1, tables=(TICKETS_TABLE,), apply=_apply)
