"""Every promised message, and what became of it: the keys that are out, and those that wait.

Inline: the delivery pump reads what is due, and which messages prove which deliveries.
"""

from collections.abc import Iterable

from ov_es_domain.delivery import events as e
from ov_es_domain.delivery.machine import DeliveryState
from ov_es_domain.identity import Identifier
from ov_es_domain.recorded import Recorded
from ov_es_projections.projection import ColumnType, Projection, Put, RowChange, Table, Value

DELIVERIES_TABLE = Table(
    name="deliveries",
    columns={
        "key": ColumnType.TEXT,
        "slot": ColumnType.TEXT,
        "state": ColumnType.TEXT,
        "purpose": ColumnType.TEXT,
        "channel_id": ColumnType.TEXT,
        "parent_id": ColumnType.TEXT,
        "source": ColumnType.TEXT,
        "turn": ColumnType.TEXT,
        "ticket": ColumnType.TEXT,
        "thread": ColumnType.TEXT,
        "due": ColumnType.REAL,
        "since": ColumnType.REAL,
        "attempts": ColumnType.INTEGER,
        "attempted_at": ColumnType.REAL,
        "reason": ColumnType.TEXT,
        "message_id": ColumnType.TEXT,
        "place": ColumnType.INTEGER,
    },
    key=("key",),
    indexes=(
        ("state",),
        ("channel_id", "parent_id"),
        ("thread", "message_id"),
        ("message_id",),
        ("source",),
    ),
)


def as_text(value: Identifier | None) -> str | None:
    """Return an id as the tables have it: ids are compared as text (TK-6)."""
    return None if value is None else str(value)


def _apply(event: Recorded) -> Iterable[RowChange]:
    def put(state: DeliveryState, **values: Value) -> list[RowChange]:
        return [Put("deliveries", {"key": event.key, "state": state.value, **values})]

    match event.body:
        case e.DeliveryOwed() as body:
            return put(
                DeliveryState.OWED,
                slot=body.slot,
                purpose=body.purpose.value,
                channel_id=as_text(body.target.channel_id),
                parent_id=as_text(body.target.parent_id),
                source=body.source,
                ticket=body.ticket,
                thread=body.target.thread,
                since=event.at,
                attempts=0,
                reason="",
                place=event.position,
            )
        case e.DeliveryPlanned() as body:
            return put(
                DeliveryState.PLANNED,
                slot=body.slot,
                purpose=body.purpose.value,
                channel_id=as_text(body.target.channel_id),
                parent_id=as_text(body.target.parent_id),
                source=body.source,
                turn=body.turn,
                ticket=body.ticket,
                thread=body.thread,
                due=0.0,
                since=event.at,
                attempts=0,
                reason="",
                place=event.position,
            )
        case e.DeliveryDeferred(reason=reason, until=until):
            return put(DeliveryState.PLANNED, reason=reason, due=until)
        case e.DeliveryAttempted(attempt=attempt):
            return put(DeliveryState.ATTEMPTING, attempts=attempt, attempted_at=event.at)
        case e.DeliveryDelivered(message_id=message_id, proof=proof):
            return put(DeliveryState.DELIVERED, message_id=as_text(message_id), reason=proof)
        case e.DeliveryRefused(reason=reason, until=until):
            return put(DeliveryState.PLANNED, reason=reason, due=until)
        case e.DeliveryLeftUnknown(reason=reason, look_at=look_at):
            return put(DeliveryState.UNKNOWN, reason=reason, due=look_at)
        case e.DeliveryLooked(reason=reason, look_at=look_at):
            return put(DeliveryState.UNKNOWN, reason=reason, due=look_at)
        case e.DeliveryReplanned(reason=reason, until=until):
            return put(DeliveryState.PLANNED, reason=reason, due=until)
        case e.DeliverySuppressed(reason=reason, message_id=message_id):
            return put(DeliveryState.SUPPRESSED, reason=reason, message_id=as_text(message_id))
        case e.DeliveryAbandoned(reason=reason):
            return put(DeliveryState.ABANDONED, reason=reason)
        case _:
            return ()


DELIVERED_KEYS = Projection(
    name="delivered_keys", version=2, tables=(DELIVERIES_TABLE,), apply=_apply
)
