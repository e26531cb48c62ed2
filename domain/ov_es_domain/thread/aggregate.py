"""The thread: `decide` answers a command, `evolve` folds an event."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from ov_es_domain.lifecycle import Aggregate, Lifecycle
from ov_es_domain.thread.commands import (
    NoteThreadTurn,
    RedirectThread,
    StandThreadDown,
    WakeThread,
)
from ov_es_domain.thread.events import (
    ThreadRedirected,
    ThreadStoodDown,
    ThreadTurnNoted,
    ThreadWoken,
)
from ov_es_domain.thread.machine import THREAD_TABLE, ThreadState

ThreadCommand: TypeAlias = NoteThreadTurn | StandThreadDown | RedirectThread | WakeThread
ThreadEvent: TypeAlias = ThreadTurnNoted | ThreadStoodDown | ThreadRedirected | ThreadWoken


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread(Aggregate):
    """One conversation: a channel and the message that opened it."""

    state: str = ThreadState.ACTIVE
    agent_turns: int = 0
    """Turns in a row that agents asked for; the log keeps the count over restarts."""
    cancelled_by: str | None = None
    """The source of the last stand-down or redirect; it can't revive what it cancelled."""
    cancelled_at: float | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether nothing may be posted into it (TH-10)."""
        return self.state != ThreadState.ACTIVE


def decide(thread: Thread, command: ThreadCommand) -> Sequence[ThreadEvent]:
    """Return what happens; raise CommandRefusedError where a rule says no."""
    match command:
        case NoteThreadTurn(source=source, by_agent=by_agent):
            count = thread.agent_turns + 1 if by_agent else 0
            return [ThreadTurnNoted(source=source, by_agent=by_agent, agent_turns=count)]
        case StandThreadDown(by=by, source=source, at=at):
            if thread.state == ThreadState.STOOD_DOWN and thread.cancelled_by == source:
                return []
            return [ThreadStoodDown(by=by, source=source, at=at)]
        case RedirectThread(by=by, source=source, at=at):
            if thread.state == ThreadState.REDIRECTED and thread.cancelled_by == source:
                return []
            return [ThreadRedirected(by=by, source=source, at=at)]
        case WakeThread(source=source):
            is_awake = not thread.is_cancelled or thread.cancelled_by == source
            return [] if is_awake else [ThreadWoken(source=source)]
    assert_never(command)


def evolve(thread: Thread, event: ThreadEvent) -> Thread:
    """Fold the fields of `event`; the state itself is `lifecycle.step`'s business."""
    match event:
        case ThreadTurnNoted(agent_turns=count):
            return replace(thread, agent_turns=count)
        case ThreadStoodDown(source=source, at=at) | ThreadRedirected(source=source, at=at):
            return replace(thread, cancelled_by=source, cancelled_at=at)
        case ThreadWoken():
            return thread
    assert_never(event)


THREAD = Lifecycle(
    name="thread",
    table=THREAD_TABLE,
    initial=Thread(),
    decide=decide,
    evolve=evolve,
    topics=(
        ThreadTurnNoted.TOPIC,
        ThreadStoodDown.TOPIC,
        ThreadRedirected.TOPIC,
        ThreadWoken.TOPIC,
    ),
)
