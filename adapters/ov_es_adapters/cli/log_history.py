"""The log as explanations read it: tracked projections are topped up with what they lack yet."""

from collections.abc import Sequence
from dataclasses import dataclass

from ov_es_adapters.event_log.log import EventLog
from ov_es_domain.recorded import Recorded
from ov_es_projections.known_watches import KNOWN_WATCHES
from ov_es_projections.projection import MemoryTables, Row, Value
from ov_es_projections.story import STORY


@dataclass(frozen=True, slots=True)
class LogHistory:
    """Implements `History` over an open log, without writing to it."""

    log: EventLog

    def load(self, key: str) -> Sequence[Recorded]:
        """Return the events of one aggregate, by version."""
        return self.log.load(key)

    def find(self, key: str, version: int) -> Recorded | None:
        """Return an event by its reference."""
        return self.log.find(key, version)

    def rows(self, table: str, **equal: Value) -> Sequence[Row]:
        """Return the rows of an inline projection whose columns have these values."""
        return self.log.select(table, equal)

    def story(self, correlation: str) -> Sequence[Recorded]:
        """Return the events of one story, in order."""
        rows = self.log.select(STORY.name, {"correlation": correlation}, order=["position"])
        folded = self._checkpoint(STORY.name)
        keys = {str(row["key"]) for row in rows if int(row["position"] or 0) <= folded}
        known = (event for key in keys for event in self.log.load(key))
        found = [e for e in known if e.correlation == correlation and e.position <= folded]
        newer = self.log.stream(after=folded)
        found += [event for event in newer if event.correlation == correlation]
        return sorted(found, key=lambda event: event.position)

    def watches(self) -> Sequence[Row]:
        """Return who watches for whom, up to this moment."""
        tables = MemoryTables((KNOWN_WATCHES,))
        tables.rows["watches"] = {(row["key"],): row for row in self.log.select("watches")}
        for event in self.log.stream(after=self._checkpoint(KNOWN_WATCHES.name)):
            tables.apply(event)
        return tables.select("watches")

    def _checkpoint(self, projection: str) -> int:
        return self.log.position() - self.log.lag()[projection]
