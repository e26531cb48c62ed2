"""The daemon's process in the simulated world, kept as a service manager keeps it.

One that crashes comes back; one that was told to stop stays away until it's started again.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.daemon.watcher import Watcher
from ov_es_adapters.daemon.world import World
from ov_es_adapters.errors import PeerRefusedError
from ov_es_adapters.simulation.frames import SimulatedFrames, TeamSocket
from ov_es_adapters.simulation.incarnation import Incarnation, ProcessDiedError
from ov_es_adapters.simulation.log import Storage
from ov_es_adapters.simulation.violations import FramesTaken
from ov_es_adapters.simulation.world_tasks import WorldTasks

RESTART_SECONDS = 1.0
"""How long a process that crashed stays away, unless a step says when it comes back."""
_STOP_SECONDS_MAX = 600.0
_OUTCOME_SECONDS = 120.0
"""A frame that was taken longer ago than this must have its outcome."""
_OUTCOME_SECONDS_AT_THE_END = 2.0
"""Likewise at an orderly end, which waits for the reads that are under way."""

MakeWorld = Callable[[Incarnation, SimulatedFrames], World]


@dataclass(slots=True, kw_only=True)
class _Life:
    incarnation: Incarnation
    watcher: Watcher
    frames: SimulatedFrames
    after: int
    """The last position before it."""
    is_over: asyncio.Event
    run: asyncio.Task[None] | None = None


class Service:
    """Starts, stops and buries incarnations of the daemon."""

    def __init__(  # noqa: PLR0913 - what a process is made of
        self,
        make_world: MakeWorld,
        settings: WatchSettings,
        *,
        storage: Storage,
        socket: TeamSocket,
        world: WorldTasks,
        is_restart_planned: Callable[[], bool],
    ) -> None:
        """`is_restart_planned` tells whether the scenario itself says when it comes back."""
        self._make_world = make_world
        self._settings = settings
        self._storage = storage
        self._socket = socket
        self._world = world
        self._is_restart_planned = is_restart_planned
        self._loop = asyncio.get_running_loop()
        self._number = 0
        self._life: _Life | None = None
        self._return: asyncio.TimerHandle | None = None
        self._is_wanted = True
        self._restarting = asyncio.Lock()
        self._orders: list[tuple[float, str]] = []
        self.failures: list[str] = []
        """Why it ended where it had no reason to."""
        self.taken: list[FramesTaken] = []

    @property
    def is_settled(self) -> bool:
        """Whether it's up, or down for good."""
        return self._return is None and not self._restarting.locked()

    # --- what happens to it ----------------------------------------------------------------------

    def start(self, *, is_back_at_once: bool = False) -> None:
        """Start a new process, unless one is there."""
        self._forget_return()
        if self._life is not None:
            return
        self._number += 1
        incarnation = Incarnation(self._number, self._notice_death)
        frames = self._socket.connect(incarnation, is_back_at_once=is_back_at_once)
        life = _Life(
            incarnation=incarnation,
            watcher=Watcher(self._make_world(incarnation, frames), self._settings),
            frames=frames,
            after=self._storage.log.position(),
            is_over=asyncio.Event(),
        )
        self._life = life
        if is_back_at_once:
            # Whoever gave an order that the process died of gives it again.
            for at, source in self._orders:
                if at == self._loop.time():
                    life.watcher.interrupt(source)
        life.run = asyncio.create_task(life.watcher.run(), name=f"watcher {self._number}")
        life.run.add_done_callback(lambda run: self._notice_end(life, run))

    async def crash(self) -> None:
        """Kill it, in the middle of whatever it does."""
        life = self._life
        if life is not None:
            life.incarnation.die()
            await life.is_over.wait()

    def stop(self) -> None:
        """Ask it to stop in good order, and don't start it again."""
        self._is_wanted = False
        self._forget_return()
        if self._life is not None:
            self._life.watcher.stop()

    def restart(self, *, is_upgrade: bool) -> None:
        """Start it (again), after an orderly stop of the process that still runs, if one does."""
        self._world.start(self._restart(is_upgrade=is_upgrade))

    def interrupt(self, source: str) -> None:
        """Tell it that a person ends the turn of a source."""
        self._orders.append((self._loop.time(), source))
        if self._life is not None:
            self._life.watcher.interrupt(source)

    async def _restart(self, *, is_upgrade: bool) -> None:
        async with self._restarting:
            self._is_wanted = True
            life = self._life
            if life is not None:
                life.watcher.stop()
                try:
                    async with asyncio.timeout(_STOP_SECONDS_MAX):
                        await life.is_over.wait()
                except TimeoutError:
                    self.failures.append(f"process {self._number} doesn't end when told to")
                    await self.crash()
            if is_upgrade:
                self._storage.log.rebuild()
            self.start()

    def finish(self) -> None:
        """Look at the process for the last time: what it took has its outcome by now."""
        if self._life is not None:
            self._note_frames(self._life)

    # --- how it ends -----------------------------------------------------------------------------

    def _notice_death(self, is_back_at_once: bool) -> None:  # noqa: FBT001 - a callback
        life = self._life
        if life is not None:
            self._world.start(self._bury(life, is_back_at_once=is_back_at_once))

    async def _bury(self, life: _Life, *, is_back_at_once: bool) -> None:
        await self._world.end_others()
        self._life = None
        life.is_over.set()
        if not self._is_wanted or self._restarting.locked():
            return
        if is_back_at_once:
            self.start(is_back_at_once=True)
        elif not self._is_restart_planned():
            self._return = self._loop.call_later(RESTART_SECONDS, self.start)

    def _notice_end(self, life: _Life, run: "asyncio.Task[None]") -> None:
        """Tell an orderly end from one that nobody asked for."""
        error = None if run.cancelled() else run.exception()
        if not life.incarnation.is_alive:
            return
        if error is not None:
            self.failures += reasons(error)
        life.incarnation.end()
        self._note_frames(life)
        self._world.start(self._clear_away(life))

    async def _clear_away(self, life: _Life) -> None:
        await self._world.end_others()
        self._life = None
        life.is_over.set()

    def _note_frames(self, life: _Life) -> None:
        is_over = not life.incarnation.is_alive
        patience = _OUTCOME_SECONDS_AT_THE_END if is_over else _OUTCOME_SECONDS
        has_had_time = self._loop.time() - life.frames.taken_at > patience
        if has_had_time and not self._storage.is_full:
            self.taken.append(
                FramesTaken(
                    incarnation=life.incarnation.number,
                    frames=life.frames.taken,
                    after=life.after,
                    until=self._storage.log.position(),
                )
            )

    def _forget_return(self) -> None:
        if self._return is not None:
            self._return.cancel()
            self._return = None


def reasons(error: BaseException) -> list[str]:
    """Return why a daemon ended where that was wrong; a refusal by the team is its right end."""
    if isinstance(error, BaseExceptionGroup):
        inner = cast("Sequence[BaseException]", error.exceptions)
        return [reason for each in inner for reason in reasons(each)]
    if isinstance(error, PeerRefusedError | ProcessDiedError | asyncio.CancelledError):
        return []
    return [f"{type(error).__name__}: {error}"]
