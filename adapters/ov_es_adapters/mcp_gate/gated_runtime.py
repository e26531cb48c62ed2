"""Puts a gate between every run of a runtime and the team's tools."""

from contextlib import AsyncExitStack
from dataclasses import replace

from ov_es_adapters.mcp_gate.gate import Gate, Upstream
from ov_es_adapters.mcp_gate.gate_socket import GateFolder, OpenGate
from ov_es_adapters.ports import ProcessIdentity, Run, RunRequest, Runtime
from ov_es_adapters.redaction import Redactor
from ov_es_adapters.runtimes.cli_run import UnstartedRun
from ov_es_domain.observation import RunReport


class GatedRuntime:
    """A runtime whose runs have the team's tools through a gate of their own, and no key."""

    def __init__(
        self, runtime: Runtime, upstream: Upstream, *, folder: GateFolder, redactor: Redactor
    ) -> None:
        """`upstream` holds the credentials; `folder` is where the sockets are."""
        self._runtime = runtime
        self._upstream = upstream
        self._folder = folder
        self._redactor = redactor

    @property
    def name(self) -> str:
        """The runtime's own name."""
        return self._runtime.name

    async def start(self, request: RunRequest) -> Run:
        """Open the gate, then start the run; one whose gate can't be opened isn't started."""
        gate = Gate(self._upstream, disabled=request.disabled_tools, redactor=self._redactor)
        try:
            opened = await OpenGate.open(gate, self._folder, request.execution)
        except OSError as error:
            return UnstartedRun(f"its MCP gate can't be opened: {error.strerror or error}")
        async with AsyncExitStack() as unless_it_starts:
            unless_it_starts.push_async_callback(opened.aclose)
            run = await self._runtime.start(replace(request, team_server=opened.command))
            unless_it_starts.pop_all()
        return GatedRun(run, opened)


class GatedRun:
    """A run with its gate."""

    def __init__(self, run: Run, gate: OpenGate) -> None:
        self._run = run
        self._gate = gate

    @property
    def identity(self) -> ProcessIdentity | None:
        """The process of the run itself."""
        return self._run.identity

    async def wait(self) -> RunReport:
        """Return its report with what the gate has seen (PX-10)."""
        try:
            report = await self._run.wait()
        finally:
            await self._gate.aclose()
        return replace(report, witnessed=self._gate.gate.calls)

    async def stop(self) -> None:
        """Let nothing more through, then end it."""
        await self._gate.aclose()
        await self._run.stop()
