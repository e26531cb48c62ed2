"""An agent's watch: `decide` answers a command, `evolve` folds an event."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from ov_es_domain.identity import Identifier
from ov_es_domain.lifecycle import Aggregate, Lifecycle
from ov_es_domain.watch import commands as c
from ov_es_domain.watch import events as e
from ov_es_domain.watch.machine import WATCH_TABLE, WatchState

WatchCommand: TypeAlias = (
    c.BeginWatch
    | c.EndWatch
    | c.NoteConnection
    | c.NoteOutage
    | c.NoteAgent
    | c.NoteClock
    | c.NoteIntroduction
    | c.NoteReconciliation
)
WatchEvent: TypeAlias = (
    e.WatchBegun
    | e.WatchEnded
    | e.WatchConnected
    | e.WatchDisconnected
    | e.WatchAgentNoted
    | e.WatchClockNoted
    | e.WatchIntroduced
    | e.WatchReconciled
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch(Aggregate):
    """Who watches for an agent now."""

    state: str = WatchState.IDLE
    agent: str = ""
    agent_id: Identifier | None = None
    """The agent's own numeric id, once `list_agents` told it (TK-9)."""
    host: str = ""
    pid: int = 0
    epoch: int = 0
    is_connected: bool = False
    is_introduced: bool = False
    """Whether the agent has introduced itself, or was about to."""
    clock_offset: float = 0.0
    """By how many seconds the team's clock is ahead of ours, as last noted."""


def decide(watch: Watch, command: WatchCommand) -> Sequence[WatchEvent]:
    """Return what happens; raise CommandRefusedError where a rule says no."""
    match command:
        case c.BeginWatch(agent=agent, host=host, pid=pid, program=program):
            return [
                e.WatchBegun(
                    agent=agent, host=host, pid=pid, program=program, epoch=watch.epoch + 1
                )
            ]
        case c.EndWatch(epoch=epoch, reason=reason):
            return [e.WatchEnded(epoch=epoch, reason=reason)]
        case c.NoteConnection(number=number):
            return [] if watch.is_connected else [e.WatchConnected(number=number)]
        case c.NoteOutage(number=number, reason=reason):
            if not watch.is_connected:
                return []
            return [e.WatchDisconnected(number=number, reason=reason)]
        case c.NoteAgent(agent_id=agent_id):
            is_known = watch.agent_id == agent_id
            return [] if is_known else [e.WatchAgentNoted(agent_id=agent_id)]
        case c.NoteClock(offset_seconds=offset):
            is_known = watch.clock_offset == offset
            return [] if is_known else [e.WatchClockNoted(offset_seconds=offset)]
        case c.NoteIntroduction(turn=turn):
            return [] if watch.is_introduced else [e.WatchIntroduced(turn=turn)]
        case c.NoteReconciliation():
            return [
                e.WatchReconciled(
                    reason=command.reason,
                    tickets=command.tickets,
                    mentions=command.mentions,
                    problem=command.problem,
                )
            ]
    assert_never(command)


def evolve(watch: Watch, event: WatchEvent) -> Watch:
    """Fold the fields of `event`; the state itself is `lifecycle.step`'s business."""
    match event:
        case e.WatchBegun(agent=agent, host=host, pid=pid, epoch=epoch):
            return replace(watch, agent=agent, host=host, pid=pid, epoch=epoch, is_connected=False)
        case e.WatchEnded():
            return replace(watch, is_connected=False)
        case e.WatchConnected():
            return replace(watch, is_connected=True)
        case e.WatchDisconnected():
            return replace(watch, is_connected=False)
        case e.WatchAgentNoted(agent_id=agent_id):
            return replace(watch, agent_id=agent_id)
        case e.WatchClockNoted(offset_seconds=offset):
            return replace(watch, clock_offset=offset)
        case e.WatchIntroduced():
            return replace(watch, is_introduced=True)
        case e.WatchReconciled():
            return watch
    assert_never(event)


WATCH = Lifecycle(
    name="watch",
    table=WATCH_TABLE,
    initial=Watch(),
    decide=decide,
    evolve=evolve,
    topics=(
        e.WatchBegun.TOPIC,
        e.WatchEnded.TOPIC,
        e.WatchConnected.TOPIC,
        e.WatchDisconnected.TOPIC,
        e.WatchAgentNoted.TOPIC,
        e.WatchClockNoted.TOPIC,
        e.WatchIntroduced.TOPIC,
        e.WatchReconciled.TOPIC,
    ),
)
