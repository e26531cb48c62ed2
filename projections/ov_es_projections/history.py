"""What explanations read of the past: a log with its read models, or a list of events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ov_es_domain.recorded import Recorded
from ov_es_projections.inline import INLINE
from ov_es_projections.projection import MemoryTables, Row, Value
from ov_es_projections.story import TRACKED


class History(Protocol):
    """A log with its projections, up to date."""

    def load(self, key: str) -> Sequence[Recorded]:
        """Return the events of one aggregate, by version."""
        ...

    def find(self, key: str, version: int) -> Recorded | None:
        """Return an event by its reference."""
        ...

    def rows(self, table: str, **equal: Value) -> Sequence[Row]:
        """Return the rows of a projection whose columns have these values."""
        ...

    def story(self, correlation: str) -> Sequence[Recorded]:
        """Return the events of one story, in order."""
        ...


@dataclass(slots=True)
class MemoryHistory:
    """A past that is folded event by event: the state at a position, and a log for tests."""

    position: int = 0
    _by_key: dict[str, list[Recorded]] = field(default_factory=dict[str, list[Recorded]])
    _tables: MemoryTables = field(default_factory=lambda: MemoryTables((*INLINE, *TRACKED)))

    @classmethod
    def of(cls, events: Iterable[Recorded]) -> "MemoryHistory":
        """Return the past that these events are."""
        history = cls()
        for event in events:
            history.add(event)
        return history

    def add(self, event: Recorded) -> None:
        """Let one more event happen."""
        self.position = event.position
        self._by_key.setdefault(event.key, []).append(event)
        self._tables.apply(event)

    @property
    def keys(self) -> Sequence[str]:
        """The keys of all aggregates, in the order of their first events."""
        return tuple(self._by_key)

    def load(self, key: str) -> Sequence[Recorded]:
        """Return the events of one aggregate."""
        return self._by_key.get(key, ())

    def find(self, key: str, version: int) -> Recorded | None:
        """Return an event by its reference."""
        events = self.load(key)
        return events[version - 1] if 0 < version <= len(events) else None

    def rows(self, table: str, **equal: Value) -> Sequence[Row]:
        """Return the rows whose columns have these values."""
        return self._tables.select(table, **equal)

    def story(self, correlation: str) -> Sequence[Recorded]:
        """Return the events of one story."""
        found = [e for events in self._by_key.values() for e in events]
        return sorted((e for e in found if e.correlation == correlation), key=lambda e: e.position)
