"""What tests of reconciliation share: a team that notes its calls, and looks at it on a log."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from ov_es_adapters.daemon.intake import Intake
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step
from ov_es_adapters.daemon.reconciliation import Reconciliation
from ov_es_adapters.daemon.settings import AgentIdentity, WatchSettings
from ov_es_adapters.errors import CallRefusedError
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.git.worktrees import GitWorktrees
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.ports import ToolCaller
from ov_es_adapters.team.world import TeamWorld
from ov_es_adapters.vocabulary.reading import english
from ov_es_domain.identity import watch_key
from ov_es_domain.lifecycle import Command
from ov_es_domain.signal.arrival import Arrival
from ov_es_domain.signal.events import SignalAccepted, SignalRefused, SignalSuppressed
from ov_es_domain.turn.events import TurnQueued
from ov_es_domain.watch.commands import BeginWatch
from ov_es_domain.watch.events import WatchReconciled

ADA = AgentIdentity(identifier="ada", name="Ada", id=7)
MAYA = {"id": 1, "name": "Maya"}
BOB = {"id": 8, "identifier": "bob", "name": "Bob"}
ROOT = "/src/core"


def ticket(number: int, **more: Any) -> dict[str, object]:
    """Return a ticket of ours, as scenarios have it."""
    return {
        "id": number,
        "project_id": 1,
        "slug": f"COR-{number}",
        "title": "Fix the login form",
        "description": "It drops the password in login.py.",
        "status": "todo",
        "agent_id": 7,
        "priority": "medium",
        "updated_at": "2026-01-01T00:00:00Z",
        **more,
    }


def message(number: int, content: str = "@Ada what's the status?", **more: Any) -> dict[str, Any]:
    """Return what Maya says, as scenarios have it."""
    said = {"id": number, "channel_id": 10, "parent_id": None, "person": 1, "content": content}
    return {**said, **more}


def team(**lists: object) -> dict[str, object]:
    """Return a team of one project, as scenarios have it."""
    return {
        "people": [MAYA],
        "agents": [BOB],
        "projects": [{"id": 1, "name": "Core", "channel_id": 10}],
        "channels": [{"id": 10, "project_id": 1, "name": "core"}],
        **lists,
    }


class NotedTeam:
    """A real team in memory whose calls are noted; its lists can be made to lie, or to fail."""

    def __init__(self, **lists: object) -> None:
        self.world = TeamWorld(team(**lists), ADA)
        self.calls: list[tuple[str, dict[str, object]]] = []
        self.lies: dict[str, object] = {}
        """Answers in place of the team's own; an exception is raised."""
        self.closed_projects: frozenset[object] = frozenset()
        """The projects whose tasks can't be listed."""
        self.unlisted: frozenset[str] = frozenset()
        self.gate: asyncio.Event | None = None
        """Where there is one, `list_agents` waits for it."""
        self.is_asked = asyncio.Event()
        self.looking = 0
        self.looking_most = 0

    @property
    def tools(self) -> list[str]:
        return [tool for tool, _ in self.calls]

    async def advertised(self, *, refresh: bool = False) -> frozenset[str]:
        del refresh
        return self.world.tools - self.unlisted

    async def call(self, tool: str, arguments: Mapping[str, object]) -> object:
        self.calls.append((tool, dict(arguments)))
        self.is_asked.set()
        self.looking += tool == "list_agents"
        self.looking_most = max(self.looking_most, self.looking)
        try:
            await (self.gate.wait() if self.gate and tool == "list_agents" else asyncio.sleep(0))
        finally:
            self.looking -= tool == "list_agents"
        if tool == "list_tasks" and arguments["project_id"] in self.closed_projects:
            raise CallRefusedError(tool, f"project {arguments['project_id']} is closed to you")
        lie = self.lies.get(tool)
        if isinstance(lie, Exception):
            raise lie
        return lie or self.world.call(tool, arguments, agent=7, now=0.0, by="watcher")


class Noon:
    """A clock that stands."""

    def now(self) -> float:
        return 1_800_000_000.0

    def monotonic(self) -> float:
        return 0.0


class Process:
    """One life of what looks at the team, on a log that may have a past."""

    def __init__(self, log: EventLog, caller: ToolCaller, *, roots: tuple[str, ...] = ()) -> None:
        settings = WatchSettings(agent=ADA, workdir="/src")
        self.ledger = Ledger(log, Noon(), unhealthy_after_seconds=5.0)
        client = TeamClient(caller)
        self.intake = Intake(
            self.ledger, client, GitWorktrees(None), settings, english(), lambda: roots
        )
        self.caught_up = 0
        self._has_begun = False
        self.reconciliation = Reconciliation(
            self.ledger,
            client,
            self.intake,
            clock=Noon(),
            settings=settings,
            on_caught_up=self._notice,
        )

    def _notice(self) -> None:
        self.caught_up += 1

    async def say(self, key: str, *commands: Command) -> None:
        """Record what else happened to an aggregate."""
        steps = [Step(key, command) for command in commands]
        await self.ledger.commit(lambda _: Decision(steps=steps, cause="test", correlation=key))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[Reconciliation]:
        """Let it look whenever it's asked to, as long as the block lasts."""
        if not self._has_begun:
            begin = BeginWatch(agent="ada", host="here", pid=1, program="ov-es")
            await self.ledger.begin(watch_key("ada"), begin)
            self._has_begun = True
        task = asyncio.create_task(self.reconciliation.run())
        try:
            yield self.reconciliation
        finally:
            task.cancel()
            await asyncio.wait({task})
            assert task.cancelled(), "a look must not end the looking"

    async def look(self, *, times: int = 1) -> None:
        """Look at the whole team, one time after the other."""
        async with self.running() as reconciliation:
            for _ in range(times):
                reconciliation.request("connection")
                await reconciliation.finished()


def outcomes(log: EventLog) -> list[tuple[str, str, str]]:
    """Return of each arrival what it was about, what came of it, and why."""
    names = {SignalAccepted: "accepted", SignalRefused: "refused", SignalSuppressed: "suppressed"}
    return [
        (event.body.arrival.source, names[type(event.body)], event.body.reason)
        for event in log.stream()
        if isinstance(event.body, SignalAccepted | SignalRefused | SignalSuppressed)
    ]


def arrivals(log: EventLog) -> list[Arrival]:
    """Return what was accepted, as it arrived."""
    return [e.body.arrival for e in log.stream() if isinstance(e.body, SignalAccepted)]


def queued(log: EventLog) -> list[str]:
    """Return the sources of all turns, in the order in which they were queued."""
    return [e.body.source for e in log.stream() if isinstance(e.body, TurnQueued)]


def looks(log: EventLog) -> list[WatchReconciled]:
    """Return what the log says of looks at the team."""
    return [e.body for e in log.stream() if isinstance(e.body, WatchReconciled)]
