"""The team's tools without a wire: each call takes its time, and goes wrong where it's told to.

A request that is on its way arrives, whatever becomes of the process that sent it: what it does
to the team is the world's task, and only the answer is the caller's.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ov_es_adapters.errors import CallRefusedError, ToolCallError
from ov_es_adapters.mcp.failures import FailureKind, RequestFailedError
from ov_es_adapters.mcp.outcomes import call_error, refusal
from ov_es_adapters.redaction import Redactor
from ov_es_adapters.simulation.incarnation import Incarnation, ProcessDiedError
from ov_es_adapters.simulation.world_tasks import WorldTasks
from ov_es_adapters.team.faults import Fault, FaultKind, FaultPlan
from ov_es_domain.errors import OvEsError

CALL_SECONDS = 0.05
_LATENCY_SECONDS_MAX = 0.03
_METHOD = "tools/call"

Apply = Callable[[str, Mapping[str, object]], object]
"""Does a call to the team, now, and in the watcher's name. Raises: CallRefusedError."""


class Network:
    """How long requests take; with a seed other than 0 each one a little longer, by chance."""

    def __init__(self, seed: int) -> None:
        """The same seed gives the same times."""
        self._chance = random.Random(f"network {seed}") if seed else None  # noqa: S311 - no secret

    def seconds(self) -> float:
        """Return the time of one request, there and back."""
        if self._chance is None:
            return CALL_SECONDS
        return CALL_SECONDS + self._chance.random() * _LATENCY_SECONDS_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamServer:
    """The other end of every call; it outlives all processes."""

    apply: Apply
    tools: frozenset[str]
    faults: FaultPlan
    network: Network
    world: WorldTasks
    deadline_seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server made of a request."""

    data: object = None
    refusal: str | None = None
    """Why it said no; None: it didn't."""


class SimulatedTools:
    """The tools as one incarnation reaches them (`ToolCaller`)."""

    def __init__(self, server: TeamServer, incarnation: Incarnation) -> None:
        """Call `server` in the name of `incarnation`."""
        self._server = server
        self._incarnation = incarnation
        self._redactor = Redactor()

    async def advertised(self, *, refresh: bool = False) -> frozenset[str]:
        """Return the names of the tools that the server lists."""
        del refresh
        await self._pass(self._server.network.seconds())
        return self._server.tools - self._server.faults.unlisted

    async def call(self, tool: str, arguments: Mapping[str, object]) -> object:
        """Call a tool once; what it raises is what the real caller makes of the same failure.

        Raises: ToolCallError, PeerRefusedError.
        """
        self._incarnation.check()
        server = self._server
        seconds = server.network.seconds()
        if tool not in server.tools - server.faults.unlisted:
            await self._pass(seconds)
            raise refusal(tool, f"unknown tool: {tool}", self._redactor)
        fault = server.faults.strike(tool)
        if fault is None:
            return await self._ask(tool, arguments, seconds)
        return await self._ask_in_vain(tool, arguments, fault, seconds)

    async def _ask_in_vain(  # noqa: C901 - one answer for each kind of fault
        self, tool: str, arguments: Mapping[str, object], fault: Fault, seconds: float
    ) -> object:
        """Call a tool when something goes wrong on the way."""
        deadline = self._server.deadline_seconds
        match fault.kind:
            case FaultKind.REFUSED:
                await self._pass(seconds)
                raise self._failed(tool, FailureKind.NOT_SENT, "the connection was refused")
            case FaultKind.HTTP:
                await self._pass(seconds)
                raise self._failed(
                    tool, FailureKind.HTTP, f"HTTP status {fault.status}", status=fault.status
                )
            case FaultKind.ERROR:
                await self._pass(seconds)
                raise refusal(tool, "the tool reported an error", self._redactor)
            case FaultKind.TIMEOUT_BEFORE:
                await self._pass(deadline)
                raise self._timed_out(tool)
            case FaultKind.TIMEOUT_AFTER:
                self._send(tool, arguments, seconds)
                await self._pass(deadline)
                raise self._timed_out(tool)
            case FaultKind.LATE:
                return await self._ask(tool, arguments, fault.by or 0.0)
            case FaultKind.GARBAGE:
                await asyncio.wait({self._send(tool, arguments, seconds)})
                self._incarnation.check()
                raise self._failed(tool, FailureKind.UNREADABLE, "the answer is no JSON")
            case FaultKind.CRASH_BEFORE:
                await self._pass(seconds)
                self._incarnation.die()
                raise ProcessDiedError(self._incarnation.number)
            case FaultKind.CRASH_AFTER:
                arriving = self._send(tool, arguments, seconds)
                arriving.add_done_callback(lambda _: self._incarnation.die())
                await asyncio.wait({arriving})
                raise ProcessDiedError(self._incarnation.number)
            case FaultKind.UNLISTED:
                raise AssertionError("a tool that isn't listed is told apart before")

    async def _ask(self, tool: str, arguments: Mapping[str, object], seconds: float) -> object:
        """Send a request that arrives after so many seconds, and wait until the deadline."""
        arriving = self._send(tool, arguments, seconds)
        await asyncio.wait({arriving}, timeout=self._server.deadline_seconds)
        self._incarnation.check()
        if not arriving.done():
            raise self._timed_out(tool)
        answer = arriving.result()
        if answer.refusal is not None:
            raise refusal(tool, answer.refusal, self._redactor)
        return answer.data

    def _send(
        self, tool: str, arguments: Mapping[str, object], seconds: float
    ) -> "asyncio.Task[Answer]":
        """Put a request on its way: from here on nobody can call it back."""
        return self._server.world.start(_arrive(self._server, tool, dict(arguments), seconds))

    async def _pass(self, seconds: float) -> None:
        self._incarnation.check()
        await asyncio.sleep(seconds)
        self._incarnation.check()

    def _timed_out(self, tool: str) -> OvEsError:
        seconds = self._server.deadline_seconds
        return self._failed(tool, FailureKind.TIMEOUT, f"no whole answer within {seconds:g} s")

    def _failed(
        self, tool: str, kind: FailureKind, message: str, *, status: int | None = None
    ) -> OvEsError:
        return call_error(
            RequestFailedError(kind, _METHOD, message, status=status), tool, self._redactor
        )


async def _arrive(
    server: TeamServer, tool: str, arguments: Mapping[str, object], seconds: float
) -> Answer:
    await asyncio.sleep(seconds)
    try:
        return Answer(server.apply(tool, arguments))
    except CallRefusedError as error:
        return Answer(refusal=error.reason)
    except ToolCallError as error:
        return Answer(refusal=error.reason)
