"""The eventsourcing library's SQLite recorder, made durable, append-only and quick to decide on.

Explicit integer positions (an implicit rowid may be renumbered), triggers against changes, one
`BEGIN IMMEDIATE` for each write, and the rows of projections in the transaction of their events.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from eventsourcing.persistence import Notification, StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteCursor, SQLiteFactory
from eventsourcing.utils import Environment

from ov_es_adapters.event_log.sqlite_connection import LogDatastore, RawCursor

CREATE = """
CREATE TABLE IF NOT EXISTS stored_events (
  id INTEGER PRIMARY KEY,
  originator_id TEXT NOT NULL,
  originator_version INTEGER NOT NULL,
  topic TEXT NOT NULL,
  state BLOB NOT NULL,
  UNIQUE (originator_id, originator_version)
)"""
FORBID = [
    f"CREATE TRIGGER IF NOT EXISTS stored_events_no_{verb.lower()} BEFORE {verb} ON stored_events"
    " BEGIN SELECT RAISE(ABORT, 'append-only'); END"
    for verb in ("UPDATE", "DELETE")
] + [
    # `INSERT OR REPLACE` deletes without asking the trigger above.
    (
        "CREATE TRIGGER IF NOT EXISTS stored_events_no_replace BEFORE INSERT ON stored_events"
        " WHEN EXISTS (SELECT 1 FROM stored_events WHERE id = NEW.id)"
        " OR EXISTS (SELECT 1 FROM stored_events WHERE originator_id = NEW.originator_id"
        " AND originator_version = NEW.originator_version)"
        " BEGIN SELECT RAISE(ABORT, 'this version is taken, and the log is never rewritten'); END"
    )
]
_NAMES = {
    "stored_events",
    *(f"stored_events_no_{verb}" for verb in ("update", "delete", "replace")),
}
_INSERT = (
    "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
    " VALUES (?, ?, ?, ?)"
)
_SELECT = "SELECT id, originator_id, originator_version, topic, state FROM stored_events"

Row = tuple[int, str, int, str, bytes]
Before = Callable[[RawCursor], None]
"""What a commit checks first."""
After = Callable[[RawCursor, Sequence[int]], None]
"""What else belongs to a commit; it's given the positions of the events."""


class SqliteLogRecorder(SQLiteApplicationRecorder):
    """Inserts events and whatever belongs to their commit."""

    datastore: LogDatastore

    def is_made(self) -> bool:
        """Whether the table and its triggers are there."""
        with self.datastore.transaction(commit=False) as cursor:
            cursor.execute("SELECT name FROM sqlite_master WHERE name LIKE 'stored_events%'")
            names = {str(name) for (name,) in cursor.fetchall()}
        return names >= _NAMES

    def construct_create_table_statements(self) -> list[str]:
        """Return the statements for a new log; they leave an old one as it is."""
        return [CREATE, *FORBID]

    def _insert_events(
        self,
        c: SQLiteCursor,
        stored_events: Sequence[StoredEvent],
        *,
        before: Before | None = None,
        after: After | None = None,
        **_: Any,
    ) -> Sequence[int]:
        cursor = cast(RawCursor, c)
        if before is not None:
            before(cursor)
        ids: list[int] = []
        for stored in stored_events:
            cursor.execute(
                _INSERT,
                (stored.originator_id, stored.originator_version, stored.topic, stored.state),
            )
            ids.append(cast(int, cursor.lastrowid))
        if after is not None:
            after(cursor, ids)
        return ids

    def select_events(
        self,
        originator_id: Any,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> Sequence[StoredEvent]:
        """Return the events of one aggregate, for users of the library's own interface."""
        rows = [
            row
            for row in self.select_rows_of(str(originator_id))
            if (gt is None or row[2] > gt) and (lte is None or row[2] <= lte)
        ]
        return [
            StoredEvent(
                originator_id=cast(Any, key), originator_version=version, topic=topic, state=state
            )
            for _, key, version, topic, state in (reversed(rows) if desc else rows)
        ][:limit]

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Return stored events in order, for users of the library's own interface."""
        lowest = 0 if start is None else start + (0 if inclusive_of_start else 1)
        rows = self.select_rows(lowest, limit, stop)
        return [
            Notification(
                id=position,
                originator_id=cast(Any, key),
                originator_version=version,
                topic=topic,
                state=state,
            )
            for position, key, version, topic, state in rows
            if not topics or topic in topics
        ]

    def select_rows(self, lowest: int, limit: int, highest: int | None = None) -> list[Row]:
        """Return events as plain tuples: the fast road for replays."""
        bound = "" if highest is None else "AND id <= ? "
        values = (lowest, limit) if highest is None else (lowest, highest, limit)
        with self.datastore.transaction(commit=False) as cursor:
            found: list[Row] = cursor.execute(
                f"{_SELECT} WHERE id >= ? {bound}ORDER BY id LIMIT ?", values
            ).fetchall()
        return found

    def select_rows_of(self, key: str) -> list[Row]:
        """Return the events of one aggregate as plain tuples, by version."""
        with self.datastore.transaction(commit=False) as cursor:
            found: list[Row] = cursor.execute(
                f"{_SELECT} WHERE originator_id = ? ORDER BY originator_version", (key,)
            ).fetchall()
        return found


class SqliteLogFactory(SQLiteFactory):
    """The library's factory, with our datastore and recorder."""

    application_recorder_class = SqliteLogRecorder

    def __init__(self, env: Environment, *, is_read_only: bool = False) -> None:
        """`env` names the file under SQLITE_DBNAME, with the environment's own prefix."""
        super().__init__(env)
        self.datastore.close()
        name = str(self.env.get(self.SQLITE_DBNAME))
        self.datastore = LogDatastore(name, is_read_only=is_read_only)
