"""OUT-10: an answer that is too long for one message goes out in parts, each of them once."""

import pytest

from ov_es_adapters.simulation.crash_everywhere import crash_everywhere
from ov_es_adapters.simulation.result import result
from ov_es_adapters.simulation.scenario import Scenario, parse_scenario
from ov_es_adapters.simulation.simulator import simulate
from ov_es_domain.delivery.events import DeliveryAttempted

_ANSWER = "\n\n".join(
    f"{number}. " + "The quick brown fox jumps over the lazy dog. " * 20 for number in range(1, 60)
).strip()


def _story(*faults: dict[str, object]) -> Scenario:
    asked = {"id": 100, "content": "@Ada tell me all", "sender": {"id": 1, "name": "Maya"}}
    return parse_scenario(
        {
            "name": "a long answer",
            "agent": {"id": 7, "identifier": "ada", "name": "Ada"},
            "watch": {},
            "team": {
                "people": [{"id": 1, "name": "Maya"}],
                "channels": [{"id": 10, "project_id": 1, "name": "core"}],
            },
            "runs": [{"source": "mention:10:100", "takes": 4, "does": [{"text": _ANSWER}]}],
            "faults": list(faults),
            "steps": [
                {
                    "at": 1,
                    "frame": {
                        "type": "agent:mention",
                        "data": {"channel_id": 10, "message": asked},
                    },
                }
            ],
            "until": 300,
        }
    )


def _said(scenario: Scenario) -> tuple[list[str], list[str]]:
    """Return the posts, and the slots of the attempts."""
    outcome = simulate(scenario)
    tried = [e.key for e in outcome.events if isinstance(e.body, DeliveryAttempted)]
    assert result(outcome)["violations"] == []
    return [post.content for post in outcome.truth.posts], tried


def test_out_10_the_parts_of_a_long_answer_join_to_it() -> None:
    posts, tried = _said(_story())

    assert len(posts) == 3
    assert "".join(posts) == _ANSWER
    assert tried == [f"delivery:reply:10:100{end}" for end in ("", "#2", "#3")]


def test_out_10_a_part_that_fails_is_tried_again_alone_and_in_its_place() -> None:
    scenario = _story({"tool": "post_message", "call": 2, "kind": "http", "status": 503})

    posts, tried = _said(scenario)

    assert "".join(posts) == _ANSWER
    assert tried == [f"delivery:reply:10:100{end}" for end in ("", "#2", "#2", "#3")]


def test_out_10_when_a_part_cannot_be_posted_those_after_it_are_not_either() -> None:
    posts, tried = _said(_story({"tool": "post_message", "call": 2, "kind": "error"}))

    assert len(posts) == 1
    assert len(tried) == 2


@pytest.mark.parametrize("kind", ["crash_after", "crash_before", "timeout_after"])
def test_out_10_a_restart_goes_on_with_the_same_split(kind: str) -> None:
    posts, _ = _said(_story({"tool": "post_message", "call": 2, "kind": kind}))

    assert "".join(posts) == _ANSWER


def test_out_10_a_crash_at_any_commit_changes_no_part() -> None:
    assert crash_everywhere(_story(), also_before=True).found == ()
