"""Prompts on their whole way: from a frame through the real daemon to the program that runs."""

from ov_es_adapters.ports import RunRequest
from ov_es_adapters.simulation.scenario import Scenario, parse_scenario
from ov_es_adapters.simulation.simulator import Disturbance, simulate

LONG = f"@Ada {'how is it going? ' * 1000}the end"


def _said(number: int, root: int | None, content: str) -> dict[str, object]:
    return {
        "id": number,
        "channel_id": 10,
        "parent_id": root,
        "person": 1,
        "content": content,
    }


def _mention(at: float, number: int, root: int | None, content: str) -> dict[str, object]:
    message = {**_said(number, root, content), "sender": {"id": 1, "name": "Maya"}}
    return {
        "at": at,
        "frame": {"type": "agent:mention", "data": {"channel_id": 10, "message": message}},
    }


def _scenario() -> Scenario:
    return parse_scenario(
        {
            "name": "two questions in one thread",
            "agent": {"id": 7, "identifier": "ada", "name": "Ada"},
            "team": {
                "people": [{"id": 1, "name": "Maya"}],
                "channels": [{"id": 10, "project_id": 1, "name": "core"}],
                "projects": [{"id": 1, "name": "Core", "channel_id": 10}],
                "messages": [_said(100, None, LONG), _said(101, 100, "@Ada and now?")],
            },
            "runs": [
                {"source": "mention:10:100", "takes": 4, "does": [{"text": "It's merged."}]},
                {"source": "mention:10:101", "takes": 4, "does": [{"text": "Still merged."}]},
            ],
            "steps": [_mention(5, 100, None, LONG), _mention(60, 101, 100, "@Ada and now?")],
            "until": 300,
        }
    )


def test_mem_6_the_next_run_in_a_thread_knows_what_was_answered(
    requests: list[RunRequest],
) -> None:
    simulate(_scenario(), Disturbance())

    first, second = requests
    assert LONG in first.prompt
    assert "What was done and said here before" not in first.prompt
    assert "- reply delivered: It's merged." in second.prompt
    assert second.prompt.count("and now?") == 1
    assert "You are Ada" in second.system_prompt
    assert "post_message" in second.disabled_tools
