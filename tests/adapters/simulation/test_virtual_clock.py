"""Time in the simulation: it never waits, and the same seed gives the same order."""

import asyncio

import pytest

from ov_es_adapters.simulation.virtual_clock import (
    WALL_START,
    LivelockError,
    StandstillError,
    VirtualClock,
    VirtualLoop,
    run_virtually,
)
from ov_es_adapters.team.world import STARTS_AT


def test_a_day_passes_in_a_moment() -> None:
    async def main(loop: VirtualLoop) -> float:
        await asyncio.sleep(86_400)
        return loop.time()

    assert run_virtually(main) == 86_400


def test_a_deadline_passes_while_somebody_waits_for_ever() -> None:
    async def main(loop: VirtualLoop) -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(20):
                await asyncio.Event().wait()
        return loop.time()

    assert run_virtually(main) == 20


def test_the_daemon_and_the_team_begin_at_the_same_time() -> None:
    assert WALL_START == STARTS_AT


def test_only_the_wall_clock_jumps() -> None:
    async def main(loop: VirtualLoop) -> tuple[float, float, float]:
        clock = VirtualClock(loop)
        await asyncio.sleep(10)
        clock.jump(-3600)
        return clock.now() - WALL_START, clock.monotonic(), loop.time()

    assert run_virtually(main) == (10 - 3600, 10, 10)


def test_a_world_in_which_nothing_can_happen_any_more_says_so() -> None:
    async def main(_: VirtualLoop) -> None:
        await asyncio.Event().wait()

    with pytest.raises(StandstillError, match="nothing will ever happen"):
        run_virtually(main)


def test_a_task_that_lets_no_time_pass_is_named() -> None:
    async def spin() -> None:
        while True:  # noqa: ASYNC110 - this is what must not go on for ever
            await asyncio.sleep(0)

    async def main(_: VirtualLoop) -> None:
        await asyncio.create_task(spin(), name="the busy one")

    with pytest.raises(LivelockError, match="the busy one"):
        run_virtually(main)


def _order(seed: int) -> list[int]:
    async def main(_: VirtualLoop) -> list[int]:
        order: list[int] = []

        async def wait(number: int) -> None:
            await asyncio.sleep(5)
            order.append(number)

        await asyncio.gather(*(wait(number) for number in range(8)))
        return order

    return run_virtually(main, seed=seed)


def test_a_seed_shuffles_what_happens_at_the_same_time_and_always_in_the_same_way() -> None:
    orders = {seed: _order(seed) for seed in range(6)}

    assert all(_order(seed) == order for seed, order in orders.items())
    assert len({tuple(order) for order in orders.values()}) > 1


def test_a_thread_is_never_used() -> None:
    def fail() -> None:
        raise ValueError("as in a thread")

    async def main(_: VirtualLoop) -> int:
        with pytest.raises(ValueError, match="as in a thread"):
            await asyncio.to_thread(fail)
        return await asyncio.to_thread(lambda: 7)

    assert run_virtually(main) == 7
