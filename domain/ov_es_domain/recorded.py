"""One event as the log holds it: the fact, and how it came to be."""

from dataclasses import dataclass

from ov_es_domain.lifecycle import Command, Event


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """A fact that is about to be recorded."""

    key: str
    """The aggregate's natural key."""
    version: int
    """1 for the first event of the aggregate; the store takes each number once."""
    body: Event
    at: float
    """When it was decided, in seconds since the epoch."""
    cause: str
    """What led to it: an event's `key@version`, or an outside one (`socket:…`, `operator:…`)."""
    correlation: str
    """The story that it belongs to: a ticket's or a thread's key."""
    command: Command | None = None
    """The command that was answered, on the first event of each answer; None on the others."""

    @property
    def reference(self) -> str:
        """How other events name this one as their cause."""
        return f"{self.key}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded(NewEvent):
    """A fact in the log."""

    position: int
    """Its place in the log, from 1, without gaps on SQLite; the order of commits everywhere."""
