"""Agent programs without processes: they play their script, and outlive the daemon's crashes."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ov_es_adapters.ports import ProcessIdentity, RunRequest
from ov_es_adapters.runtimes.playbook import (
    Commit,
    Edit,
    Flood,
    PolicyBlock,
    Raw,
    ScriptedRun,
    Shell,
    Step,
    Text,
    Tool,
    arguments_for,
)
from ov_es_adapters.runtimes.process_stop import GRACE_SECONDS
from ov_es_adapters.simulation.incarnation import Incarnation
from ov_es_adapters.simulation.printed import Printed
from ov_es_adapters.simulation.worktrees import Workspace
from ov_es_domain.observation import RunEnding

_FIRST_PID = 2000
_TERMINATED, _KILLED = -15, -9

TeamCall = Callable[[str, Mapping[str, object]], str]
"""Calls a team tool for a run, and returns why it failed, or "" when it didn't."""


@dataclass(slots=True, kw_only=True)
class SimulatedProcess:
    """One launch of an agent program, with what it printed so far."""

    identity: ProcessIdentity
    source: str
    script: ScriptedRun
    workspace: Workspace | None
    """Where it works; None: nowhere, so that it can't edit anything."""
    call_team: TeamCall
    disabled_tools: frozenset[str]
    printed: Printed
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the leader has ended; its children may live on."""
    ending: RunEnding | None = None
    """What ended it, decided by whoever came first (RN-6)."""
    exit_status: int | None = None
    children: int = 0
    started_at: float = 0.0
    """Seconds since the start of the simulation."""
    ended_at: float | None = None
    """When the last of its processes was gone; None: not yet."""
    task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the leader still runs."""
        return not self.gone.is_set()

    @property
    def living(self) -> int:
        """Return how many of its processes there are, children included."""
        return self.children + (1 if self.is_running else 0)

    async def play(self) -> None:
        """Do all steps, the time spread evenly before them, and exit."""
        script = self.script
        pause = script.takes / max(len(script.does), 1)
        if not script.does:
            await asyncio.sleep(pause)
        for step in script.does:
            await asyncio.sleep(pause)
            self._do(step)
        self.children = script.children
        if script.hangs:
            await asyncio.Event().wait()
        self.printed.end(succeeded=script.exit == 0)
        self._exit(RunEnding.EXITED, script.exit)
        self._note_end()

    async def end(self, ending: RunEnding) -> None:
        """End it: the polite signal, grace, then force; with all that it left behind."""
        if self.is_running:
            self.ending = self.ending or ending
            if self.script.ignores_term:
                await self._wait_for_grace()
            if self.is_running and self.task is not None:
                self.task.cancel()
                self._exit(ending, _KILLED if self.script.ignores_term else _TERMINATED)
        self.children = 0
        self._note_end()

    def _note_end(self) -> None:
        if self.ended_at is None and not self.living:
            self.ended_at = asyncio.get_running_loop().time()

    async def _wait_for_grace(self) -> None:
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await self.gone.wait()
        except TimeoutError:
            return

    def _exit(self, ending: RunEnding, status: int) -> None:
        self.ending = self.ending or ending
        self.exit_status = status
        self.gone.set()

    def _do(self, step: Step) -> None:
        match step:
            case Text(text=text):
                self.printed.text(text)
            case Tool(tool=tool, args=args, error=error):
                given = arguments_for(self.source, tool, args)
                self.printed.called(tool, given, self._call(tool, given, must_fail=error))
            case Edit(path=path):
                self._edit(path)
            case Shell(command=command, exit=status):
                self.printed.ran(command, status or 0)
            case Commit():
                is_done = self.workspace is not None and self.workspace.commit()
                self.printed.ran("git add --all && git commit", 0 if is_done else 1)
            case PolicyBlock(root=root):
                self.printed.needs_authorization(root)
            case Raw(line=line):
                self.printed.raw(line)
            case Flood(megabytes=megabytes):
                self.printed.flood(megabytes)

    def _call(self, tool: str, given: Mapping[str, object], *, must_fail: bool) -> str:
        if must_fail:
            return "scripted to fail"
        if tool in self.disabled_tools:
            return f"{tool} is disabled for this run"
        return self.call_team(tool, given)

    def _edit(self, path: str) -> None:
        if self.workspace is None:
            self.printed.edited(path, "this run has no directory of its own")
            return
        self.workspace.edit(path)
        self.printed.edited(path, "")


class Machine:
    """All simulated processes of agent programs, dead and alive."""

    def __init__(self) -> None:
        """Start with none."""
        self.processes: list[SimulatedProcess] = []

    def launches(self, source: str) -> int:
        """Return how often a program was started for a source."""
        return sum(process.source == source for process in self.processes)

    def identity(self, request: RunRequest) -> ProcessIdentity:
        """Return the identity of the next process."""
        number = len(self.processes)
        return ProcessIdentity(
            pid=_FIRST_PID + number, started=f"boot:{number}", marker=request.execution
        )

    @property
    def living(self) -> list[SimulatedProcess]:
        """Return those of which something still runs."""
        return [process for process in self.processes if process.living]


class SimulatedProcesses:
    """The processes as one incarnation sees them (`Processes`)."""

    def __init__(self, machine: Machine, incarnation: Incarnation) -> None:
        """Look at `machine` while `incarnation` lives."""
        self._machine = machine
        self._incarnation = incarnation

    def is_alive(self, identity: ProcessIdentity) -> bool:
        """Tell whether exactly this process still runs."""
        self._incarnation.check()
        return any(
            process.is_running
            and (process.identity.pid, process.identity.started)
            == (identity.pid, identity.started)
            for process in self._machine.living
        )

    async def end(self, identity: ProcessIdentity) -> int:
        """End what carries the marker of `identity`; return how many processes were found."""
        self._incarnation.check()
        found = [p for p in self._machine.living if p.identity.marker == identity.marker]
        count = sum(process.living for process in found)
        for process in found:
            await process.end(RunEnding.STOPPED)
        self._incarnation.check()
        return count
