"""The thread: `decide` answers a command, `evolve` folds an event."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from ov_es_domain.identity import is_older
from ov_es_domain.lifecycle import Aggregate, Lifecycle
from ov_es_domain.thread.commands import (
    HearThread,
    NoteThreadTurn,
    PauseThread,
    RedirectThread,
    StandThreadDown,
    WakeThread,
)
from ov_es_domain.thread.events import (
    ThreadHeard,
    ThreadPaused,
    ThreadRedirected,
    ThreadStoodDown,
    ThreadTurnNoted,
    ThreadWoken,
)
from ov_es_domain.thread.machine import THREAD_TABLE, ThreadState

ThreadCommand: TypeAlias = (
    NoteThreadTurn | HearThread | PauseThread | StandThreadDown | RedirectThread | WakeThread
)
ThreadEvent: TypeAlias = (
    ThreadTurnNoted | ThreadHeard | ThreadPaused | ThreadStoodDown | ThreadRedirected | ThreadWoken
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread(Aggregate):
    """One conversation: a channel and the message that opened it."""

    state: str = ThreadState.ACTIVE
    agent_turns: int = 0
    """Turns in a row that agents asked for; the log keeps the count over restarts."""
    last_turn: str | None = None
    """The source of the last turn of ours; None: there was none."""
    is_paused: bool = False
    """Whether people were told that no agent is answered any more (LUP-02)."""
    is_among_others: bool = False
    """Whether the last words were said to somebody else (ADR-06)."""
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
        case HearThread(source=source, by_agent=by_agent, for_others=for_others):
            is_known = by_agent or (not thread.agent_turns and not thread.is_paused)
            if is_known and for_others == thread.is_among_others:
                return []
            return [ThreadHeard(source=source, by_agent=by_agent, for_others=for_others)]
        case PauseThread(source=source):
            if thread.is_paused:
                return []
            return [ThreadPaused(source=source, agent_turns=thread.agent_turns)]
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
        case ThreadTurnNoted(source=source, by_agent=by_agent, agent_turns=count):
            return replace(
                thread,
                agent_turns=count,
                # What was missed is found after what's newer; it doesn't become the last.
                last_turn=thread.last_turn if is_older(source, thread.last_turn) else source,
                is_paused=thread.is_paused and by_agent,
                is_among_others=False,
            )
        case ThreadHeard(by_agent=by_agent, for_others=for_others):
            return replace(
                thread,
                agent_turns=thread.agent_turns if by_agent else 0,
                is_paused=thread.is_paused and by_agent,
                is_among_others=for_others,
            )
        case ThreadPaused():
            return replace(thread, is_paused=True)
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
        ThreadHeard.TOPIC,
        ThreadPaused.TOPIC,
        ThreadStoodDown.TOPIC,
        ThreadRedirected.TOPIC,
        ThreadWoken.TOPIC,
    ),
)
