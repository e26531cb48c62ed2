"""All that a watcher is given: the one value that the simulation makes differently."""

from dataclasses import dataclass

from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.ports import (
    Clock,
    FrameSource,
    Ids,
    Processes,
    Runtime,
    ToolCaller,
    Worktrees,
)
from ov_es_adapters.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The machine and process that the watcher runs in."""

    name: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The ports of one watcher."""

    log: EventLog
    clock: Clock
    ids: Ids
    frames: FrameSource
    tools: ToolCaller
    runtime: Runtime
    processes: Processes
    worktrees: Worktrees
    host: Host
    redactor: Redactor
