"""A defect of ours in one turn ends that turn with a word to people, and the queue goes on."""

from pathlib import Path

import pytest

from ov_es_adapters.ports import RunRequest
from ov_es_adapters.simulation.result import result
from ov_es_adapters.simulation.runtimes import SimulatedRuntime
from ov_es_adapters.simulation.scenario import read_scenario
from ov_es_adapters.simulation.simulator import simulate

STORY = Path(__file__).parents[2] / "stories" / "two_threads.json"


def test_q_109_the_queue_goes_on_when_one_entry_fails_by_a_defect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = read_scenario(STORY)
    start = SimulatedRuntime.start
    struck: list[str] = []

    async def start_or_fail(self: SimulatedRuntime, request: RunRequest) -> object:
        if not struck:
            struck.append(request.source)
            raise KeyError("a defect")
        return await start(self, request)

    monkeypatch.setattr(SimulatedRuntime, "start", start_or_fail)

    told = result(simulate(scenario), scenario.expect)

    posts = told["posts"]
    assert isinstance(posts, list)
    assert ["something on my side failed" in post["content"] for post in posts].count(True) == 1
    assert len(posts) == 2
    assert told["left"] == {"queued": 0, "running": 0, "processes": 0}
    assert told["violations"] == []
