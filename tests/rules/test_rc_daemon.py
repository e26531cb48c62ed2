"""RC: when the real daemon looks at its team, over hours of virtual time."""

import asyncio
from collections.abc import Mapping

import pytest
from tests.rules.rc_scenes import message, team, ticket

from ov_es_adapters.simulation.result import Outcome, result
from ov_es_adapters.simulation.scenario import parse_scenario
from ov_es_adapters.simulation.simulator import simulate
from ov_es_adapters.simulation.tools import SimulatedTools
from ov_es_domain.turn.events import TurnStarted

FIVE_MINUTES = 300


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Note when the daemon asks for the team's projects: it does so once in each look."""
    times: list[float] = []
    call = SimulatedTools.call

    async def noting(self: SimulatedTools, tool: str, arguments: Mapping[str, object]) -> object:
        if tool == "list_projects":
            times.append(asyncio.get_running_loop().time())
        return await call(self, tool, arguments)

    monkeypatch.setattr(SimulatedTools, "call", noting)
    return times


def _lived(*steps: object, until: float, **lists: object) -> Outcome:
    return simulate(
        parse_scenario(
            {
                "name": "a quiet team",
                "agent": {"id": 7, "identifier": "ada", "name": "Ada"},
                "watch": {"runtime": "scripted"},
                "team": team(**lists),
                "steps": list(steps),
                "until": until,
            }
        )
    )


def _said(at: float, number: int) -> dict[str, object]:
    """Let Maya say something of which no frame tells."""
    return {"at": at, "team": {"messages": [message(number)]}}


def _started(outcome: Outcome) -> list[float]:
    return [outcome.times[e.position] for e in outcome.events if isinstance(e.body, TurnStarted)]


def test_rc_1_it_looks_at_the_start_at_each_connection_and_every_five_minutes(
    looks: list[float],
) -> None:
    """WS-3: a connection that is open again is looked behind at once."""
    _lived({"at": 100, "disconnect": {"for": 30}}, until=1100)

    at_once = [time for time in looks if time < 1]
    assert at_once
    later = [time for time in looks if time >= 1]
    assert later == pytest.approx([130 + n * FIVE_MINUTES for n in range(4)], abs=2)


def test_rc_1_it_looks_at_the_start_although_there_is_no_connection(looks: list[float]) -> None:
    _lived({"at": 100, "disconnect": {"for": 5000}}, {"at": 150, "restart": True}, until=200)

    assert [time for time in looks if time >= 1] == pytest.approx([150], abs=2)


def test_rc_2_no_run_starts_before_a_look_finds_something_to_do(looks: list[float]) -> None:
    elsewhere = [ticket(4, agent_id=8), ticket(5, status="done")]

    outcome = _lived(_said(1000, 100), until=2000, tickets=elsewhere)

    assert len([time for time in looks if time < 1000]) > 3
    [started] = _started(outcome)
    assert 1000 < started < 1000 + FIVE_MINUTES + 2


def test_rc_11_a_process_that_starts_again_looks_at_once() -> None:
    outcome = _lived(_said(20, 100), {"at": 30, "restart": True}, until=100)

    assert _started(outcome) == pytest.approx([30], abs=2)


def test_rc_16_after_a_stop_nobody_looks_any_more(looks: list[float]) -> None:
    outcome = _lived({"at": 400, "stop": True}, _said(450, 100), until=4000)

    assert looks[-1] < 400
    assert _started(outcome) == []
    assert result(outcome)["violations"] == []
