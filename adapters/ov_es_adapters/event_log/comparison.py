"""Holds every stored row against the one that a rebuild would make, without writing."""

from dataclasses import dataclass

from ov_es_adapters.event_log.log import EventLog, Progress
from ov_es_adapters.event_log.tables import held
from ov_es_projections.inline import INLINE
from ov_es_projections.projection import MemoryTables, Projection, Row, Table, Value
from ov_es_projections.story import TRACKED


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A row that the log doesn't explain (AUD-02), or one that's missing."""

    table: str
    key: tuple[Value, ...]
    stored: Row | None
    """None: the row isn't there."""
    rebuilt: Row | None
    """None: the log knows of no such row."""


def compare_with_rebuild(
    log: EventLog,
    *,
    inline: tuple[Projection, ...] = INLINE,
    tracked: tuple[Projection, ...] = TRACKED,
    progress: Progress | None = None,
) -> list[Difference]:
    """Return where stored rows and the log disagree (EVT-11); an empty list when nowhere.

    Rows and events have to be of one moment, which is held while they're read.

    Raises: StoreError.
    """
    with log.moment():
        behind, head = log.lag(), log.position()
        rebuilt = [
            (MemoryTables((each,)), each, head - behind[each.name]) for each in (*inline, *tracked)
        ]
        for event in log.stream(until=head):
            for tables, _, checkpoint in rebuilt:
                if event.position <= checkpoint:
                    tables.apply(event)
            if progress is not None:
                progress(event.position)
        return [
            difference
            for tables, projection, _ in rebuilt
            for table in projection.tables
            for difference in _compare(table, log.select(table.name), tables.select(table.name))
        ]


def _compare(table: Table, stored: list[Row], rebuilt: list[Row]) -> list[Difference]:
    found, wanted = _by_key(table, stored), _by_key(table, rebuilt)
    keys = [*wanted, *(key for key in found if key not in wanted)]
    return [
        Difference(table=table.name, key=key, stored=found.get(key), rebuilt=wanted.get(key))
        for key in keys
        if found.get(key) != wanted.get(key)
    ]


def _by_key(table: Table, rows: list[Row]) -> dict[tuple[Value, ...], Row]:
    """Index rows by their key, with text as every store can hold it: see `held`."""
    held_rows = [{name: held(value) for name, value in row.items()} for row in rows]
    return {tuple(row[name] for name in table.key): row for row in held_rows}
