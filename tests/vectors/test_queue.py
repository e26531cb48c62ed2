"""The two queues answer as the replaced program's did (Q-1 to Q-9, Q-101 to Q-119)."""

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from queue_on_the_log import Item, QueueOnTheLog, Step
from suites import load

from ov_es_adapters.daemon.settings import AgentIdentity, WatchSettings
from ov_es_adapters.errors import BadInputError

Case = dict[str, Any]


def _matcher(match: dict[str, Any]) -> Any:
    def matches(item: Item) -> bool:
        if match.get("all"):
            return True
        if "ids" in match:
            return item["id"] in match["ids"]
        return type(item["group"]) is type(match["group"]) and item["group"] == match["group"]

    return matches


def _play(queue: QueueOnTheLog, op: dict[str, Any]) -> dict[str, Any]:
    queue.step = Step()
    extra: dict[str, Any] = {}
    match op["op"]:
        case "enqueue":
            earlier = queue.enqueue(op["key"], op["item"])
            if earlier is not None:
                extra["same_as"] = earlier
        case "finish":
            queue.finish(op["id"], op["outcome"], op["value"])
        case "cancel":
            queue.cancel(_matcher(op["match"]), abort=op["abort"])
        case "has":
            extra["has"] = queue.has(op["key"])
        case other:
            pytest.fail(f"unknown operation {other}")
    step = queue.step
    return {
        "started": step.started,
        "resolved": step.resolved,
        "errors": step.errors,
        "cancel_active": step.cancel_active,
        "size": queue.size,
        "active_size": len(queue.active),
        **extra,
    }


def _run(case: Case, queue: QueueOnTheLog) -> None:
    for op, wanted in zip(case["ops"], case["expect"]["steps"], strict=True):
        step = _play(queue, op)

        assert {name: step[name] for name in wanted} == wanted

    assert queue.running_items == case["expect"]["running_at_end"]
    assert sorted(queue.pending) == case["expect"]["unresolved_calls"]


@pytest.mark.parametrize("case", load("queue_bounded"))
def test_queue_bounded(case: Case) -> None:
    config = case["config"]

    _run(case, QueueOnTheLog(concurrency=config["concurrency"], grouped=config["grouped"]))


@pytest.mark.parametrize("case", load("queue_serial"))
def test_queue_serial(case: Case) -> None:
    _run(case, QueueOnTheLog(concurrency=1, grouped=False))


@pytest.mark.parametrize("case", load("queue_config"))
def test_queue_config(case: Case) -> None:
    agent = AgentIdentity(identifier="ada")

    if case["accepted"]:
        assert WatchSettings(agent=agent, concurrency=case["concurrency"]).concurrency > 0
    else:
        with pytest.raises(BadInputError, match="concurrency"):
            WatchSettings(agent=agent, concurrency=case["concurrency"])
