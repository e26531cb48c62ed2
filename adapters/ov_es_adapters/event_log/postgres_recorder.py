"""The eventsourcing library's PostgreSQL recorder, with the rows of projections in its commits.

Its ordered path is kept: each writer locks the table first, so that the order of positions is
the order of commits, and a reader that follows the log's end misses nothing. Its retries aren't:
after a lost connection they'd take our own event for somebody else's.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any, cast

import psycopg
from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore
from psycopg import Connection, Cursor
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL, Identifier

from ov_es_adapters.event_log.postgres_address import PostgresAddress
from ov_es_adapters.event_log.postgres_errors import APPEND_ONLY

CONNECT_SECONDS = 5
LOCK_SECONDS = 1
"""How long a write waits for another one before it's the caller's turn to be patient."""
IDLE_SECONDS = 60
"""After this long the server frees the lock of a writer that went silent."""

Rows = Callable[[Cursor[DictRow]], None]
RowsAt = Callable[[Cursor[DictRow], Sequence[int]], None]


class CommitUnknownError(Exception):
    """The connection was lost while a commit was on its way: it may have happened."""


class LogDatastore(PostgresDatastore):
    """The library's datastore over one connection of ours, opened again when it was lost."""

    def __init__(self, address: PostgresAddress, *, is_read_only: bool = False) -> None:
        """Connect to nothing yet."""
        self._address = address
        self._is_read_only = is_read_only
        self._turnstile = RLock()
        self._connection: Connection[DictRow] | None = None
        given = address.parameters
        super().__init__(
            given.get("dbname", ""),
            given.get("host", ""),
            given.get("port", ""),
            given.get("user", ""),
            given.get("password", ""),
            lock_timeout=LOCK_SECONDS,
            schema=address.schema,
            originator_id_type="text",
        )

    @contextmanager
    def get_connection(self) -> Generator[Connection[DictRow]]:
        """Lend the connection to one thread at a time.

        Raises: psycopg.Error, as it is: only its code says what to do.
        """
        with self._turnstile:
            connection = self._connection
            if connection is None or connection.closed or connection.broken:
                connection = self._connection = self._connect()
            yield connection

    def _connect(self) -> Connection[DictRow]:
        given = {"connect_timeout": str(CONNECT_SECONDS), **self._address.parameters}
        given.setdefault("application_name", "ov-es")
        connection = Connection[DictRow].connect(
            make_conninfo("", **given),
            autocommit=True,
            row_factory=dict_row,
        )
        try:
            connection.execute(
                SQL("SET search_path TO {}").format(Identifier(self._address.schema))
            )
            connection.execute(
                SQL("SET idle_in_transaction_session_timeout = {}").format(IDLE_SECONDS * 1000)
            )
            if self._is_read_only:
                connection.execute("SET default_transaction_read_only = on")
        except BaseException:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Close the connection; the library's pool was never opened."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class PostgresLogRecorder(PostgresApplicationRecorder):
    """Inserts events and whatever belongs to their commit."""

    def __init__(self, datastore: LogDatastore) -> None:
        """Leave the library's function out: it takes no lock, and readers would miss events."""
        super().__init__(datastore)
        del self.sql_create_statements[self.create_insert_function_statement_index]

    def make_log(self) -> None:
        """Make schema, table and triggers, unless they're there; others may do so at once."""
        schema, table = Identifier(self.datastore.schema), Identifier(self.events_table_name)
        with self.datastore.get_connection() as connection:
            if self._is_made(connection):
                return
            # Even `IF NOT EXISTS` fails when two do it in the same moment.
            lock = f"ov-es tables {self.datastore.schema}"
            connection.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [lock])
            try:
                if self._is_made(connection):
                    return
                if not _has_schema(connection, self.datastore.schema):
                    connection.execute(SQL("CREATE SCHEMA {}").format(schema))
                self.create_table()
                with connection.transaction():
                    connection.execute(_FORBID.format(schema=schema, code=SQL(APPEND_ONLY)))
                    connection.execute(_TRIGGER.format(schema=schema, table=table))
                    connection.execute(_TRUNCATE.format(schema=schema, table=table))
            finally:
                if not connection.closed:
                    connection.execute(
                        "SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [lock]
                    )

    def _is_made(self, connection: Connection[DictRow]) -> bool:
        """Whether the last thing that's made is there."""
        found = connection.execute(
            "SELECT 1 FROM pg_trigger WHERE tgname = 'no_truncate' AND tgrelid = to_regclass(%s)",
            [f"{self.datastore.schema}.{self.events_table_name}"],
        ).fetchone()
        return found is not None

    @contextmanager
    def writing(self) -> Generator[Cursor[DictRow]]:
        """Begin a transaction that no other writer is in, and commit it."""
        with self.datastore.transaction(commit=True) as cursor:
            self._lock_table(cursor)
            yield cursor

    def insert_events(
        self,
        stored_events: Sequence[StoredEvent],
        *,
        before: Rows | None = None,
        after: RowsAt | None = None,
        **_: Any,
    ) -> Sequence[int]:
        """Insert events and their rows in one transaction.

        Statements whose answers nobody waits for travel together (libpq's pipeline).
        Raises: CommitUnknownError, and psycopg.Error when nothing was written.
        """
        positions: Sequence[int] = ()
        is_committing = False
        try:
            with (
                self.datastore.get_connection() as connection,
                connection.pipeline(),
                connection.transaction(),
                connection.cursor() as cursor,
            ):
                self._lock_table(cursor)
                self._notify_channel(cursor)
                if before is not None:
                    before(cursor)
                positions = self._insert(connection, stored_events)
                if after is not None:
                    after(cursor, positions)
                is_committing = True
        except psycopg.OperationalError as error:
            if is_committing and error.sqlstate is None:
                raise CommitUnknownError from error
            raise
        return positions

    def _insert(
        self, connection: Connection[DictRow], stored_events: Sequence[StoredEvent]
    ) -> Sequence[int]:
        if not stored_events:
            return ()
        with connection.cursor() as cursor:
            rows = [
                self.construct_pg_stored_event(
                    stored.originator_id, stored.originator_version, stored.topic, stored.state
                )
                for stored in stored_events
            ]
            cursor.execute(cast(Any, self.insert_events_statement), [rows], prepare=True)
            return [int(row["notification_id"]) for row in cursor.fetchall()]


def _has_schema(connection: Connection[DictRow], name: str) -> bool:
    row = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [name]).fetchone()
    return row is not None


_FORBID = SQL(
    "CREATE OR REPLACE FUNCTION {schema}.append_only() RETURNS trigger LANGUAGE plpgsql AS $$"
    " BEGIN RAISE EXCEPTION 'append-only' USING ERRCODE = '{code}'; END $$"
)
_TRIGGER = SQL(
    "CREATE OR REPLACE TRIGGER no_change BEFORE UPDATE OR DELETE ON {schema}.{table}"
    " FOR EACH ROW EXECUTE FUNCTION {schema}.append_only()"
)
_TRUNCATE = SQL(
    "CREATE OR REPLACE TRIGGER no_truncate BEFORE TRUNCATE ON {schema}.{table}"
    " FOR EACH STATEMENT EXECUTE FUNCTION {schema}.append_only()"
)
