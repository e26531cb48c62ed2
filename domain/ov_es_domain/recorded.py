"""One event as the log holds it: the fact, and how it came to be."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

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


class Recorded(NamedTuple):
    """A fact in the log. A tuple, since a replay makes millions of them."""

    key: str
    version: int
    body: Event
    at: float
    cause: str
    correlation: str
    position: int
    """Its place in the log, from 1, without gaps on SQLite; the order of commits everywhere."""
    read_command: Callable[[], Command] | None = None
    """Decodes the command that was answered; only who re-makes decisions needs it."""

    @classmethod
    def of(cls, event: NewEvent, position: int) -> "Recorded":
        """Return a new event as the log has it from now on."""
        command = event.command
        return cls(
            event.key,
            event.version,
            event.body,
            event.at,
            event.cause,
            event.correlation,
            position,
            None if command is None else lambda: command,
        )

    @property
    def command(self) -> Command | None:
        """The command that was answered, on the first event of each answer; None on the others."""
        return None if self.read_command is None else self.read_command()

    @property
    def reference(self) -> str:
        """How other events name this one as their cause."""
        return f"{self.key}@{self.version}"

    def __eq__(self, other: object) -> bool:
        """Compare what is recorded, not the way in which the command is read."""
        return isinstance(other, Recorded) and self[:7] == other[:7]

    def __hash__(self) -> int:
        """A position is taken once."""
        return hash((self.position, self.key, self.version))
