"""What the daemon needs of the world, as Protocols.

The real daemon gets sockets and processes, the simulation a virtual world; neither can tell.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ov_es_domain.observation import RunReport, WorkspaceChange


class Clock(Protocol):
    """Time. Waiting is asyncio's: in the simulation the event loop itself is virtual."""

    def now(self) -> float:
        """Return the wall clock in seconds since the epoch; it may jump."""
        ...

    def monotonic(self) -> float:
        """Return seconds that only ever grow."""
        ...


class Ids(Protocol):
    """Where new ids come from."""

    def execution(self) -> str:
        """Return a new execution id, unique over all hosts."""
        ...


# --- the socket ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConnectionOpened:
    """The socket is open; `number` counts connections of this process from 1."""

    number: int


@dataclass(frozen=True, slots=True)
class FrameReceived:
    """One text frame, as it came."""

    text: str
    number: int
    """The connection that it came over."""


@dataclass(frozen=True, slots=True)
class FrameRejected:
    """A frame that could not be taken: too large, or no text."""

    reason: str
    number: int


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The socket is gone, and will be made again unless `is_refused`."""

    number: int
    reason: str
    """Redacted: addresses carry the key (SEC-101)."""
    is_refused: bool
    """The server refused our credentials: making it again is no use (exit 3)."""
    retry_in: float | None
    """Seconds until the next attempt."""


ConnectionEvent: TypeAlias = ConnectionOpened | FrameReceived | FrameRejected | ConnectionLost


class FrameSource(Protocol):
    """The receiving end of the team's socket."""

    def events(self) -> AsyncGenerator[ConnectionEvent, None]:
        """Yield what happens, for ever; closing the generator closes the socket."""
        ...


# --- the team's tools -------------------------------------------------------------------------


class ToolCaller(Protocol):
    """Calls of the team's MCP tools, with content unpacked to data."""

    async def call(self, tool: str, arguments: Mapping[str, object]) -> object:
        """Call a tool once.

        Returns: the structured content if there is one, else the text parts joined and parsed as
        JSON, else that text.
        Raises: CallNotAppliedError, CallRefusedError, CallUnknownError, PeerRefusedError.
        """
        ...

    async def advertised(self, *, refresh: bool = False) -> frozenset[str]:
        """Return the names of the tools that the server lists, all pages.

        Raises: ToolCallError when discovery failed (then no optional tool is known).
        """
        ...


# --- runs --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessIdentity:
    """Enough to recognise a process later: a pid alone may be somebody else's by then."""

    pid: int
    started: str
    """Boot id and start time in ticks; "" where the system doesn't tell."""
    marker: str
    """The value of OV_ES_RUN in its environment, and in that of all its descendants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One launch of an agent program."""

    source: str
    lane: str
    kind: str
    attempt: int
    execution: str
    prompt: str
    system_prompt: str
    directory: str | None
    """Where it works; None: it may not touch code (RN-4)."""
    model: str | None
    """None: the program decides (CY-3)."""
    time_limit_seconds: float
    disabled_tools: frozenset[str]
    team_server: tuple[str, ...] = ()
    """What starts the run's own MCP server on stdio, without any secret; empty: no team tools
    (RN-11)."""
    conversation: str | None = None
    """A conversation of this program to go on with; None: a new one (ACP-102)."""


class Run(Protocol):
    """A running agent program."""

    @property
    def identity(self) -> ProcessIdentity | None:
        """The leader of its process group; None when it couldn't be started."""
        ...

    async def wait(self) -> RunReport:
        """Return the report once the process and all its descendants are gone (RN-7)."""
        ...

    async def stop(self) -> None:
        """End it: the polite signal to the group, grace, then force; returns when it's gone."""
        ...


class Runtime(Protocol):
    """A kind of agent program."""

    @property
    def name(self) -> str:
        """`claude`, `codex`, `opencode` or `scripted`."""
        ...

    async def start(self, request: RunRequest) -> Run:
        """Start a run; one that can't start is a Run whose report says NOT_STARTED (RN-8)."""
        ...


class Processes(Protocol):
    """The processes of this machine, for recovery after a crash."""

    def is_alive(self, identity: ProcessIdentity) -> bool:
        """Tell whether exactly this process still runs."""
        ...

    async def end(self, identity: ProcessIdentity) -> int:
        """End it and whatever else carries its marker; return how many were found.

        A process with the same pid but another start time is never signalled (PRC-11).
        """
        ...


# --- directories -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WorkspaceSnapshot:
    """What git said of a directory before a run; opaque to the daemon."""

    directory: str
    head: str
    refs: str
    status: str


class Worktrees(Protocol):
    """The directories in which work happens."""

    async def find(self, ticket_id: str, slug: str) -> str | None:
        """Return where the ticket's work belongs below the workspace, or None (GIT-102).

        It's there already, or `prepare` would make it.
        """
        ...

    async def prepare(self, ticket_id: str, slug: str) -> str | None:
        """Return the ticket's own worktree, made if need be; None: it has none (GIT-103)."""
        ...

    async def snapshot(self, directory: str) -> WorkspaceSnapshot | None:
        """Look at a directory before a run; None: git can't tell, so nothing is proven."""
        ...

    async def compare(self, before: WorkspaceSnapshot | None) -> WorkspaceChange:
        """Look again after the run, and say what changed (EV-17)."""
        ...
