"""The team's tools in the simulation fail as the real ones do, and take their time."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest

from ov_es_adapters.errors import (
    CallNotAppliedError,
    CallRefusedError,
    CallUnknownError,
    PeerRefusedError,
)
from ov_es_adapters.simulation.incarnation import Incarnation, ProcessDiedError
from ov_es_adapters.simulation.tools import Network, SimulatedTools, TeamServer
from ov_es_adapters.simulation.virtual_clock import VirtualLoop, run_virtually
from ov_es_adapters.simulation.world_tasks import WorldTasks
from ov_es_adapters.team.faults import parse_faults

POST = "post_message"


class Stage:
    """A server that counts what was applied, and when."""

    def __init__(self, faults: list[object], *, seed: int = 0) -> None:
        self.applied: list[float] = []
        self.world = WorldTasks()
        self.incarnation = Incarnation(1, lambda _: None)
        server = TeamServer(
            apply=self._apply,
            tools=frozenset({POST, "react_message"}),
            faults=parse_faults(faults),
            network=Network(seed),
            world=self.world,
            deadline_seconds=20.0,
        )
        self.tools = SimulatedTools(server, self.incarnation)

    def _apply(self, tool: str, arguments: Mapping[str, object]) -> object:
        if arguments.get("content") == "bad":
            raise CallRefusedError(tool, "that's too bad")
        self.applied.append(self.now)
        return {"id": len(self.applied)}

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def post(self, content: str = "Hi") -> object:
        return await self.tools.call(POST, {"content": content})


def _play(
    faults: list[object], main: Callable[[Stage], Awaitable[None]], *, seed: int = 0
) -> None:
    async def on_stage(_: VirtualLoop) -> None:
        stage = Stage(faults, seed=seed)
        await main(stage)
        await stage.world.end()

    run_virtually(on_stage, seed=seed)


def _fault(kind: str, **more: object) -> dict[str, object]:
    return {"tool": POST, "call": 1, "kind": kind, **more}


def test_a_call_takes_a_moment_and_is_applied_once() -> None:
    async def main(stage: Stage) -> None:
        assert await stage.post() == {"id": 1}
        assert stage.now == pytest.approx(0.05)
        assert len(stage.applied) == 1

    _play([], main)


def test_a_refusal_of_the_team_is_a_refused_call() -> None:
    async def main(stage: Stage) -> None:
        with pytest.raises(CallRefusedError, match="too bad"):
            await stage.post("bad")

    _play([], main)


@pytest.mark.parametrize(
    ("fault", "error", "applied", "seconds"),
    [
        (_fault("refused"), CallNotAppliedError, 0, 0.05),
        (_fault("timeout_before"), CallUnknownError, 0, 20),
        (_fault("timeout_after"), CallUnknownError, 1, 20),
        (_fault("late", by=30), CallUnknownError, 0, 20),
        (_fault("http", status=401), PeerRefusedError, 0, 0.05),
        (_fault("http", status=403), PeerRefusedError, 0, 0.05),
        (_fault("http", status=404), CallNotAppliedError, 0, 0.05),
        (_fault("http", status=429), CallNotAppliedError, 0, 0.05),
        (_fault("http", status=503), CallUnknownError, 0, 0.05),
        (_fault("error"), CallRefusedError, 0, 0.05),
        (_fault("garbage"), CallUnknownError, 1, 0.05),
    ],
)
def test_each_fault_fails_as_the_real_caller_fails(
    fault: dict[str, object], error: type[Exception], applied: int, seconds: float
) -> None:
    async def main(stage: Stage) -> None:
        with pytest.raises(error):
            await stage.post()
        assert len(stage.applied) == applied
        assert stage.now == pytest.approx(seconds)
        await stage.post()
        assert len(stage.applied) == applied + 1

    _play([fault], main)


def test_a_late_call_is_applied_whether_or_not_anybody_still_waits() -> None:
    async def main(stage: Stage) -> None:
        with pytest.raises(CallUnknownError):
            await stage.post()
        await asyncio.sleep(15)
        assert stage.applied == [pytest.approx(30)]

    _play([_fault("late", by=30)], main)


def test_a_call_that_is_a_little_late_is_answered_then() -> None:
    async def main(stage: Stage) -> None:
        assert await stage.post() == {"id": 1}
        assert stage.now == pytest.approx(10)

    _play([_fault("late", by=10)], main)


@pytest.mark.parametrize(("kind", "applied"), [("crash_before", 0), ("crash_after", 1)])
def test_a_crash_right_before_or_after_a_call(kind: str, applied: int) -> None:
    async def main(stage: Stage) -> None:
        with pytest.raises(ProcessDiedError):
            await stage.post()
        await asyncio.sleep(1)
        assert not stage.incarnation.is_alive
        assert len(stage.applied) == applied

    _play([_fault(kind)], main)


def test_a_request_on_its_way_arrives_though_its_sender_is_dead() -> None:
    async def main(stage: Stage) -> None:
        call = asyncio.create_task(stage.post())
        await asyncio.sleep(0.01)
        stage.incarnation.die()
        call.cancel()
        await asyncio.sleep(1)
        assert len(stage.applied) == 1

    _play([], main)


def test_a_tool_that_is_not_listed_is_unknown() -> None:
    fault = {"tool": POST, "call": "all", "kind": "unlisted"}

    async def main(stage: Stage) -> None:
        assert await stage.tools.advertised() == frozenset({"react_message"})
        with pytest.raises(CallRefusedError, match="unknown tool"):
            await stage.post()
        assert stage.applied == []

    _play([fault], main)


def test_a_seed_makes_calls_a_little_slower_and_always_in_the_same_way() -> None:
    def times(seed: int) -> list[float]:
        found: list[float] = []

        async def main(stage: Stage) -> None:
            for _ in range(5):
                await stage.post()
            found.extend(stage.applied)

        _play([], main, seed=seed)
        return found

    assert times(1) == times(1) != times(2)
    assert times(0) == pytest.approx([0.05, 0.10, 0.15, 0.20, 0.25])
    assert all(0.05 <= time <= 5 * 0.0801 for time in times(3))
