"""The turns that are still to come to something: both queues, and what runs.

One row for each open turn, in both lanes; a settled turn's row goes away, so the table stays
as small as the day's work. Inline: the dispatcher reads it.
"""

from collections.abc import Iterable

from ov_es_domain.recorded import Recorded
from ov_es_domain.turn import events as e
from ov_es_domain.turn.machine import TurnState
from ov_es_projections.projection import (
    ColumnType,
    Projection,
    Put,
    Remove,
    Row,
    RowChange,
    Table,
    Value,
)

OPEN_TURNS_TABLE = Table(
    name="open_turns",
    columns={
        "key": ColumnType.TEXT,
        "source": ColumnType.TEXT,
        "lane": ColumnType.TEXT,
        "kind": ColumnType.TEXT,
        "state": ColumnType.TEXT,
        "turn_group": ColumnType.TEXT,
        "ticket": ColumnType.TEXT,
        "thread": ColumnType.TEXT,
        "title": ColumnType.TEXT,
        "place": ColumnType.INTEGER,
        "queued_at": ColumnType.REAL,
        "started_at": ColumnType.REAL,
        "not_before": ColumnType.REAL,
        "reason": ColumnType.TEXT,
        "execution": ColumnType.TEXT,
        "attempt": ColumnType.INTEGER,
        "epoch": ColumnType.INTEGER,
        "stop": ColumnType.TEXT,
    },
    key=("key",),
)


def _apply(event: Recorded) -> Iterable[RowChange]:
    def put(**values: Value) -> list[RowChange]:
        return [Put("open_turns", {"key": event.key, **values})]

    match event.body:
        case e.TurnQueued() as body:
            return put(
                source=body.source,
                lane=body.kind.lane.value,
                kind=body.kind.value,
                state=TurnState.QUEUED.value,
                turn_group=body.group,
                ticket=body.ticket,
                thread=body.thread,
                title=body.title,
                place=event.position,
                queued_at=event.at,
                not_before=0.0,
                reason="",
                execution="",
                attempt=0,
                epoch=0,
                stop="",
            )
        case e.TurnDeferred(reason=reason, until=until):
            return put(not_before=until, reason=reason)
        case e.TurnStarted() as body:
            return put(
                state=TurnState.RUNNING.value,
                turn_group=body.group,
                execution=body.execution,
                attempt=body.attempt,
                epoch=body.epoch,
                started_at=event.at,
                reason="",
                stop="",
            )
        case e.TurnRecovering() as body:
            return put(
                state=TurnState.RECOVERING.value,
                execution=body.execution,
                attempt=body.attempt,
            )
        case e.TurnStopRequested(reason=reason):
            return put(stop=reason.value)
        case e.TurnInterrupted(reason=reason):
            if not reason.resumes:
                return [Remove("open_turns", {"key": event.key})]
            return put(
                state=TurnState.INTERRUPTED.value, execution="", reason=reason.value, stop=""
            )
        case (
            e.TurnRequeued(reason=reason, not_before=not_before)
            | e.TurnRetried(reason=reason, not_before=not_before)
        ):
            return put(
                state=TurnState.QUEUED.value,
                execution="",
                reason=reason,
                not_before=not_before,
                stop="",
            )
        case (
            e.TurnSucceeded()
            | e.TurnFailed()
            | e.TurnTimedOut()
            | e.TurnBlocked()
            | e.TurnCancelled()
            | e.TurnReleased()
        ):
            return [Remove("open_turns", {"key": event.key})]
        case _:
            return ()


OPEN_TURNS = Projection(name="open_turns", version=1, tables=(OPEN_TURNS_TABLE,), apply=_apply)


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Return the rows in the order of their queueing (Q-103); a requeue keeps its place."""
    return sorted(rows, key=lambda row: int(row["place"] or 0))
