"""The closed sets of words that turns use."""

from enum import StrEnum


class Lane(StrEnum):
    """Where a turn waits; the lanes never wait for each other (Q-101)."""

    WORK = "work"
    REPLY = "reply"


class TurnKind(StrEnum):
    """What a turn is for (CY-1)."""

    FULL = "full"
    """Coding."""
    FAST = "fast"
    """Answer a message."""
    COORD = "coord"
    """A ticket that asks only for coordination."""
    SWEEP = "sweep"
    """A daily look for what was left."""
    INTRO = "intro"
    """The agent's introduction, once."""

    @property
    def lane(self) -> Lane:
        """The lane is a function of the kind and nothing else (Q-102)."""
        return Lane.WORK if self is TurnKind.FULL else Lane.REPLY


class Verdict(StrEnum):
    """What a run's report came to, by the rules of evidence."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    BLOCKED = "blocked"


class StopReason(StrEnum):
    """Why a turn is told to stop."""

    THREAD_CANCELLED = "thread-cancelled"
    HANDED_OVER = "handed-over"
    TICKET_SETTLED = "ticket-settled"
    PERSON = "interrupted-by-person"
    SHUTDOWN = "interrupted-by-shutdown"
    CRASH = "lost-in-a-crash"

    @property
    def resumes(self) -> bool:
        """Whether the turn may run again: our own stops and crashes aren't its fault (PR-7)."""
        return self in {StopReason.SHUTDOWN, StopReason.CRASH}

    @property
    def interrupts(self) -> bool:
        """Whether it ends as interrupted; otherwise it's cancelled."""
        return self.resumes or self is StopReason.PERSON
