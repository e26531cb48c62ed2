"""The one place that builds real objects and wires them to a watcher's world."""

import os
import socket
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import orjson

from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.daemon.world import Host, World
from ov_es_adapters.errors import BadInputError, NotConfiguredError
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.git.worktrees import GitWorktrees
from ov_es_adapters.mcp.late_answers import LateAnswer
from ov_es_adapters.mcp.tool_caller import McpToolCaller
from ov_es_adapters.ports import Runtime
from ov_es_adapters.redaction import Redactor
from ov_es_adapters.runtimes.claude import ClaudeRuntime
from ov_es_adapters.runtimes.codex import CodexRuntime
from ov_es_adapters.runtimes.installed_program import InstalledProgram
from ov_es_adapters.runtimes.opencode import OpencodeRuntime
from ov_es_adapters.runtimes.playbook import Playbook, parse_playbook
from ov_es_adapters.runtimes.process_identity import LocalProcesses
from ov_es_adapters.runtimes.run_environment import inherited
from ov_es_adapters.runtimes.scripted import ScriptedRuntime
from ov_es_adapters.settings import Connection
from ov_es_adapters.websocket.connection import SocketSettings, WebSocketFrameSource


class InstalledRuntime(Protocol):
    """Makes the runtime of an installed program."""

    def __call__(self, program: InstalledProgram, *, state_folder: Path) -> Runtime:
        """`state_folder` is where runs work that have no directory of their own."""
        ...


INSTALLED_RUNTIMES: dict[str, tuple[str, InstalledRuntime]] = {
    "claude": ("Claude Code", ClaudeRuntime),
    "codex": ("Codex", CodexRuntime),
    "opencode": ("OpenCode", OpencodeRuntime),
}
"""Programs that a person installs, each with what people call it."""
RUNTIMES = (*INSTALLED_RUNTIMES, "scripted")


class SystemClock:
    """The machine's clocks."""

    def now(self) -> float:
        """Return the wall clock in seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that only ever grow."""
        return time.monotonic()


class RandomIds:
    """Ids that no two hosts make alike."""

    def execution(self) -> str:
        """Return a new execution id."""
        return uuid.uuid4().hex


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeChoice:
    """Which agent program runs, and what it needs."""

    name: str
    playbook: Path | None
    speed: float = 1.0
    recordings: Path | None = None


def read_playbook(path: Path) -> Playbook:
    """Read what the scripted agent does.

    Raises: BadInputError when the file can't be read, or holds something else.
    """
    try:
        return parse_playbook(orjson.loads(path.read_bytes()), str(path))
    except OSError as error:
        raise BadInputError(f"the playbook {path} can't be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise BadInputError(f"the playbook {path} is no JSON: {error}") from error


def make_runtime(choice: RuntimeChoice, *, home: Path, redact: Callable[[str], str]) -> Runtime:
    """Return the runtime of a name.

    Raises: BadInputError for an unknown one, NotConfiguredError for one that isn't installed.
    """
    if choice.name not in RUNTIMES:
        raise BadInputError(f"--runtime {choice.name}: use one of {', '.join(RUNTIMES)}")
    folder = home / "runs"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # The push helper, which a run may call, finds the authorizations there.
    environment = {**inherited(os.environ), "OV_ES_HOME": str(home.resolve())}
    if choice.name in INSTALLED_RUNTIMES:
        title, make = INSTALLED_RUNTIMES[choice.name]
        program = InstalledProgram(
            name=choice.name, title=title, environment=environment, redact=redact
        )
        if program.path is None:
            raise NotConfiguredError(program.missing)
        return make(program, state_folder=folder)
    return ScriptedRuntime(
        Playbook() if choice.playbook is None else read_playbook(choice.playbook),
        state_folder=folder,
        speed=choice.speed,
        recordings=choice.recordings,
        environment=environment,
        redact=redact,
    )


def make_tools(
    connection: Connection,
    *,
    deadline_seconds: float,
    on_late_answer: LateAnswer | None = None,
) -> McpToolCaller:
    """Return the team's tools over MCP."""
    return McpToolCaller(
        connection.mcp,
        api_key=connection.api_key,
        identifier=connection.agent,
        deadline_seconds=deadline_seconds,
        clock=SystemClock(),
        on_late_answer=on_late_answer,
        redactor=Redactor([connection.api_key]),
    )


def make_world(
    connection: Connection,
    *,
    log: EventLog,
    tools: McpToolCaller,
    runtime: Runtime,
    workdir: Path | None,
) -> World:
    """Wire a real world."""
    return World(
        log=log,
        clock=SystemClock(),
        ids=RandomIds(),
        frames=WebSocketFrameSource(
            SocketSettings(
                address=connection.ws,
                api_key=connection.api_key,
                identifier=connection.agent,
            )
        ),
        tools=tools,
        runtime=runtime,
        processes=LocalProcesses(),
        worktrees=GitWorktrees(workdir, identifier=connection.agent),
        host=Host(name=socket.gethostname(), pid=os.getpid()),
        redactor=Redactor([connection.api_key]),
    )


def identity_of(connection: Connection) -> AgentIdentity:
    """Return whom a connection is for."""
    return AgentIdentity(identifier=connection.agent, name=connection.name)
