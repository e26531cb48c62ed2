"""The eventsourcing library's SQLite recorder, made durable, append-only and quick to decide on.

Explicit integer positions (an implicit rowid may be renumbered), triggers against changes, one
`BEGIN IMMEDIATE` for each write, and the rows of projections in the transaction of their events.
"""

import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from eventsourcing.persistence import InterfaceError, Notification, StoredEvent
from eventsourcing.sqlite import (
    SQLiteApplicationRecorder,
    SQLiteConnection,
    SQLiteConnectionPool,
    SQLiteCursor,
    SQLiteDatastore,
    SQLiteFactory,
    SQLiteTransaction,
)
from eventsourcing.utils import Environment

BUSY_MILLISECONDS = 250
"""How long a write waits for another process before it's the caller's turn to be patient."""
_FULL = 2

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
]

Before = Callable[[SQLiteCursor], None]
"""What a commit checks first."""
After = Callable[[SQLiteCursor, Sequence[int]], None]
"""What else belongs to a commit; it's given the positions of the events."""


class LogConnectionPool(SQLiteConnectionPool):
    """Connections that keep what they acknowledge: every pragma is set, none is hoped for."""

    is_read_only = False

    def _create_connection(self) -> SQLiteConnection:
        try:
            connection = super()._create_connection()
            raw: sqlite3.Connection = connection._sqlite_conn  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the library gives no other way
            raw.row_factory = None
            for pragma in (
                f"busy_timeout = {BUSY_MILLISECONDS}",
                f"synchronous = {_FULL}",
                "cache_size = -65536",
                "mmap_size = 268435456",
                "journal_size_limit = 67108864",
                *(["query_only = ON"] if self.is_read_only else []),
            ):
                raw.execute(f"PRAGMA {pragma}")
            durability = raw.execute("PRAGMA synchronous").fetchone()[0]
        except sqlite3.Error as error:
            raise InterfaceError(error) from error
        if durability != _FULL:
            raise InterfaceError("this SQLite doesn't do synchronous=FULL")
        return connection


class _Immediate(SQLiteTransaction):
    """A write that takes the lock at once, so that a read in it can't be refused half-way."""

    def __enter__(self) -> SQLiteCursor:
        cursor = self.connection.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        return cursor


class LogDatastore(SQLiteDatastore):
    """The library's datastore over our connections and transactions."""

    def __init__(self, db_name: str, *, is_read_only: bool = False) -> None:
        """`db_name` is a path or a `file:` URI."""
        super().__init__(db_name, originator_id_type="text", pool_size=2)
        self.pool = LogConnectionPool(db_name=db_name, pool_size=2)
        self.pool.is_read_only = is_read_only

    @contextmanager
    def transaction(self, *, commit: bool) -> Generator[SQLiteCursor]:
        """Begin, and commit or roll back."""
        begin = _Immediate if commit else SQLiteTransaction
        with (
            self.get_connection(commit=commit) as connection,
            begin(connection, commit=commit) as cursor,
        ):
            yield cursor


class SqliteLogRecorder(SQLiteApplicationRecorder):
    """Inserts events and whatever belongs to their commit."""

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
        if before is not None:
            before(c)
        ids: list[int] = []
        for stored in stored_events:
            c.execute(
                "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
                " VALUES (?, ?, ?, ?)",
                (stored.originator_id, stored.originator_version, stored.topic, stored.state),
            )
            ids.append(c.lastrowid)
        if after is not None:
            after(c, ids)
        return ids

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
                originator_id=key,  # pyright: ignore[reportArgumentType] - ids are text here
                originator_version=version,
                topic=topic,
                state=state,
            )
            for position, key, version, topic, state in rows
            if not topics or topic in topics
        ]

    def select_rows(
        self, lowest: int, limit: int, highest: int | None = None
    ) -> list[tuple[int, str, int, str, bytes]]:
        """Return events as plain tuples: the fast road for replays."""
        with self.datastore.transaction(commit=False) as c:
            return select_rows(c, lowest, limit, highest)

    def select_rows_of(self, key: str) -> list[tuple[int, str, int, str, bytes]]:
        """Return the events of one aggregate as plain tuples, by version."""
        with self.datastore.transaction(commit=False) as c:
            c.execute(
                "SELECT id, originator_id, originator_version, topic, state FROM stored_events"
                " WHERE originator_id = ? ORDER BY originator_version",
                (key,),
            )
            return list(c.fetchall())


def select_rows(
    c: SQLiteCursor, lowest: int, limit: int, highest: int | None
) -> list[tuple[int, str, int, str, bytes]]:
    """Return a page of events within a transaction."""
    bound = "" if highest is None else "AND id <= ? "
    c.execute(
        "SELECT id, originator_id, originator_version, topic, state FROM stored_events"  # noqa: S608 - no text of others
        f" WHERE id >= ? {bound}ORDER BY id LIMIT ?",
        [lowest, *([] if highest is None else [highest]), limit],
    )
    return list(c.fetchall())


class SqliteLogFactory(SQLiteFactory):
    """The library's factory, with our datastore and recorder."""

    application_recorder_class = SqliteLogRecorder

    def __init__(self, env: Environment, *, is_read_only: bool = False) -> None:
        """`env` names the file under SQLITE_DBNAME, with the environment's own prefix."""
        super().__init__(env)
        self.datastore.close()
        name = str(self.env.get(self.SQLITE_DBNAME))
        self.datastore = LogDatastore(name, is_read_only=is_read_only)
