"""The shape of all read models: tables that events change row by row.

A projection is a pure function from one recorded event to row changes, so that the same code
serves the transaction that records the event, a rebuild from zero, and a test in memory.
Inline projections change rows in the transaction of their events: commands read them. Tracked
ones fold in batches behind a checkpoint: reports read them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
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


RowChange: TypeAlias = Put | Remove


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
                    case Remove(key=wanted):
                        rows.pop(tuple(wanted[column] for column in table.key), None)

    def select(self, table: str, /, **equal: Value) -> list[Row]:
        """Return the rows whose named columns have these values, in the order of their making."""
        return [
            row
            for row in self.rows.get(table, {}).values()
            if all(row[column] == value for column, value in equal.items())
        ]
