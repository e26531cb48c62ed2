"""The turn: `decide` answers a command, `evolve` folds an event."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from ov_es_domain.delivery.target import Target
from ov_es_domain.lifecycle import Aggregate, Lifecycle
from ov_es_domain.observation import RunReport
from ov_es_domain.turn import commands as c
from ov_es_domain.turn import events as e
from ov_es_domain.turn.kinds import Lane, StopReason, TurnKind, Verdict
from ov_es_domain.turn.machine import OPEN_STATES, TURN_TABLE, TurnState

TurnCommand: TypeAlias = (
    c.QueueTurn
    | c.DeferTurn
    | c.StartTurn
    | c.NoteSpawn
    | c.RecoverTurn
    | c.RequestStop
    | c.SettleTurn
    | c.RetryTurn
    | c.InterruptTurn
    | c.RequeueTurn
    | c.FailTurn
    | c.CancelTurn
    | c.ReleaseTurn
)
TurnEvent: TypeAlias = (
    e.TurnQueued
    | e.TurnDeferred
    | e.TurnStarted
    | e.TurnSpawned
    | e.TurnRecovering
    | e.TurnStopRequested
    | e.TurnRetried
    | e.TurnInterrupted
    | e.TurnRequeued
    | e.TurnSucceeded
    | e.TurnFailed
    | e.TurnTimedOut
    | e.TurnBlocked
    | e.TurnCancelled
    | e.TurnReleased
    | e.TurnResultRefused
)

_RUNNING = frozenset({TurnState.RUNNING, TurnState.RECOVERING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Aggregate):
    """One cycle of work for one source."""

    state: str = TurnState.UNQUEUED
    source: str = ""
    generation: int = 0
    kind: TurnKind = TurnKind.FAST
    group: str = ""
    ticket: str | None = None
    thread: str | None = None
    target: Target | None = None
    slot: str | None = None
    title: str = ""
    text: str = ""
    sender: str = ""
    by_agent: bool = False
    accepted_at: float = 0.0
    execution: str = ""
    """The execution id that holds it; "" for none. Any other id's result is refused."""
    attempt: int = 0
    crashes: int = 0
    """Runs that ended with our own process, without a report."""
    retries: int = 0
    not_before: float = 0.0
    directory: str | None = None
    pid: int | None = None
    pid_started: str = ""
    marker: str = ""
    stop: StopReason | None = None
    stopped_by: str = ""
    missing: tuple[str, ...] = ()
    first_report: RunReport | None = None
    """What the first run showed, while the recovery runs (EV-18)."""
    answer: str = ""
    """The final text of a turn that succeeded."""
    report: RunReport | None = None
    """What a turn that succeeded could show; None: it hasn't, or not yet."""

    @property
    def lane(self) -> Lane:
        """The lane that it waits in."""
        return self.kind.lane

    @property
    def is_running(self) -> bool:
        """Whether a run holds it."""
        return self.state in _RUNNING

    @property
    def is_open(self) -> bool:
        """Whether something of it is still to come."""
        return self.state in OPEN_STATES


def decide(turn: Turn, command: TurnCommand) -> Sequence[TurnEvent]:
    """Return what happens; raise CommandRefusedError where a rule says no."""
    match command:
        case c.QueueTurn():
            return _queue(turn, command)
        case c.DeferTurn(reason=reason, until=until):
            return [e.TurnDeferred(reason=reason, until=until)]
        case c.StartTurn():
            return [
                e.TurnStarted(
                    execution=command.execution,
                    attempt=turn.attempt + 1,
                    epoch=command.epoch,
                    runtime=command.runtime,
                    model=command.model,
                    directory=command.directory,
                    group=command.group,
                )
            ]
        case c.NoteSpawn(execution=execution, pid=pid, started=started, marker=marker):
            if execution != turn.execution:
                return [_refusal(turn, execution, turn.attempt, "spawned")]
            return [e.TurnSpawned(execution=execution, pid=pid, started=started, marker=marker)]
        case c.RecoverTurn():
            return _recover(turn, command)
        case c.RequestStop(reason=reason, by=by):
            return [] if turn.stop is not None else [e.TurnStopRequested(reason=reason, by=by)]
        case c.SettleTurn():
            return _settle(turn, command)
        case c.RetryTurn():
            return _retry(turn, command)
        case c.InterruptTurn(reason=reason):
            return [_end_of(turn.stop or reason, turn.stopped_by or "recovery", None)]
        case c.RequeueTurn(reason=reason, not_before=not_before):
            return [e.TurnRequeued(reason=reason, not_before=not_before)]
        case c.FailTurn(reason=reason):
            return [e.TurnFailed(reason=reason, missing=(), report=None)]
        case c.CancelTurn(reason=reason, by=by):
            is_there = turn.state == TurnState.CANCELLED
            return [] if is_there else [e.TurnCancelled(reason=reason, by=by, report=None)]
        case c.ReleaseTurn(reason=reason):
            return [e.TurnReleased(reason=reason)]
    assert_never(command)


def _queue(turn: Turn, command: c.QueueTurn) -> Sequence[TurnEvent]:
    if turn.state != TurnState.UNQUEUED and turn.source == command.source:
        return []
    return [
        e.TurnQueued(
            source=command.source,
            generation=command.generation,
            kind=command.kind,
            group=command.group,
            ticket=command.ticket,
            thread=command.thread,
            target=command.target,
            slot=command.slot,
            title=command.title,
            text=command.text,
            sender=command.sender,
            by_agent=command.by_agent,
            accepted_at=command.accepted_at,
        )
    ]


def _is_stale(turn: Turn, execution: str, attempt: int) -> bool:
    return not turn.is_running or (execution, attempt) != (turn.execution, turn.attempt)


def _refusal(turn: Turn, execution: str, attempt: int, verdict: str) -> e.TurnResultRefused:
    held_by = turn.execution if turn.is_running else ""
    return e.TurnResultRefused(
        execution=execution, attempt=attempt, expected=held_by, verdict=verdict
    )


def _end_of(stop: StopReason, by: str, report: RunReport | None) -> TurnEvent:
    """Whoever stopped a run decides how it ended, whatever its exit status says (RN-6)."""
    if stop.interrupts:
        return e.TurnInterrupted(reason=stop, report=report)
    return e.TurnCancelled(reason=stop, by=by, report=report)


def _recover(turn: Turn, command: c.RecoverTurn) -> Sequence[TurnEvent]:
    if _is_stale(turn, command.execution, command.attempt):
        return [_refusal(turn, command.execution, command.attempt, "recover")]
    if turn.stop is not None:
        return [_end_of(turn.stop, turn.stopped_by, command.report)]
    return [
        e.TurnRecovering(
            report=command.report,
            missing=command.missing,
            execution=command.next_execution,
            attempt=turn.attempt + 1,
        )
    ]


def _retry(turn: Turn, command: c.RetryTurn) -> Sequence[TurnEvent]:
    if _is_stale(turn, command.execution, command.attempt):
        return [_refusal(turn, command.execution, command.attempt, "retry")]
    if turn.stop is not None:
        return [_end_of(turn.stop, turn.stopped_by, command.report)]
    return [
        e.TurnRetried(report=command.report, reason=command.reason, not_before=command.not_before)
    ]


def _settle(turn: Turn, command: c.SettleTurn) -> Sequence[TurnEvent]:
    if _is_stale(turn, command.execution, command.attempt):
        return [_refusal(turn, command.execution, command.attempt, command.verdict)]
    if turn.stop is not None:
        return [_end_of(turn.stop, turn.stopped_by, command.report)]
    match command.verdict:
        case Verdict.SUCCEEDED:
            return [
                e.TurnSucceeded(
                    execution=command.execution, attempt=command.attempt, report=command.report
                )
            ]
        case Verdict.FAILED:
            return [
                e.TurnFailed(reason=command.reason, missing=command.missing, report=command.report)
            ]
        case Verdict.TIMED_OUT:
            return [e.TurnTimedOut(report=command.report)]
        case Verdict.BLOCKED:
            return [e.TurnBlocked(reason=command.reason, report=command.report)]
    assert_never(command.verdict)


def evolve(turn: Turn, event: TurnEvent) -> Turn:
    """Fold the fields of `event`; the state itself is `lifecycle.step`'s business."""
    match event:
        case e.TurnQueued():
            return replace(
                turn,
                source=event.source,
                generation=event.generation,
                kind=event.kind,
                group=event.group,
                ticket=event.ticket,
                thread=event.thread,
                target=event.target,
                slot=event.slot,
                title=event.title,
                text=event.text,
                sender=event.sender,
                by_agent=event.by_agent,
                accepted_at=event.accepted_at,
            )
        case e.TurnDeferred(until=until):
            return replace(turn, not_before=until)
        case e.TurnStarted():
            return replace(
                turn,
                execution=event.execution,
                attempt=event.attempt,
                directory=event.directory,
                group=event.group,
                pid=None,
                pid_started="",
                marker="",
                stop=None,
                stopped_by="",
            )
        case e.TurnSpawned(pid=pid, started=started, marker=marker):
            return replace(turn, pid=pid, pid_started=started, marker=marker)
        case e.TurnRecovering():
            return replace(
                turn,
                execution=event.execution,
                attempt=event.attempt,
                missing=event.missing,
                first_report=event.report,
                pid=None,
                pid_started="",
                marker="",
            )
        case e.TurnStopRequested(reason=reason, by=by):
            return replace(turn, stop=reason, stopped_by=by)
        case e.TurnRetried(not_before=not_before):
            return replace(
                turn, retries=turn.retries + 1, not_before=not_before, execution="", pid=None
            )
        case e.TurnInterrupted(reason=reason):
            crashed = 1 if reason is StopReason.CRASH else 0
            return replace(
                turn, crashes=turn.crashes + crashed, execution="", pid=None, stop=reason
            )
        case e.TurnRequeued(not_before=not_before):
            return replace(turn, not_before=not_before, stop=None, stopped_by="")
        case e.TurnResultRefused():
            return turn
        case e.TurnSucceeded(report=report):
            return replace(turn, execution="", pid=None, answer=report.stream.text, report=report)
        case (
            e.TurnFailed()
            | e.TurnTimedOut()
            | e.TurnBlocked()
            | e.TurnCancelled()
            | e.TurnReleased()
        ):
            return replace(turn, execution="", pid=None)
    assert_never(event)


TURN = Lifecycle(
    name="turn",
    table=TURN_TABLE,
    initial=Turn(),
    decide=decide,
    evolve=evolve,
    topics=(
        e.TurnQueued.TOPIC,
        e.TurnDeferred.TOPIC,
        e.TurnStarted.TOPIC,
        e.TurnSpawned.TOPIC,
        e.TurnRecovering.TOPIC,
        e.TurnStopRequested.TOPIC,
        e.TurnRetried.TOPIC,
        e.TurnInterrupted.TOPIC,
        e.TurnRequeued.TOPIC,
        e.TurnSucceeded.TOPIC,
        e.TurnFailed.TOPIC,
        e.TurnTimedOut.TOPIC,
        e.TurnBlocked.TOPIC,
        e.TurnCancelled.TOPIC,
        e.TurnReleased.TOPIC,
        e.TurnResultRefused.TOPIC,
    ),
)
