"""A day of 500 signals with repetitions, outages and crashes: each of them is accounted for."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import pytest

from ov_es_adapters.simulation.result import result
from ov_es_adapters.simulation.scenario import parse_scenario
from ov_es_adapters.simulation.simulator import Disturbance, simulate
from ov_es_domain.delivery.machine import DeliveryState
from ov_es_domain.signal.arrival import Arrival, ArrivalKind
from ov_es_domain.signal.events import SignalAccepted, SignalRefused, SignalSuppressed

_SIGNALS = 500
_REPEATED_PERCENT = 20
_DAY_SECONDS = 86_400.0
_TICKETS = 40
_THREADS = 60

Object = dict[str, Any]


@dataclass(slots=True)
class _Day:
    """What happens on it, made by chance alone."""

    chance: Random
    steps: list[Object] = field(default_factory=list[Object])
    asked: list[int] = field(default_factory=list[int])
    """The messages that want an answer."""
    others: list[int] = field(default_factory=list[int])
    """The messages that are for somebody else."""

    def fill(self) -> None:
        """Let 500 signals arrive, a fifth of them again, five outages and three crashes."""
        times = sorted(self.chance.uniform(5, _DAY_SECONDS - 4000) for _ in range(_SIGNALS))
        for number, at in enumerate(times):
            frame = self._signal(number, round(at, 2))
            if self.chance.randrange(100) < _REPEATED_PERCENT:
                again = round(at + self.chance.uniform(0, 600), 2)
                self.steps.append({"at": again, "frame": frame})
        for hour in (3, 7, 11, 15, 19):
            seconds = self.chance.randrange(5, 900)
            self.steps.append({"at": hour * 3600.0, "disconnect": {"for": seconds}})
        for hour in (5, 13, 21):
            self.steps.append({"at": hour * 3600.0, "crash": True})

    def _signal(self, number: int, at: float) -> Object:
        kind = self.chance.randrange(10)
        if kind == 0:
            frame: Object = {"type": "presence:changed", "data": {"n": number}}
        elif kind == 1:
            ticket = self.chance.randrange(1, _TICKETS + 1)
            frame = {"type": "task:updated", "data": {"task": {"id": ticket, "project_id": 1}}}
        else:
            frame = self._message(number, for_us=kind > 2)
        self.steps.append({"at": at, "frame": frame})
        return frame

    def _message(self, number: int, *, for_us: bool) -> Object:
        message_id = 10_000 + number
        (self.asked if for_us else self.others).append(message_id)
        said = f"@{'Ada' if for_us else 'Bob'} number {number}?"
        message = {"id": message_id, "content": said, "sender": {"id": 1, "name": "Maya"}}
        thread = self.chance.randrange(_THREADS * 2)
        if thread < _THREADS:
            message["parent_id"] = 1000 + thread
        return {"type": "agent:mention", "data": {"channel_id": 10, "message": message}}

    def scenario(self) -> Object:
        """Return the day as a scenario."""
        return {
            "name": "a hard day",
            "agent": {"id": 7, "identifier": "ada", "name": "Ada"},
            "watch": {"workdir": True},
            "team": {
                "people": [{"id": 1, "name": "Maya"}],
                "agents": [{"id": 8, "identifier": "bob", "name": "Bob"}],
                "projects": [{"id": 1, "name": "Core", "channel_id": 10}],
                "channels": [{"id": 10, "project_id": 1, "name": "core"}],
                "tickets": [_ticket(number) for number in range(1, _TICKETS + 1)],
                "messages": [
                    {"id": 1000 + n, "channel_id": 10, "person": 1, "content": f"Topic {n}"}
                    for n in range(_THREADS)
                ],
            },
            "runs": [_answer(message) for message in self.asked]
            + [_work(number) for number in range(1, _TICKETS + 1)],
            "steps": self.steps,
            "until": _DAY_SECONDS,
        }


def _ticket(number: int) -> Object:
    return {
        "id": number,
        "project_id": 1,
        "slug": f"COR-{number}",
        "title": f"Fix form {number}",
        "status": "todo",
        "agent_id": 7 if number % 4 else 8,
    }


def _answer(message: int) -> Object:
    source = f"mention:10:{message}"
    return {"source": source, "takes": message % 9 + 1, "does": [{"text": f"To {message}."}]}


def _work(number: int) -> Object:
    update = {"tool": "update_ticket", "args": {"status": "in_review"}}
    does = [{"tool": "get_ticket"}, {"edit": "form.py"}, update, {"text": "Done."}]
    return {"source": f"ticket:1:{number}", "takes": number % 50 + 10, "does": does}


def _outcomes(arrivals: list[tuple[Arrival, str]], message: int) -> Counter[str]:
    return Counter(outcome for arrival, outcome in arrivals if arrival.message_id == message)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_every_signal_of_a_hard_day_is_accounted_for(seed: int) -> None:
    day = _Day(Random(seed))
    day.fill()

    outcome = simulate(parse_scenario(day.scenario()), Disturbance(seed=seed, plays_on=True))
    told = result(outcome)

    assert told["violations"] == []
    assert told["left"] == {"queued": 0, "running": 0, "processes": 0}
    arrivals: list[tuple[Arrival, str]] = []
    for event in outcome.events:
        match event.body:
            case SignalAccepted(arrival=arrival):
                arrivals.append((arrival, "accepted"))
            case SignalSuppressed(arrival=arrival):
                arrivals.append((arrival, "suppressed"))
            case SignalRefused(arrival=arrival):
                arrivals.append((arrival, "refused"))
            case _:
                pass
    mentions = [pair for pair in arrivals if pair[0].kind is ArrivalKind.MENTION]
    posts = Counter(post.content for post in outcome.truth.posts)
    for message in day.asked:
        assert _outcomes(mentions, message)["accepted"] == 1, message
        assert _outcomes(mentions, message)["refused"] == 0, message
        assert posts[f"To {message}."] == 1, message
    for message in day.others:
        assert _outcomes(mentions, message)["accepted"] == 0, message
    deliveries = cast("dict[str, str]", told["deliveries"])
    assert set(deliveries.values()) <= {DeliveryState.DELIVERED, DeliveryState.ABANDONED}
    tickets = cast("dict[str, str]", told["tickets"])
    assert {state for key, state in tickets.items() if int(key.rpartition(":")[2]) % 4} == {
        "reported"
    }
