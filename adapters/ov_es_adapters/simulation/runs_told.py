"""The runs that a log tells of, with how each of them ended."""

from collections.abc import Iterable
from dataclasses import dataclass

from ov_es_domain.recorded import Recorded
from ov_es_domain.turn import events as e

_ENDS: dict[type, str] = {
    e.TurnSucceeded: "succeeded",
    e.TurnFailed: "failed",
    e.TurnTimedOut: "timed_out",
    e.TurnBlocked: "blocked",
    e.TurnCancelled: "cancelled",
    e.TurnInterrupted: "interrupted",
    e.TurnRetried: "failed",
}


@dataclass(slots=True, kw_only=True)
class ToldRun:
    """One run of a turn, by its events."""

    turn: str
    source: str
    lane: str
    attempt: int
    execution: str
    group: str
    position: int
    """Where the log says that it was about to start."""
    ended_position: int | None = None
    """Where the log says how it ended; None: it doesn't yet."""
    outcome: str = "running"


def told_runs(events: Iterable[Recorded]) -> list[ToldRun]:
    """Return the runs in the order of their starts.

    A first run that was followed by a recovery ended as `recovering`; one that was tried again
    ended as `failed`.
    """
    runs: list[ToldRun] = []
    queued: dict[str, e.TurnQueued] = {}
    open_runs: dict[str, ToldRun] = {}

    def close(event: Recorded, outcome: str) -> str:
        run = open_runs.pop(event.key, None)
        if run is None:
            return ""
        run.ended_position, run.outcome = event.position, outcome
        return run.group

    def begin(event: Recorded, execution: str, attempt: int, group: str) -> None:
        run = ToldRun(
            turn=event.key,
            source=queued[event.key].source,
            lane=queued[event.key].kind.lane.value,
            attempt=attempt,
            execution=execution,
            group=group,
            position=event.position,
        )
        runs.append(run)
        open_runs[event.key] = run

    for event in events:
        match event.body:
            case e.TurnQueued() as body:
                queued[event.key] = body
            case e.TurnStarted(execution=execution, attempt=attempt, group=group):
                begin(event, execution, attempt, group)
            case e.TurnRecovering(execution=execution, attempt=attempt):
                begin(event, execution, attempt, close(event, "recovering"))
            case body if type(body) in _ENDS:
                close(event, _ENDS[type(body)])
            case _:
                pass
    return runs
