"""A turn: fencing, stops, recoveries and retries, as decisions and events."""

from collections.abc import Sequence

import pytest

from ov_es_domain.errors import IllegalTransitionError
from ov_es_domain.lifecycle import Command, Event, fold, handle
from ov_es_domain.observation import RunEnding, RunReport, StreamObservation, StreamOutcome
from ov_es_domain.turn import commands as c
from ov_es_domain.turn import events as e
from ov_es_domain.turn.aggregate import TURN
from ov_es_domain.turn.kinds import Lane, StopReason, TurnKind, Verdict

REPORT = RunReport(
    ending=RunEnding.EXITED,
    exit_status=0,
    stream=StreamObservation(outcome=StreamOutcome.OK, text="It's in review."),
)
QUEUED = e.TurnQueued(
    source="mention:10:100",
    generation=1,
    kind=TurnKind.FAST,
    group="",
    ticket=None,
    thread="thread:10:100",
    target=None,
    slot="reply:10:100",
    title="",
    text="what's the status?",
    sender="Maya",
    by_agent=False,
    accepted_at=1.0,
)


def _started(execution: str = "run-1", attempt: int = 1) -> e.TurnStarted:
    return e.TurnStarted(
        execution=execution,
        attempt=attempt,
        epoch=1,
        runtime="scripted",
        model=None,
        directory=None,
        group="",
    )


def _settle(execution: str, attempt: int, verdict: Verdict = Verdict.SUCCEEDED) -> c.SettleTurn:
    return c.SettleTurn(
        execution=execution,
        attempt=attempt,
        verdict=verdict,
        reason="run-error" if verdict is Verdict.FAILED else "",
        report=REPORT,
        missing=(),
    )


def _when(given: Sequence[Event], command: Command) -> list[Event]:
    return handle(TURN, fold(TURN, given), command)[0]


def test_a_result_of_the_run_that_holds_the_turn_settles_it() -> None:
    happened = _when([QUEUED, _started()], _settle("run-1", 1))

    assert happened == [e.TurnSucceeded(execution="run-1", attempt=1, report=REPORT)]


@pytest.mark.parametrize(("execution", "attempt"), [("run-0", 1), ("run-1", 2), ("run-1", 0)])
def test_a_result_of_any_other_run_is_refused_on_the_record(execution: str, attempt: int) -> None:
    happened = _when([QUEUED, _started()], _settle(execution, attempt))

    assert happened == [
        e.TurnResultRefused(
            execution=execution, attempt=attempt, expected="run-1", verdict="succeeded"
        )
    ]


def test_evt_04_a_second_end_of_the_same_run_changes_nothing() -> None:
    ended = [QUEUED, _started(), e.TurnTimedOut(report=REPORT)]

    happened = _when(ended, _settle("run-1", 1))

    assert [type(event) for event in happened] == [e.TurnResultRefused]
    assert fold(TURN, [*ended, *happened]).state == "timed_out"


@pytest.mark.parametrize("verdict", list(Verdict))
def test_rn_6_whoever_stopped_a_run_decides_how_it_ended(verdict: Verdict) -> None:
    stopped = e.TurnStopRequested(reason=StopReason.THREAD_CANCELLED, by="Maya")

    happened = _when([QUEUED, _started(), stopped], _settle("run-1", 1, verdict))

    assert happened == [
        e.TurnCancelled(reason=StopReason.THREAD_CANCELLED, by="Maya", report=REPORT)
    ]


def test_pr_7_a_turn_that_our_own_stop_cut_short_runs_again() -> None:
    stopped = e.TurnStopRequested(reason=StopReason.SHUTDOWN, by="stop")
    interrupted = _when([QUEUED, _started(), stopped], _settle("run-1", 1, Verdict.FAILED))
    given = [QUEUED, _started(), stopped, *interrupted]

    happened = _when(given, c.RequeueTurn(reason="shutdown", not_before=0.0))

    assert happened == [e.TurnRequeued(reason="shutdown", not_before=0.0)]
    assert fold(TURN, [*given, *happened, _started("run-2", 2)]).attempt == 2


def test_evt_16_crashes_are_counted_in_the_log() -> None:
    crash = e.TurnInterrupted(reason=StopReason.CRASH, report=None)
    again = e.TurnRequeued(reason="crash", not_before=0.0)

    turn = fold(TURN, [QUEUED, _started(), crash, again, _started("run-2", 2), crash])

    assert turn.crashes == 2
    assert turn.execution == ""


def test_q_105_queueing_the_same_turn_again_records_nothing() -> None:
    queue = c.QueueTurn(
        source="mention:10:100",
        generation=1,
        kind=TurnKind.FAST,
        group="",
        ticket=None,
        thread="thread:10:100",
        target=None,
        slot="reply:10:100",
        title="",
        text="what's the status?",
        sender="Maya",
        by_agent=False,
        accepted_at=1.0,
    )

    assert _when([], queue) == [QUEUED]
    assert _when([QUEUED], queue) == []


def test_a_turn_that_runs_cannot_be_started_again() -> None:
    start = c.StartTurn(
        execution="run-2", epoch=1, runtime="scripted", model=None, directory=None, group=""
    )

    with pytest.raises(IllegalTransitionError, match="cannot start while running"):
        _when([QUEUED, _started()], start)


def test_cy_15_a_recovery_has_an_execution_of_its_own() -> None:
    recover = c.RecoverTurn(
        execution="run-1",
        attempt=1,
        report=REPORT,
        missing=("a change in the repository",),
        next_execution="run-2",
    )

    recovering = _when([QUEUED, _started()], recover)
    late = _when([QUEUED, _started(), *recovering], _settle("run-1", 1))
    done = _when([QUEUED, _started(), *recovering], _settle("run-2", 2))

    assert [type(event) for event in recovering] == [e.TurnRecovering]
    assert [type(event) for event in late] == [e.TurnResultRefused]
    assert [type(event) for event in done] == [e.TurnSucceeded]


@pytest.mark.parametrize("kind", list(TurnKind))
def test_q_102_the_lane_follows_from_the_kind(kind: TurnKind) -> None:
    assert kind.lane is (Lane.WORK if kind is TurnKind.FULL else Lane.REPLY)
