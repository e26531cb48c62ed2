"""The stop of a process, held against what the replaced program did, in virtual time."""

import asyncio
import selectors
from signal import Signals
from typing import Any

import pytest
from tests.vectors.suites import Case, load

from ov_es_adapters.runtimes.process_stop import stop


class NothingLeftToDoError(Exception):
    """Every task waits for something that can't happen any more."""


class JumpingSelector(selectors.SelectSelector):
    """Never waits: the time until the next timer is simply over."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise NothingLeftToDoError
        self.now += max(timeout, 0.0)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock is its selector's."""

    def __init__(self) -> None:
        self._jumping = JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    @property
    def now_ms(self) -> int:
        return round(self.time() * 1000)


class SimulatedChild:
    """A child that dies as the case says, and notes every signal."""

    def __init__(self, case: Case, loop: VirtualLoop) -> None:
        self._case = case
        self._loop = loop
        self._closed = asyncio.Event()
        self.has_group: bool = case["posix"]
        self.signals: list[dict[str, object]] = []

    @property
    def is_over(self) -> bool:
        child = self._case["child"]
        return child["pid"] is None or child["already"] is not None or self._closed.is_set()

    def signal_group(self, signal: Signals) -> bool:
        return self._take("group", signal, works=self._case["group_signal"] == "ok")

    def signal_child(self, signal: Signals) -> bool:
        return self._take("child", signal, works=self._case["child_signal"] == "ok")

    async def closed(self) -> None:
        await self._closed.wait()

    def _take(self, to: str, signal: Signals, *, works: bool) -> bool:
        noted = {"at": self._loop.now_ms, "to": to, "signal": signal.name, "delivered": works}
        self.signals.append(noted)
        which = "dies_after_term_ms" if signal is Signals.SIGTERM else "dies_after_kill_ms"
        if works and (after := self._case[which]) is not None:
            self._loop.call_later(after / 1000, self._closed.set)
        return works


def play(case: Case) -> dict[str, object]:
    """Run the case to its end, and say what the suite says."""
    loop = VirtualLoop()
    child = SimulatedChild(case, loop)
    second = case["second_call_ms"]
    resolved: dict[str, int | None] = {"resolved_at": None}
    if second is not None:
        resolved["second_resolved_at"] = None

    async def call(name: str, at_ms: int) -> None:
        if at_ms:
            await asyncio.sleep(at_ms / 1000)
        await stop(child, grace_seconds=case["grace_ms"] / 1000)
        resolved[name] = loop.now_ms

    async def both() -> None:
        calls = [call("resolved_at", 0)]
        if second is not None:
            calls.append(call("second_resolved_at", second))
        await asyncio.gather(*calls)

    task = loop.create_task(both())
    try:
        loop.run_until_complete(task)
    except NothingLeftToDoError:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)
    finally:
        loop.close()
    return {"signals": child.signals, **resolved}


@pytest.mark.parametrize("case", load("process_stop"))
def test_process_stop(case: Case) -> None:
    assert play(case) == case["expect"]
