"""Whole days in the simulator: with several seeds, and with a crash at every commit."""

from pathlib import Path

import pytest

from ov_es_adapters.simulation.crash_everywhere import crash_everywhere
from ov_es_adapters.simulation.result import result
from ov_es_adapters.simulation.scenario import read_scenario
from ov_es_adapters.simulation.simulator import Disturbance, simulate

STORIES = sorted(Path(__file__).parent.glob("*.json"))
SEEDS = (0, 1, 2, 3)


def _name(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", STORIES, ids=_name)
def test_a_story_comes_out_as_it_should_with_every_seed(path: Path) -> None:
    scenario = read_scenario(path)

    for seed in SEEDS:
        told = result(simulate(scenario, Disturbance(seed=seed)), scenario.expect)

        assert told["expect"] == {"met": True, "unmet": []}, f"seed {seed}"
        assert told["violations"] == [], f"seed {seed}"


@pytest.mark.parametrize("path", STORIES, ids=_name)
def test_a_crash_at_any_commit_breaks_nothing(path: Path) -> None:
    scenario = read_scenario(path)

    report = crash_everywhere(scenario, also_before=True)

    assert report.commits > 0
    assert report.found == ()


@pytest.mark.slow
@pytest.mark.parametrize("path", STORIES, ids=_name)
def test_a_crash_at_any_commit_breaks_nothing_whatever_chance_does(path: Path) -> None:
    scenario = read_scenario(path)

    report = crash_everywhere(scenario, seed=SEEDS[-1], also_before=True)

    assert report.found == ()
