"""The event log as the rest of the adapters see it, whichever store is below."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ov_es_domain.recorded import NewEvent, Recorded
from ov_es_projections.projection import Row, Value

Condition: TypeAlias = Mapping[str, Value | Collection[Value]]
"""Column → the value, or the values, that it must have."""

Progress: TypeAlias = Callable[[int], None]
"""Told the position that a long piece of work has come to."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A fencing token: what is appended with an older epoch than the stored one is refused."""

    key: str
    epoch: int


class EventLog(Protocol):
    """An append-only log with projections; all methods but `rebuild` are short."""

    def append(
        self,
        events: Sequence[NewEvent],
        *,
        fence: Fence | None = None,
        raises: str | None = None,
    ) -> list[Recorded]:
        """Record events and the rows of inline projections in one transaction.

        Args:
            events: In the order in which they happened.
            fence: Refuse all of it unless this epoch is still the stored one.
            raises: Raise the stored epoch of this key by one, in the same transaction.

        Raises: ConcurrentWriteError, FencedError, StoreLockedError, StoreUnavailableError. In
            each case nothing was written.
        """
        ...

    def load(self, key: str) -> list[Recorded]:
        """Return the events of one aggregate, by version."""
        ...

    def stream(self, *, after: int = 0, until: int | None = None) -> Iterator[Recorded]:
        """Yield the events behind a position, in order.

        Raises: CorruptLogError at the first one that can't be read.
        """
        ...

    def moment(self) -> AbstractContextManager[None]:
        """Hold one moment: all reads in the block see the log as it is now.

        Nothing may be written in the block, and it should be left soon.
        """
        ...

    def position(self) -> int:
        """Return the last position, 0 when the log is empty."""
        ...

    def at(self, position: int) -> Recorded | None:
        """Return the event at a position."""
        ...

    def find(self, key: str, version: int) -> Recorded | None:
        """Return an event by its reference."""
        ...

    def select(
        self,
        table: str,
        where: Condition | None = None,
        order: Sequence[str] = (),
        limit: int | None = None,
    ) -> list[Row]:
        """Return rows of a projection's table."""
        ...

    def rebuild(self, progress: Progress | None = None) -> None:
        """Throw all projections away, and build them again from the log."""
        ...

    def catch_up(self, progress: Progress | None = None) -> int:
        """Fold tracked projections up to the head; return how many events that took."""
        ...

    def lag(self) -> dict[str, int]:
        """Return how many events each projection is behind."""
        ...

    def check(self) -> None:
        """Look for damage that a reading in order passes over.

        That is an index that disagrees with the events, or an event of the wrong aggregate.

        Raises: CorruptLogError.
        """
        ...

    def changes(self) -> object:
        """Return a token that differs once something was appended, by whomever; cheap to poll."""
        ...

    def close(self) -> None:
        """Give the store back."""
        ...
