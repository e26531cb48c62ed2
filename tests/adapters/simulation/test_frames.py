"""The simulated socket: what nobody is there to take is lost."""

import asyncio

import pytest

from ov_es_adapters.ports import (
    ConnectionEvent,
    ConnectionLost,
    ConnectionOpened,
    FrameReceived,
)
from ov_es_adapters.simulation.frames import SimulatedFrames, TeamSocket
from ov_es_adapters.simulation.incarnation import Incarnation, ProcessDiedError
from ov_es_adapters.simulation.virtual_clock import VirtualLoop, run_virtually


def _incarnation(number: int = 1) -> Incarnation:
    return Incarnation(number, lambda _: None)


async def _take(frames: SimulatedFrames, count: int) -> list[ConnectionEvent]:
    events = frames.events()
    taken = [await anext(events) for _ in range(count)]
    await events.aclose()
    return taken


def test_frames_come_in_the_order_in_which_they_were_sent() -> None:
    async def main(loop: VirtualLoop) -> list[ConnectionEvent]:
        socket = TeamSocket(loop)
        frames = socket.connect(_incarnation())
        socket.send("a")
        socket.send("b")
        return await _take(frames, 3)

    assert run_virtually(main) == [
        ConnectionOpened(1),
        FrameReceived("a", 1),
        FrameReceived("b", 1),
    ]


def test_a_frame_that_is_sent_while_the_network_is_away_is_lost() -> None:
    async def main(loop: VirtualLoop) -> list[ConnectionEvent]:
        socket = TeamSocket(loop)
        frames = socket.connect(_incarnation())
        socket.cut(30)
        was_taken = socket.send("lost")
        await asyncio.sleep(31)
        socket.send("after")
        assert not was_taken
        return await _take(frames, 4)

    assert run_virtually(main) == [
        ConnectionOpened(1),
        ConnectionLost(1, "broken-off", is_refused=False, retry_in=30),
        ConnectionOpened(2),
        FrameReceived("after", 2),
    ]


def test_a_process_that_starts_without_a_network_connects_when_it_comes_back() -> None:
    async def main(loop: VirtualLoop) -> list[ConnectionEvent]:
        socket = TeamSocket(loop)
        socket.cut(10)
        await asyncio.sleep(4)
        frames = socket.connect(_incarnation())
        return await _take(frames, 2)

    assert run_virtually(main) == [
        ConnectionLost(0, "broken-off", is_refused=False, retry_in=6),
        ConnectionOpened(1),
    ]


def test_the_longest_of_two_outages_counts() -> None:
    async def main(loop: VirtualLoop) -> tuple[list[ConnectionEvent], float]:
        socket = TeamSocket(loop)
        frames = socket.connect(_incarnation())
        socket.cut(30)
        await asyncio.sleep(10)
        socket.cut(5)
        socket.cut(60)
        taken = await _take(frames, 3)
        return taken, loop.time()

    taken, at = run_virtually(main)
    assert [type(event) for event in taken] == [
        ConnectionOpened,
        ConnectionLost,
        ConnectionOpened,
    ]
    assert at == 70


def test_a_dead_process_takes_nothing() -> None:
    async def main(loop: VirtualLoop) -> None:
        socket = TeamSocket(loop)
        incarnation = _incarnation()
        frames = socket.connect(incarnation)
        incarnation.die()
        assert not socket.send("late")
        with pytest.raises(ProcessDiedError):
            await _take(frames, 1)

    run_virtually(main)


@pytest.mark.parametrize(("is_back_at_once", "expected"), [(True, ["unread"]), (False, [])])
def test_unread_frames_come_again_only_to_a_process_that_is_back_at_once(
    *, is_back_at_once: bool, expected: list[str]
) -> None:
    async def main(loop: VirtualLoop) -> list[str]:
        socket = TeamSocket(loop)
        first = _incarnation()
        socket.connect(first)
        socket.send("unread")
        first.die()
        second = socket.connect(_incarnation(2), is_back_at_once=is_back_at_once)
        return second.unread()

    assert run_virtually(main) == expected
