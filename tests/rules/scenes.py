"""What tests of the rules share: a simulated day of one agent, and what came out of it."""

from collections.abc import Sequence
from typing import Any, cast

from tests.rules.rc_scenes import team

from ov_es_adapters.simulation.result import Outcome, result
from ov_es_adapters.simulation.scenario import parse_scenario
from ov_es_adapters.simulation.simulator import simulate


def day(
    *steps: object,
    until: float = 200,
    runs: Sequence[object] = (),
    faults: Sequence[object] = (),
    watch: dict[str, object] | None = None,
    **lists: object,
) -> Outcome:
    """Return a day with its log; `lists` are the team's."""
    scenario = parse_scenario(
        {
            "name": "a day",
            "agent": {"id": 7, "identifier": "ada", "name": "Ada"},
            "watch": watch or {"runtime": "scripted", "workdir": True},
            "team": team(**lists),
            "runs": list(runs),
            "faults": list(faults),
            "steps": list(steps),
            "until": until,
        }
    )
    outcome = simulate(scenario)
    assert outcome.violations == ()
    return outcome


def lived(
    *steps: object,
    until: float = 200,
    runs: Sequence[object] = (),
    faults: Sequence[object] = (),
    watch: dict[str, object] | None = None,
    **lists: object,
) -> dict[str, Any]:
    """Return what a day came to, in the result's own words; `lists` are the team's."""
    outcome = day(*steps, until=until, runs=runs, faults=faults, watch=watch, **lists)
    return cast("dict[str, Any]", result(outcome))


def frame(at: float, kind: str, data: object) -> dict[str, object]:
    """Return the step in which a frame arrives."""
    return {"at": at, "frame": {"type": kind, "data": data}}


def mention(at: float, said: dict[str, Any], sender: str = "Maya") -> dict[str, object]:
    """Return the step in which a message wakes us."""
    whole = {**said, "sender": {"id": said["person"], "name": sender}}
    del whole["person"]
    return frame(at, "agent:mention", {"channel_id": said["channel_id"], "message": whole})


def assigned(at: float, number: int) -> dict[str, object]:
    """Return the step in which a ticket is given to us."""
    return frame(at, "task:assigned", {"task": {"id": number, "project_id": 1}})


def answers(*numbers: int) -> list[object]:
    """Return runs that answer messages of channel 10."""
    return [
        {"source": f"mention:10:{n}", "takes": 4, "does": [{"text": f"Answer {n}."}]}
        for n in numbers
    ]
