"""Who watches for whom, and whether the team can be heard: one row for each agent.

Tracked: only reports read it.
"""

from collections.abc import Iterable

from ov_es_domain.recorded import Recorded
from ov_es_domain.watch import events as e
from ov_es_domain.watch.machine import WatchState
from ov_es_projections.delivered_keys import as_text
from ov_es_projections.projection import ColumnType, Projection, Put, RowChange, Table, Value

WATCHES_TABLE = Table(
    name="watches",
    columns={
        "key": ColumnType.TEXT,
        "agent": ColumnType.TEXT,
        "agent_id": ColumnType.TEXT,
        "state": ColumnType.TEXT,
        "host": ColumnType.TEXT,
        "pid": ColumnType.INTEGER,
        "program": ColumnType.TEXT,
        "epoch": ColumnType.INTEGER,
        "held_since": ColumnType.REAL,
        "connected": ColumnType.INTEGER,
        "link_since": ColumnType.REAL,
        "reason": ColumnType.TEXT,
        "reconciled_at": ColumnType.REAL,
        "problem": ColumnType.TEXT,
        "clock_offset": ColumnType.REAL,
    },
    key=("key",),
)


def _apply(event: Recorded) -> Iterable[RowChange]:
    def put(**values: Value) -> list[RowChange]:
        return [Put("watches", {"key": event.key, **values})]

    match event.body:
        case e.WatchBegun() as body:
            return put(
                agent=body.agent,
                state=WatchState.HELD.value,
                host=body.host,
                pid=body.pid,
                program=body.program,
                epoch=body.epoch,
                held_since=event.at,
                connected=0,
                link_since=event.at,
                reason="",
            )
        case e.WatchEnded(reason=reason):
            return put(
                state=WatchState.IDLE.value,
                held_since=event.at,
                connected=0,
                link_since=event.at,
                reason=reason,
            )
        case e.WatchConnected():
            return put(connected=1, link_since=event.at, reason="")
        case e.WatchDisconnected(reason=reason):
            return put(connected=0, link_since=event.at, reason=reason)
        case e.WatchAgentNoted(agent_id=agent_id):
            return put(agent_id=as_text(agent_id))
        case e.WatchClockNoted(offset_seconds=offset):
            return put(clock_offset=offset)
        case e.WatchReconciled(problem=problem):
            return put(reconciled_at=event.at, problem=problem)
        case _:
            return ()


KNOWN_WATCHES = Projection(name="known_watches", version=2, tables=(WATCHES_TABLE,), apply=_apply)
