"""OWN-06: our clock and the team's may differ: it's measured, and nothing is decided by it."""

from ov_es_adapters.simulation.result import result
from ov_es_adapters.simulation.scenario import parse_scenario
from ov_es_adapters.simulation.simulator import simulate
from ov_es_domain.watch.events import WatchClockNoted


def _asked(message_id: int, at: float) -> dict[str, object]:
    message = {
        "id": message_id,
        "parent_id": 90,
        "content": f"@Ada number {message_id}?",
        "sender": {"id": 1, "name": "Maya"},
    }
    data = {"channel_id": 10, "message": message}
    return {"at": at, "frame": {"type": "agent:mention", "data": data}}


def test_own_06_the_difference_is_noted_once_and_every_message_is_answered() -> None:
    scenario = parse_scenario(
        {
            "name": "clocks",
            "agent": {"id": 7, "identifier": "ada", "name": "Ada"},
            "team": {
                "people": [{"id": 1, "name": "Maya"}],
                "channels": [{"id": 10, "name": "core"}],
                "messages": [{"id": 90, "channel_id": 10, "person": 1, "content": "Topic"}],
            },
            "steps": [
                {"at": 0.5, "clock": {"jump": -600}},
                _asked(100, 10),
                _asked(101, 100),
                _asked(102, 200),
            ],
            "until": 400,
        }
    )

    outcome = simulate(scenario)

    noted = [e.body.offset_seconds for e in outcome.events if isinstance(e.body, WatchClockNoted)]
    assert noted == [600.0]
    assert len(outcome.truth.posts) == 3
    assert result(outcome)["violations"] == []
