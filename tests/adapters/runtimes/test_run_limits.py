"""When a run has to be ended, on a clock of our own."""

from ov_es_adapters.runtimes.run_limits import Limits, Verdict, Watchdog
from ov_es_domain.observation import RunEnding

LIMITS = Limits(time_limit=600, stall=180, exit_grace=10)


def look(
    dog: Watchdog,
    now: float,
    *,
    finished_at: float | None = None,
    last_output_at: float = 0,
    cpu: float = 0,
) -> Verdict | None:
    return dog.look(
        finished_at=finished_at,
        last_output_at=last_output_at,
        now=now,
        cpu_seconds=lambda: cpu,
    )


def ending(verdict: Verdict | None) -> RunEnding | None:
    return verdict.ending if verdict else None


def test_rn_6_a_run_is_timed_out_at_its_limit_and_not_before() -> None:
    dog = Watchdog(LIMITS, started_at=0)

    assert look(dog, 599.9, last_output_at=599) is None
    assert ending(look(dog, 600, last_output_at=599)) is RunEnding.TIMED_OUT


def test_prc_09_silence_without_work_is_a_stall() -> None:
    dog = Watchdog(LIMITS, started_at=0)

    assert dog.look_at(finished_at=None, last_output_at=50) == 140
    assert look(dog, 140, last_output_at=50, cpu=100) is None
    assert dog.look_at(finished_at=None, last_output_at=50) == 230
    assert look(dog, 229, last_output_at=50, cpu=100) is None
    assert ending(look(dog, 230, last_output_at=50, cpu=101)) is RunEnding.STALLED


def test_a_run_that_computes_in_silence_gets_the_same_time_again() -> None:
    dog = Watchdog(LIMITS, started_at=0)

    assert look(dog, 140, last_output_at=50, cpu=10) is None
    busy = look(dog, 230, last_output_at=50, cpu=90)

    assert busy is None
    assert dog.look_at(finished_at=None, last_output_at=50) == 320
    assert look(dog, 320, last_output_at=50, cpu=170) is None
    assert ending(look(dog, 410, last_output_at=50, cpu=171)) is RunEnding.STALLED


def test_any_output_begins_the_silence_anew() -> None:
    dog = Watchdog(LIMITS, started_at=0)
    assert look(dog, 90) is None

    assert dog.look_at(finished_at=None, last_output_at=150) == 240
    assert look(dog, 180, last_output_at=150) is None
    assert look(dog, 240, last_output_at=150) is None
    assert ending(look(dog, 330, last_output_at=150)) is RunEnding.STALLED


def test_a_machine_that_slept_is_measured_before_it_is_judged() -> None:
    dog = Watchdog(LIMITS, started_at=0)

    late = look(dog, 500, last_output_at=50, cpu=10)

    assert late is None
    assert dog.look_at(finished_at=None, last_output_at=50) == 590


def test_a_run_without_a_stall_limit_may_be_silent() -> None:
    dog = Watchdog(Limits(time_limit=600, stall=None), started_at=0)

    assert dog.look_at(finished_at=None, last_output_at=0) == 600
    assert look(dog, 599) is None


def test_rn_13_after_the_final_event_only_the_exit_is_owed() -> None:
    dog = Watchdog(LIMITS, started_at=0)

    assert dog.look_at(finished_at=595, last_output_at=595) == 605
    assert look(dog, 601, finished_at=595, last_output_at=595) is None
    verdict = look(dog, 605, finished_at=595, last_output_at=595)

    assert ending(verdict) is RunEnding.EXITED
    assert verdict is not None
    assert "did not exit within 10 s" in verdict.because
