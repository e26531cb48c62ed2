"""The day itself: what people do, what goes wrong, and what is waited for in between."""

import asyncio
from collections.abc import Callable, Sequence

from ov_es_adapters.demo.stage import AGENT, Stage
from ov_es_adapters.team.faults import Fault, FaultKind, FaultPlan
from ov_es_domain.recorded import Recorded

MAYA, SAM = 1, 2
Tell = Callable[[str], None]
"""Told what happens on the stage, in words for a newcomer."""


def _has(topic: str, key: str = "") -> Callable[[Sequence[Recorded]], bool]:
    return lambda events: any(
        topic == event.body.TOPIC and event.key.startswith(key) for event in events
    )


def _is_quiet(events: Sequence[Recorded]) -> bool:
    """Whether everything that was promised is out, or settled otherwise."""
    turns: dict[str, str] = {}
    deliveries: dict[str, str] = {}
    for event in events:
        kind = event.key.partition(":")[0]
        if kind == "turn":
            turns[event.key] = event.body.TRANSITION
        elif kind == "delivery":
            deliveries[event.key] = event.body.TRANSITION
    settled = {"succeed", "fail", "time_out", "block", "cancel", "release", "refuse_result"}
    out = {"deliver", "suppress", "abandon"}
    return all(t in settled for t in turns.values()) and all(d in out for d in deliveries.values())


async def play_day(stage: Stage, tell: Tell) -> None:
    """Play one working day of Ada's.

    Raises: StageError when something that has to happen doesn't.
    """
    tell("09:00  Two tickets are assigned to Ada. The watcher starts, and looks what there is.")
    await stage.start_watcher()
    await stage.until("the first run", _has("turn.started@1", "turn:ticket"))

    tell("09:10  Maya asks Ada something. The backend sends the frame twice.")
    stage.say(100, MAYA, "@Ada why does the start page look odd?")
    stage.team.repeat()
    await stage.until("the answer", _has("delivery.delivered@1", "delivery:reply:10:100"))

    tell("09:20  Sam asks Bob, and the backend wakes Ada by mistake.")
    stage.say(200, SAM, "@Bob could you look at the logs?")
    await stage.until("the refusal", _has("signal.refused@1", "signal:mention:10:200"))

    tell("09:30  The connection breaks. While it's down, Maya asks again.")
    stage.team.merge({"messages": [_message(300, MAYA, "@Ada have you read the release note?")]})
    stage.team.connections.drop(AGENT, None)
    await stage.until("the answer", _has("delivery.delivered@1", "delivery:reply:10:300"))

    tell("09:40  Sam asks how it goes. The answer is posted, but the server never says so…")
    await stage.until("SHO-5 in review", _has("delivery.delivered@1", "delivery:report:1:5"))
    next_post = stage.team.calls["post_message"] + 1
    lost = Fault(tool="post_message", call=next_post, kind=FaultKind.TIMEOUT_AFTER)
    stage.team.faults = _from_now(stage, lost)
    stage.say(400, SAM, "@Ada how are the two tickets?")
    await stage.until("the attempt", _has("delivery.attempted@1", "delivery:reply:10:400"))
    await asyncio.wait_for(stage.team.until(lambda: _is_posted(stage, "Both tickets")), 10.0)

    tell("09:41  …and in this moment the watcher is killed (kill -9).")
    await stage.kill_watcher()
    stage.read()

    tell("09:42  It's started again. Was the answer posted? Nobody knows, so it looks.")
    await stage.start_watcher()
    await stage.until("the proof", _has("delivery.delivered@1", "delivery:reply:10:400"))

    tell("09:50  Sam asks for a larger change, and thinks better of it.")
    stage.say(500, SAM, "@Ada please rewrite the code in parser.py")
    await stage.until("the run", _has("turn.spawned@1", "turn:mention:10:500"))
    stage.say(600, SAM, "@Ada stop please", parent_id=500)
    await stage.until("the end of the run", _has("turn.cancelled@1", "turn:mention:10:500"))

    tell("17:00  The day is over. The watcher is asked to stop.")
    await stage.until("quiet", _is_quiet)
    await stage.stop_watcher()
    stage.read()


def _message(message_id: int, person: int, text: str) -> dict[str, object]:
    return {
        "id": message_id,
        "channel_id": 10,
        "parent_id": None,
        "person": person,
        "content": text,
    }


def _from_now(stage: Stage, fault: Fault) -> FaultPlan:
    """Return a plan that has counted the calls which were made before it."""
    plan = FaultPlan([fault])
    for _ in range(stage.team.calls[fault.tool]):
        plan.strike(fault.tool)
    return plan


def _is_posted(stage: Stage, beginning: str) -> bool:
    return any(post["content"].startswith(beginning) for post in stage.team.world.posts)
