"""One connection to the log's file, that keeps what it acknowledges, and its transactions.

The library's pool opens connections by the dozen and hands them round; a log has one writer in a
process, so here is one connection, lent to one thread at a time.
"""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from threading import RLock
from typing import Any, TypeAlias

from eventsourcing.sqlite import SQLiteConnection, SQLiteConnectionPool, SQLiteDatastore

BUSY_MILLISECONDS = 250
"""How long a write waits for another process before it's the caller's turn to be patient."""
_FULL = 2
_STATEMENTS = 256

RawCursor: TypeAlias = sqlite3.Cursor


class LogConnectionPool(SQLiteConnectionPool):
    """Makes the connection: every pragma is set, none is hoped for."""

    is_read_only = False

    def _create_connection(self) -> SQLiteConnection:
        return SQLiteConnection(self.connect(), max_age=None)

    def connect(self) -> sqlite3.Connection:
        """Connect.

        Raises: sqlite3.Error, as it is.
        """
        raw = sqlite3.connect(
            self.db_name,
            timeout=BUSY_MILLISECONDS / 1000,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
            uri=True,
        )
        try:
            self._configure(raw)
        except BaseException:
            raw.close()
            raise
        return raw

    def _configure(self, raw: sqlite3.Connection) -> None:
        if self.is_read_only:
            raw.execute("PRAGMA query_only = ON")
        elif not self.is_sqlite_memory_mode:
            mode = raw.execute("PRAGMA journal_mode").fetchone()[0]
            if mode != "wal":
                raw.execute("PRAGMA journal_mode = WAL")
        for pragma in (
            f"synchronous = {_FULL}",
            "cache_size = -65536",
            "mmap_size = 268435456",
            "journal_size_limit = 67108864",
        ):
            raw.execute(f"PRAGMA {pragma}")
        if raw.execute("PRAGMA synchronous").fetchone()[0] != _FULL:
            raise sqlite3.NotSupportedError("this SQLite doesn't do synchronous=FULL")


class LogDatastore(SQLiteDatastore):
    """The library's datastore over one connection of ours."""

    def __init__(self, db_name: str, *, is_read_only: bool = False) -> None:
        """`db_name` is a path or a `file:` URI; it's opened by the first transaction."""
        super().__init__(db_name, originator_id_type="text")
        self._connections = LogConnectionPool(db_name=db_name)
        self._connections.is_read_only = is_read_only
        self.pool = self._connections
        self._raw: sqlite3.Connection | None = None
        self._turnstile = RLock()
        self.commits = 0
        """How many transactions of ours were committed."""

    def _cursor(self) -> RawCursor:
        if self._raw is None:
            self._raw = self._connections.connect()
        return self._raw.cursor()

    @contextmanager
    def transaction(self, *, commit: bool) -> Generator[Any]:
        """Begin, and commit or roll back; lend the cursor, which is SQLite's own.

        A read is one statement and needs no transaction of its own. Within another transaction
        it's a part of that.
        """
        with self._turnstile:
            cursor = self._cursor()
            if not commit:
                yield cursor
                return
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield cursor
                cursor.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            self.commits += 1

    @contextmanager
    def moment(self) -> Generator[None]:
        """Hold one moment of the log: all reads in the block see the same."""
        with self._turnstile:
            self._cursor().execute("BEGIN")
            try:
                yield
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        # A full disk makes SQLite roll back by itself.
        if self._raw is not None and self._raw.in_transaction:
            self._raw.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection; it's asked for again when the library lets go of us."""
        raw, self._raw = getattr(self, "_raw", None), None
        if raw is not None:
            raw.close()
