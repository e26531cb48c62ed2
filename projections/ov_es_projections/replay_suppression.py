"""The signals that the log has seen before, by their natural source.

Inline: `why` and reconciliation look here first; admission itself reads the source's own stream.
"""

from collections.abc import Iterable

from ov_es_domain.recorded import Recorded
from ov_es_domain.signal import events as e
from ov_es_domain.signal.arrival import Arrival
from ov_es_domain.signal.machine import SignalState
from ov_es_projections.delivered_keys import as_text
from ov_es_projections.projection import ColumnType, Projection, Put, RowChange, Table, Value

SIGNALS_TABLE = Table(
    name="signals",
    columns={
        "source": ColumnType.TEXT,
        "kind": ColumnType.TEXT,
        "channel_id": ColumnType.TEXT,
        "message_id": ColumnType.TEXT,
        "outcome": ColumnType.TEXT,
        "reason": ColumnType.TEXT,
        "accepted": ColumnType.INTEGER,
        "last_at": ColumnType.REAL,
        "last_position": ColumnType.INTEGER,
    },
    key=("source",),
    indexes=(("message_id",),),
)


def _row(event: Recorded, arrival: Arrival, **values: Value) -> list[RowChange]:
    return [
        Put(
            "signals",
            {
                "source": arrival.source,
                "kind": arrival.kind.value,
                "channel_id": as_text(arrival.channel_id),
                "message_id": as_text(arrival.message_id),
                "last_at": event.at,
                "last_position": event.position,
                **values,
            },
        )
    ]


def _apply(event: Recorded) -> Iterable[RowChange]:
    match event.body:
        case e.SignalAccepted(arrival=arrival, reason=reason, generation=generation):
            outcome = SignalState.ACCEPTED.value
            return _row(event, arrival, outcome=outcome, reason=reason, accepted=generation)
        case e.SignalSuppressed(arrival=arrival, reason=reason):
            return _row(event, arrival, outcome=SignalState.SUPPRESSED.value, reason=reason)
        case e.SignalRefused(arrival=arrival, reason=reason):
            return _row(event, arrival, outcome=SignalState.REFUSED.value, reason=reason)
        case _:
            return ()


REPLAY_SUPPRESSION = Projection(
    name="replay_suppression", version=1, tables=(SIGNALS_TABLE,), apply=_apply
)
