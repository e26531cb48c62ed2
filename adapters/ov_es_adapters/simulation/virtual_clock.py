"""Time that passes in a moment: an event loop that never waits, and a wall clock that can jump.

The loop has no socket and no selector of the system. When nothing is ready it sets its time to
the next timer's and goes on; when nothing is left at all it says so, since nothing could ever
happen again.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar

from ov_es_domain.errors import OvEsError

WALL_START = 1_767_225_600.0
"""2026-01-01T00:00:00Z: the wall clock's time at the start of every simulation."""

_STEPS_WITHOUT_TIME_MAX = 200_000
_SHUFFLE_SECONDS = 1e-9

T = TypeVar("T")


class StandstillError(OvEsError):
    """Everybody waits, and nothing will ever happen."""


class LivelockError(OvEsError):
    """Something is busy for ever without letting time pass."""


class _VirtualSelector:
    """In place of the system's: it returns at once, after moving time to the next timer."""

    def __init__(self, loop: "VirtualLoop") -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[tuple[Any, int]]:
        self._loop.pass_time(timeout)
        return []

    def close(self) -> None:
        """Have nothing to close."""


class VirtualLoop(asyncio.BaseEventLoop):
    """A deterministic event loop on virtual time, which starts at 0.

    With a seed other than 0 it shuffles the order of timers of the same time.
    """

    def __init__(self, *, seed: int = 0) -> None:
        """Make a loop of its own time; it must be closed as any other."""
        super().__init__()
        self._selector = _VirtualSelector(self)
        self._now = 0.0
        self._steps = 0
        self._order = random.Random(f"timers {seed}") if seed else None  # noqa: S311 - no secret

    def time(self) -> float:
        """Return the virtual seconds since the start."""
        return self._now

    def pass_time(self, timeout: float | None) -> None:
        """Move time on by `timeout` seconds; None: there is no timer at all.

        Raises: StandstillError, LivelockError.
        """
        if timeout is None:
            raise StandstillError("everybody waits, and nothing will ever happen")
        if timeout > 0:
            self._now += timeout
            self._steps = 0
            return
        self._steps += 1
        if self._steps > _STEPS_WITHOUT_TIME_MAX:
            self._steps = 0
            raise LivelockError(f"something is busy for ever at {self._now:g} s: {_busy(self)}")

    def call_at(  # type: ignore[override]  # the stub's types are variadic
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Schedule a callback; never earlier than asked for, and hardly later."""
        if self._order is not None:
            when += self._order.random() * _SHUFFLE_SECONDS
        return super().call_at(when, callback, *args, context=context)

    def run_in_executor(  # type: ignore[override]  # as above
        self, executor: Any, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Call `func` here and now: a thread would make the order of things a matter of chance."""
        del executor
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - handed on to whoever waits, as a thread's is
            done.set_exception(error)
        return done

    def _process_events(self, event_list: list[tuple[Any, int]]) -> None:
        """Have no events but timers."""

    def _write_to_self(self) -> None:
        """Need no waking: the loop never sleeps."""


def _busy(loop: VirtualLoop) -> str:
    names = sorted(task.get_name() for task in asyncio.all_tasks(loop))
    return ", ".join(names[:5]) or "no task"


class VirtualClock:
    """The daemon's clock: the wall clock can jump, the monotonic one is the loop's."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start at the fixed date, with the loop's time on top."""
        self._loop = loop
        self._jumped = 0.0

    def now(self) -> float:
        """Return the wall clock in seconds since the epoch."""
        return WALL_START + self._loop.time() + self._jumped

    def monotonic(self) -> float:
        """Return the virtual seconds since the start."""
        return self._loop.time()

    def jump(self, seconds: float) -> None:
        """Move the wall clock, and only that, forwards or backwards."""
        self._jumped += seconds

    def at(self, wall: float) -> float:
        """Return a wall time as seconds since the start, as the clock stands now."""
        return wall - WALL_START - self._jumped


def run_virtually(main: Callable[[VirtualLoop], Coroutine[Any, Any, T]], *, seed: int = 0) -> T:
    """Run a coroutine to its end on a virtual loop of its own."""
    loop = VirtualLoop(seed=seed)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(main(loop))
