"""The shape of all read models: tables that events change row by row.

A projection is a pure function from one recorded event to row changes, so that the same code
serves the transaction that records the event, a rebuild from zero, and a test in memory.
Inline projections change rows in the transaction of their events: commands read them. Tracked
ones fold in batches behind a checkpoint: reports read them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from ov_es_domain.recorded import Recorded

Value: TypeAlias = str | int | float | None
Row: TypeAlias = dict[str, Value]


class ColumnType(StrEnum):
    """The types that both stores have."""

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One table of a projection."""

    name: str
    columns: Mapping[str, ColumnType]
    key: tuple[str, ...]
    """The columns of the primary key."""
    indexes: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Put:
    """Insert a row, or change the named columns of the one that has this key.

    `values` holds the key's columns too; columns that it leaves out keep what they had (null in
    a new row).
    """

    table: str
    values: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Remove:
    """Delete the row with this key, if there is one."""

    table: str
    key: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class KeepNewest:
    """Delete all rows but the `rows_max` with the largest values in a column.

    The column must hold a position that no two rows share: then what goes is determined.
    """

    table: str
    column: str
    rows_max: int


RowChange: TypeAlias = Put | Remove | KeepNewest


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """A read model: its tables, and what an event does to them."""

    name: str
    version: int
    """Raised when rows of an older version would be wrong: they're thrown away and rebuilt."""
    tables: tuple[Table, ...]
    apply: Callable[[Recorded], Iterable[RowChange]]


@dataclass(slots=True)
class MemoryTables:
    """The tables as dictionaries: for rebuilds that nobody stores, and for tests."""

    projections: tuple[Projection, ...]
    rows: dict[str, dict[tuple[Value, ...], Row]] = field(
        default_factory=dict[str, dict[tuple[Value, ...], Row]]
    )
    _ages: dict[tuple[str, str], list[tuple[int, tuple[Value, ...]]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[int, tuple[Value, ...]]]],
        compare=False,
        repr=False,
    )
    """A heap for each bounded table; entries of rows that changed since are skipped later."""

    def apply(self, event: Recorded) -> None:
        """Change the rows as a store would."""
        for projection in self.projections:
            tables = {table.name: table for table in projection.tables}
            for change in projection.apply(event):
                table = tables[change.table]
                rows = self.rows.setdefault(table.name, {})
                match change:
                    case Put(values=values):
                        key = tuple(values[column] for column in table.key)
                        blank: Row = dict.fromkeys(table.columns)
                        rows[key] = {**rows.get(key, blank), **values}
                        self._note_age(table, rows[key], key)
                    case Remove(key=wanted):
                        rows.pop(tuple(wanted[column] for column in table.key), None)
                    case KeepNewest(column=column, rows_max=rows_max):
                        self._drop_oldest(table, column, rows_max)

    def _note_age(self, table: Table, row: Row, key: tuple[Value, ...]) -> None:
        for (name, column), heap in self._ages.items():
            if name == table.name:
                heappush(heap, (int(row[column] or 0), key))

    def _drop_oldest(self, table: Table, column: str, rows_max: int) -> None:
        rows = self.rows.setdefault(table.name, {})
        heap = self._ages.get((table.name, column))
        if heap is None:
            heap = [(int(row[column] or 0), key) for key, row in rows.items()]
            heapify(heap)
            self._ages[(table.name, column)] = heap
        while len(rows) > rows_max:
            age, key = heappop(heap)
            if key in rows and int(rows[key][column] or 0) == age:
                del rows[key]

    def select(self, table: str, /, **equal: Value) -> list[Row]:
        """Return the rows whose named columns have these values, in the order of their making."""
        return [
            row
            for row in self.rows.get(table, {}).values()
            if all(row[column] == value for column, value in equal.items())
        ]
