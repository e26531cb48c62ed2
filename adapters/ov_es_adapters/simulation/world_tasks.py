"""The tasks of the simulated world, told from those of the daemon that lives in it.

A crash ends every task of the daemon and none of the world's: a request that is on its way still
arrives, and an agent program goes on working.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_ROUNDS_MAX = 1000

T = TypeVar("T")


class WorldTasks:
    """Starts what belongs to the world, and ends all that doesn't."""

    def __init__(self) -> None:
        """Count the present task, which directs it all, among the world's."""
        self._tasks: set[asyncio.Task[Any]] = set()
        director = asyncio.current_task()
        if director is not None:
            self._tasks.add(director)

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task of the world."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def end_others(self) -> None:
        """Cancel whatever isn't the world's, until it's gone; no time passes meanwhile."""
        for _ in range(_ROUNDS_MAX):
            others = self._others()
            if not others:
                return
            for task in others:
                task.cancel()
            await asyncio.sleep(0)
        names = sorted(task.get_name() for task in self._others())
        raise AssertionError(f"tasks of a dead process don't end: {', '.join(names)}")

    def _others(self) -> list[asyncio.Task[Any]]:
        return [task for task in asyncio.all_tasks() if task not in self._tasks]

    async def end(self) -> None:
        """Cancel the rest, but for the one that asks."""
        self._tasks = {task for task in self._tasks if task is asyncio.current_task()}
        await self.end_others()
