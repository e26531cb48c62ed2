"""Runs agent programs that only exist in the simulation."""

import asyncio
from collections.abc import Callable

from ov_es_adapters.ports import ProcessIdentity, Run, RunRequest
from ov_es_adapters.runtimes.playbook import Playbook
from ov_es_adapters.simulation.incarnation import Incarnation
from ov_es_adapters.simulation.printed import Printed
from ov_es_adapters.simulation.processes import Machine, SimulatedProcess, TeamCall
from ov_es_adapters.simulation.worktrees import Disk
from ov_es_adapters.simulation.world_tasks import WorldTasks
from ov_es_domain.observation import RunEnding, RunReport


class SimulatedRun:
    """A running program, as the incarnation that started it sees it (`Run`)."""

    def __init__(
        self, process: SimulatedProcess, incarnation: Incarnation, *, time_limit_seconds: float
    ) -> None:
        """Watch `process`; the limit ends with the incarnation, as the real watch does."""
        self._process = process
        self._incarnation = incarnation
        self._deadline = asyncio.get_running_loop().time() + time_limit_seconds
        self._limit = time_limit_seconds

    @property
    def identity(self) -> ProcessIdentity | None:
        """The leader of its process group."""
        return self._process.identity

    async def wait(self) -> RunReport:
        """Return the report once the process and all its descendants are gone."""
        self._incarnation.check()
        process = self._process
        error = ""
        try:
            async with asyncio.timeout_at(self._deadline):
                await process.gone.wait()
        except TimeoutError:
            self._incarnation.check()
            error = f"the limit of {self._limit:g} s is over"
            await process.end(RunEnding.TIMED_OUT)
        self._incarnation.check()
        await process.end(RunEnding.EXITED)
        return RunReport(
            ending=process.ending or RunEnding.EXITED,
            exit_status=process.exit_status,
            stream=process.printed.conclude(process.exit_status),
            error=error,
        )

    async def stop(self) -> None:
        """End it; returns when it's gone."""
        self._incarnation.check()
        await self._process.end(RunEnding.STOPPED)
        self._incarnation.check()


class SimulatedRuntime:
    """Starts what the scenario's `runs` say, in the order of the launches of each source."""

    def __init__(  # noqa: PLR0913 - the parts of the world that a program touches
        self,
        name: str,
        playbook: Playbook,
        *,
        machine: Machine,
        disk: Disk,
        world: WorldTasks,
        incarnation: Incarnation,
        call_team: TeamCall,
    ) -> None:
        """`call_team` is how programs reach the team's tools."""
        self._name = name
        self._playbook = playbook
        self._machine = machine
        self._disk = disk
        self._world = world
        self._incarnation = incarnation
        self._call_team = call_team

    @property
    def name(self) -> str:
        """Return the kind of agent program that it stands for."""
        return self._name

    async def start(self, request: RunRequest) -> Run:
        """Start a program."""
        self._incarnation.check()
        attempt = self._machine.launches(request.source) + 1
        workspace = None
        if request.directory is not None:
            workspace = self._disk.workspace(request.directory)
        process = SimulatedProcess(
            identity=self._machine.identity(request),
            source=request.source,
            script=self._playbook.run(request.source, attempt),
            workspace=workspace,
            call_team=self._call_team,
            disabled_tools=request.disabled_tools,
            printed=Printed(self._name, session=request.execution, directory=request.directory),
            started_at=asyncio.get_running_loop().time(),
        )
        self._machine.processes.append(process)
        process.task = self._world.start(process.play())
        return SimulatedRun(
            process, self._incarnation, time_limit_seconds=request.time_limit_seconds
        )


def start_counter() -> Callable[[], int]:
    """Return a function that counts from 1."""
    count = 0

    def following() -> int:
        nonlocal count
        count += 1
        return count

    return following


class SimulatedIds:
    """Execution ids that are counted over all incarnations (`Ids`)."""

    def __init__(self, following: Callable[[], int], incarnation: Incarnation) -> None:
        """`following` is the world's own counter."""
        self._following = following
        self._incarnation = incarnation

    def execution(self) -> str:
        """Return a new execution id."""
        self._incarnation.check()
        return f"execution-{self._following()}"
