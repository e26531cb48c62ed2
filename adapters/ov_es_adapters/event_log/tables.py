"""The tables of projections in SQL: one spelling for both stores, but for the placeholders."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ov_es_adapters.event_log.log import Condition
from ov_es_projections.projection import (
    ColumnType,
    KeepNewest,
    Projection,
    Put,
    Remove,
    RowChange,
    Table,
    Value,
)

_TYPES = {
    ColumnType.TEXT: ("TEXT", "text"),
    ColumnType.INTEGER: ("INTEGER", "bigint"),
    ColumnType.REAL: ("REAL", "double precision"),
}
PROJECTIONS_TABLE = Table(
    name="projections",
    columns={
        "name": ColumnType.TEXT,
        "version": ColumnType.INTEGER,
        "position": ColumnType.INTEGER,
    },
    key=("name",),
)
"""What is known of each projection: its version, and the checkpoint of the tracked ones."""
FENCES_TABLE = Table(
    name="fences",
    columns={"key": ColumnType.TEXT, "epoch": ColumnType.INTEGER},
    key=("key",),
)

Statement = tuple[str, Sequence[Value]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What the stores spell differently."""

    placeholder: str
    type_column: int
    catalogue: str
    _statements: dict[object, str] = field(default_factory=dict[object, str], compare=False)

    def create(self, table: Table) -> list[str]:
        """Return the statements that make a table, unless it's there."""
        columns = [
            f'"{name}" {_TYPES[kind][self.type_column]}' for name, kind in table.columns.items()
        ]
        key = ", ".join(f'"{name}"' for name in table.key)
        inside = ", ".join([*columns, f"PRIMARY KEY ({key})"])
        made = [f'CREATE TABLE IF NOT EXISTS "{table.name}" ({inside})']
        for columns_of in table.indexes:
            name = "_".join((table.name, "by", *columns_of))
            over = ", ".join(f'"{column}"' for column in columns_of)
            made.append(f'CREATE INDEX IF NOT EXISTS "{name}" ON "{table.name}" ({over})')
        return made

    def is_there(self, table: Table) -> Statement:
        """Return the question whether a table is there: it's answered by a row, or by none."""
        return self.catalogue, [table.name]

    def change(self, table: Table, change: RowChange) -> Statement:
        """Return the statement that makes a row change."""
        match change:
            case Put(values=values):
                names = tuple(values)
                return self._put(table, names), tuple(values.values())
            case Remove(key=key):
                return self._remove(table), [key[name] for name in table.key]
            case KeepNewest(column=column, rows_max=rows_max):
                return self._keep_newest(table, column), [rows_max]

    def _put(self, table: Table, names: tuple[str, ...]) -> str:
        known = self._statements.get((table.name, names))
        if known is not None:
            return known
        columns = ", ".join(f'"{name}"' for name in names)
        marks = ", ".join([self.placeholder] * len(names))
        key = ", ".join(f'"{name}"' for name in table.key)
        kept = [f'"{n}" = excluded."{n}"' for n in names if n not in table.key]
        conflict = f"DO UPDATE SET {', '.join(kept)}" if kept else "DO NOTHING"
        made = (
            f'INSERT INTO "{table.name}" ({columns}) VALUES ({marks})'  # noqa: S608 - own names
            f" ON CONFLICT ({key}) {conflict}"
        )
        self._statements[(table.name, names)] = made
        return made

    def _remove(self, table: Table) -> str:
        known = self._statements.get(table.name)
        if known is not None:
            return known
        where = " AND ".join(f'"{name}" = {self.placeholder}' for name in table.key)
        made = self._statements[table.name] = f'DELETE FROM "{table.name}" WHERE {where}'  # noqa: S608 - own names
        return made

    def _keep_newest(self, table: Table, column: str) -> str:
        if column not in table.columns:
            raise KeyError(f"{table.name} has no column {column}")
        return (
            f'DELETE FROM "{table.name}" WHERE "{column}" <= (SELECT "{column}"'  # noqa: S608 - own names
            f' FROM "{table.name}" ORDER BY "{column}" DESC LIMIT 1 OFFSET {self.placeholder})'
        )

    def select(
        self, table: Table, where: Condition, order: Sequence[str], limit: int | None
    ) -> Statement:
        """Return the statement that reads rows; its names are checked against the table's."""
        for name in (*where, *order):
            if name not in table.columns:
                raise KeyError(f"{table.name} has no column {name}")
        columns = ", ".join(f'"{name}"' for name in table.columns)
        conditions: list[str] = []
        values: list[Value] = []
        for name, wanted in where.items():
            if wanted is None:
                conditions.append(f'"{name}" IS NULL')
            elif isinstance(wanted, str | int | float):
                conditions.append(f'"{name}" = {self.placeholder}')
                values.append(wanted)
            else:
                marks = ", ".join([self.placeholder] * len(wanted))
                conditions.append(f'"{name}" IN ({marks})' if wanted else "1 = 0")
                values.extend(wanted)
        said = f'SELECT {columns} FROM "{table.name}"'  # noqa: S608 - own names
        if conditions:
            said += " WHERE " + " AND ".join(conditions)
        if order:
            said += " ORDER BY " + ", ".join(f'"{name}"' for name in order)
        return said + (f" LIMIT {int(limit)}" if limit is not None else ""), values


SQLITE = Dialect("?", 0, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
POSTGRES = Dialect(
    "%s", 1, "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = %s"
)


def tables_of(projections: tuple[Projection, ...]) -> Mapping[str, Table]:
    """Return the tables of projections by name."""
    return {table.name: table for each in projections for table in each.tables}


def held(value: Value) -> Value:
    r"""Return a value as a table of PostgreSQL holds it: JSON may say NUL, a text column may not.

    >>> held("a\0b")
    'a�b'
    """
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value
