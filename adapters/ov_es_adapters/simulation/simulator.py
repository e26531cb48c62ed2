"""Plays a scenario through the real daemon in a world of its own, and collects what came out."""

import asyncio
from dataclasses import dataclass
from typing import Any

from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.daemon.world import Host, World
from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.redaction import Redactor
from ov_es_adapters.simulation.frames import SimulatedFrames, TeamSocket
from ov_es_adapters.simulation.incarnation import Incarnation
from ov_es_adapters.simulation.log import Death, Storage, log_of
from ov_es_adapters.simulation.processes import Machine, SimulatedProcesses
from ov_es_adapters.simulation.result import Outcome
from ov_es_adapters.simulation.runtimes import SimulatedIds, SimulatedRuntime, start_counter
from ov_es_adapters.simulation.scenario import Scenario
from ov_es_adapters.simulation.service import Service, reasons
from ov_es_adapters.simulation.steps import (
    ClockStep,
    CrashStep,
    DisconnectStep,
    DiskStep,
    FrameStep,
    InterruptStep,
    RestartStep,
    Step,
    StopStep,
    TeamStep,
)
from ov_es_adapters.simulation.team import SimulatedTeam
from ov_es_adapters.simulation.tools import Network, SimulatedTools, TeamServer
from ov_es_adapters.simulation.truth import Truth
from ov_es_adapters.simulation.violations import Evidence, violations
from ov_es_adapters.simulation.virtual_clock import VirtualClock, VirtualLoop, run_virtually
from ov_es_adapters.simulation.worktrees import WORKSPACE, Disk, SimulatedWorktrees
from ov_es_adapters.simulation.world_tasks import WorldTasks

_FIRST_PID = 1000
_LOOK_SECONDS = 30.0
_QUIET_LOOKS = 11
"""So many looks without news are longer than the time between two reconciliations."""
_PLAY_ON_SECONDS_MAX = 4 * 3600.0
_OPEN_DELIVERIES = ("planned", "attempting", "unknown")


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """What a simulation does beyond its scenario."""

    seed: int = 0
    """0: nothing is left to chance."""
    death: Death | None = None
    """Where the process dies beyond what the scenario says; None: nowhere."""
    plays_on: bool = False
    """Whether it goes on after the scenario's end until nothing is left to do."""


def simulate(scenario: Scenario, disturbance: Disturbance | None = None) -> Outcome:
    """Play a scenario. The same disturbance gives the same outcome, bit by bit."""
    disturbed = disturbance or Disturbance()

    async def main(loop: VirtualLoop) -> Outcome:
        simulation = _Simulation(scenario, disturbed, loop)
        try:
            return await simulation.play()
        finally:
            await simulation.close()

    return run_virtually(main, seed=disturbed.seed)


class _Simulation:
    """One world, and the daemon in it."""

    def __init__(self, scenario: Scenario, disturbance: Disturbance, loop: VirtualLoop) -> None:
        self._scenario = scenario
        self._disturbance = disturbance
        self._loop = loop
        self._clock = VirtualClock(loop)
        self._tasks = WorldTasks()
        self._machine = Machine()
        self._disk = Disk()
        self._socket = TeamSocket(loop)
        self._following_id = start_counter()
        self._storage = Storage(
            log=open_log("sqlite:///:memory:", tracked=()), time=loop.time, death=disturbance.death
        )
        self._team = SimulatedTeam(scenario, self._clock)
        self._settings = WatchSettings(
            agent=scenario.agent,
            workdir=WORKSPACE if scenario.watch.has_workspace else None,
            concurrency=scenario.watch.concurrency,
            model=scenario.watch.model,
            chat_model=scenario.watch.chat_model,
            # No story has an operator, and a look for one each second costs as much as the story.
            notice_seconds=600.0,
        )
        self._server = TeamServer(
            apply=self._team.call_by_watcher,
            tools=self._team.tools,
            faults=scenario.faults.begin(),
            network=Network(disturbance.seed),
            world=self._tasks,
            deadline_seconds=self._settings.call_deadline_seconds,
        )
        self._service = Service(
            self._make_world,
            self._settings,
            storage=self._storage,
            socket=self._socket,
            world=self._tasks,
            is_restart_planned=self._is_restart_planned,
        )
        self._steps_left = list(scenario.steps)
        loop.set_exception_handler(self._notice_exception)

    def _make_world(self, incarnation: Incarnation, frames: SimulatedFrames) -> World:
        """Give a new process its ports, all of which end with it."""
        return World(
            log=log_of(self._storage, incarnation),
            clock=self._clock,
            ids=SimulatedIds(self._following_id, incarnation),
            frames=frames,
            tools=SimulatedTools(self._server, incarnation),
            runtime=SimulatedRuntime(
                self._scenario.watch.runtime,
                self._scenario.playbook,
                machine=self._machine,
                disk=self._disk,
                world=self._tasks,
                incarnation=incarnation,
                call_team=self._team.call_by_run,
            ),
            processes=SimulatedProcesses(self._machine, incarnation),
            worktrees=SimulatedWorktrees(
                self._disk, incarnation, has_workspace=self._scenario.watch.has_workspace
            ),
            host=Host(name="simulation", pid=_FIRST_PID + incarnation.number),
            redactor=Redactor(),
        )

    # --- the story -------------------------------------------------------------------------------

    async def play(self) -> Outcome:
        """Do all steps at their times, and say what the world looks like at the end."""
        self._service.start()
        while self._steps_left:
            await self._sleep_until(self._steps_left[0].at)
            await self._do(self._steps_left.pop(0))
        await self._sleep_until(self._scenario.until)
        if self._disturbance.plays_on:
            await self._play_on()
        return self._look()

    async def close(self) -> None:
        """End the world."""
        await self._tasks.end()
        self._storage.log.close()

    async def _sleep_until(self, at: float) -> None:
        await asyncio.sleep(max(0.0, at - self._loop.time()))

    async def _do(self, step: Step) -> None:
        match step:
            case FrameStep(text=text):
                self._team.announce(text)
                self._socket.send(text)
            case TeamStep(change=change):
                self._team.change(change)
            case DisconnectStep(seconds=seconds):
                self._socket.cut(seconds)
            case CrashStep():
                await self._service.crash()
            case RestartStep(is_upgrade=is_upgrade):
                self._service.restart(is_upgrade=is_upgrade)
            case StopStep():
                self._service.stop()
            case InterruptStep(source=source):
                self._service.interrupt(source)
            case ClockStep(jump=jump):
                self._clock.jump(jump)
            case DiskStep(is_full=is_full):
                self._storage.is_full = is_full

    def _is_restart_planned(self) -> bool:
        """Tell whether the next thing that happens to the process is that it's started again."""
        for step in self._steps_left:
            if isinstance(step, CrashStep | StopStep | RestartStep):
                return isinstance(step, RestartStep)
        return False

    async def _play_on(self) -> None:
        """Wait until nothing has been left to do for a while, or for ever is long enough."""
        end = self._loop.time() + _PLAY_ON_SECONDS_MAX
        quiet = 0
        while quiet < _QUIET_LOOKS and self._loop.time() < end:
            await asyncio.sleep(_LOOK_SECONDS)
            quiet = quiet + 1 if self._is_quiet() else 0

    def _is_quiet(self) -> bool:
        log = self._storage.log
        return (
            self._service.is_settled
            and not self._machine.living
            and not log.select("deliveries", {"state": _OPEN_DELIVERIES})
            and not log.select("open_turns")
        )

    # --- the end ---------------------------------------------------------------------------------

    def _notice_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        del loop
        error = context.get("exception")
        if isinstance(error, BaseException):
            self._service.failures += reasons(error)
        else:
            self._service.failures.append(str(context.get("message", "")))

    def _look(self) -> Outcome:
        self._service.finish()
        log = self._storage.log
        events = list(log.stream())
        truth = Truth(
            posts=self._team.posts,
            ticket_updates=self._team.ticket_updates,
            comments=self._team.comments,
            processes=tuple(
                process.identity.marker
                for process in self._machine.living
                for _ in range(process.living)
            ),
        )
        evidence = Evidence(
            events=events,
            wall=self._clock.now(),
            posts=truth.posts,
            processes=self._machine.processes,
            rows=log.select,
            frames=self._service.taken,
            failures=self._service.failures,
        )
        return Outcome(
            name=self._scenario.name,
            seed=self._disturbance.seed,
            ended_at=self._loop.time(),
            commits=self._storage.commits,
            events=events,
            times=self._storage.times,
            truth=truth,
            violations=violations(evidence),
        )
