"""The simulator as a whole: what a seed decides, what a crash does, and what comes out."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from ov_es_adapters.daemon.watcher import Watcher
from ov_es_adapters.simulation.crash_everywhere import crash_everywhere
from ov_es_adapters.simulation.result import result
from ov_es_adapters.simulation.scenario import Scenario, parse_scenario
from ov_es_adapters.simulation.simulator import Disturbance, simulate

ADA = {"id": 7, "identifier": "ada", "name": "Ada"}


def _message(number: int) -> dict[str, object]:
    content = f"@Ada question {number}?"
    return {"id": number, "channel_id": 10, "parent_id": None, "person": 1, "content": content}


def _mention(at: float, number: int) -> dict[str, object]:
    said = {**_message(number), "sender": {"id": 1, "name": "Maya"}}
    return {
        "at": at,
        "frame": {"type": "agent:mention", "data": {"channel_id": 10, "message": said}},
    }


def _scenario(numbers: tuple[int, ...], *steps: object, **fields: object) -> Scenario:
    return parse_scenario(
        {
            "name": "a story",
            "agent": ADA,
            "team": {
                "people": [{"id": 1, "name": "Maya"}],
                "channels": [{"id": 10, "project_id": 1, "name": "core"}],
                "projects": [{"id": 1, "name": "Core", "channel_id": 10}],
                "messages": [_message(number) for number in numbers],
            },
            "runs": [
                {
                    "source": f"mention:10:{number}",
                    "takes": 4,
                    "does": [{"text": f"Answer {number}."}],
                }
                for number in numbers
            ],
            "steps": list(steps),
            "until": 300,
            **fields,
        }
    )


BUSY = (
    _mention(1, 100),
    _mention(1, 101),
    _mention(1.01, 102),
    {"at": 3, "disconnect": {"for": 5}},
    {"at": 9, "crash": True},
    _mention(20, 103),
)
NUMBERS = (100, 101, 102, 103)


def _told(scenario: Scenario, **disturbance: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", result(simulate(scenario, Disturbance(**disturbance))))


def test_the_same_seed_gives_the_same_result_bit_by_bit() -> None:
    scenario = _scenario(NUMBERS, *BUSY)

    for seed in range(4):
        first, second = (simulate(scenario, Disturbance(seed=seed)) for _ in range(2))
        assert first == second
        assert json.dumps(result(first)) == json.dumps(result(second))


def test_seeds_differ_in_their_times() -> None:
    scenario = _scenario(NUMBERS, *BUSY)

    times = {
        tuple(post["at"] for post in _told(scenario, seed=seed)["posts"]) for seed in range(4)
    }

    assert len(times) == 4


@pytest.mark.slow
def test_a_result_does_not_depend_on_the_interpreters_own_chance(tmp_path: Path) -> None:
    story = Path(__file__).parents[2] / "stories" / "dup_04_replayed_history.json"
    program = (
        "import json, sys; from pathlib import Path;"
        "from ov_es_adapters.simulation.simulator import simulate, Disturbance;"
        "from ov_es_adapters.simulation.scenario import read_scenario;"
        "from ov_es_adapters.simulation.result import result;"
        f"story = read_scenario(Path({str(story)!r}));"
        "print(result(simulate(story, Disturbance(seed=3))))"
    )

    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            cwd=tmp_path,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(printed) == 1


def test_a_message_is_not_there_before_its_first_frame() -> None:
    told = _told(_scenario((100,), _mention(50, 100)))

    assert [signal["at"] for signal in told["signals"]] == [50.0]


def test_a_message_without_a_frame_is_found_by_reconciliation() -> None:
    told = _told(_scenario((100,)))

    assert [post["content"] for post in told["posts"]] == ["Answer 100."]


def test_a_process_that_crashed_is_back_after_a_second() -> None:
    told = _told(_scenario((100,), _mention(1, 100), {"at": 3, "crash": True}))

    first, second = told["runs"]
    assert (first["outcome"], first["ended"]) == ("interrupted", 4.0)
    assert second["outcome"] == "succeeded"
    assert len(told["posts"]) == 1


def test_a_restart_step_says_when_a_crashed_process_comes_back() -> None:
    steps = (_mention(1, 100), {"at": 3, "crash": True}, {"at": 60, "restart": True})

    told = _told(_scenario((100,), *steps))

    assert told["runs"][0]["ended"] == 60.0


def test_a_stopped_process_stays_away() -> None:
    steps = (_mention(1, 100), {"at": 3, "stop": True}, _mention(20, 101))

    told = _told(_scenario((100, 101), *steps))

    assert told["posts"] == []
    assert [signal["at"] for signal in told["signals"]] == [1.0]
    assert told["left"]["processes"] == 0
    assert told["violations"] == []


def test_a_refused_credential_ends_the_daemon_and_is_no_violation() -> None:
    fault = {"tool": "list_agents", "call": "all", "kind": "http", "status": 401}

    told = _told(_scenario((100,), _mention(1, 100), faults=[fault]))

    assert told["violations"] == []


def test_a_wall_clock_that_jumps_leaves_the_times_of_the_result_alone() -> None:
    steps = ({"at": 1, "clock": {"jump": 86_400}}, _mention(2, 100))

    told = _told(_scenario((100,), *steps))

    assert told["signals"][0]["at"] == 2.0
    assert told["runs"][0]["started"] == 2.0
    assert told["posts"][0]["at"] == pytest.approx(6.1, abs=0.01)


def test_crashes_everywhere_find_nothing_in_a_sound_daemon() -> None:
    progress: list[tuple[int, int]] = []

    report = crash_everywhere(
        _scenario((100, 101), _mention(1, 100), _mention(1, 101)),
        progress=lambda done, total: progress.append((done, total)),
    )

    assert report.found == ()
    assert progress[-1] == (report.commits, report.commits)
    assert report.commits > 10


def test_crashes_everywhere_find_a_daemon_that_forgets_to_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def see_nothing(*_: object, **__: object) -> None:
        return None

    monkeypatch.setattr("ov_es_adapters.daemon.exit_checks.find_rendered", see_nothing)

    report = crash_everywhere(_scenario((100,), _mention(1, 100)), also_before=True)

    assert {crash.violation.rule for crash in report.found} >= {"posted-twice"}


def test_a_daemon_with_a_defect_shows_as_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_: Watcher) -> None:
        raise KeyError("a defect")

    monkeypatch.setattr(Watcher, "run", fail)

    told = _told(_scenario((100,), _mention(1, 100)))

    assert [violation["rule"] for violation in told["violations"]] == ["daemon-died"]
