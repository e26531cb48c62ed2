"""The log in one schema of a PostgreSQL database: a fleet's watchers on one log."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from eventsourcing.persistence import StoredEvent
from psycopg import Cursor
from psycopg.rows import DictRow, tuple_row

from ov_es_adapters.errors import (
    CorruptLogError,
    NotConfiguredError,
    StoreUnavailableError,
)
from ov_es_adapters.event_log import recorder_log
from ov_es_adapters.event_log.postgres_address import PostgresAddress, postgres_address
from ov_es_adapters.event_log.postgres_errors import translated_postgres
from ov_es_adapters.event_log.postgres_recorder import (
    CommitUnknownError,
    LogDatastore,
    PostgresLogRecorder,
)
from ov_es_adapters.event_log.recorder_log import StoredRow
from ov_es_adapters.event_log.tables import POSTGRES, Dialect, held
from ov_es_projections.projection import Value

_MISPLACED = """
SELECT notification_id, originator_id, topic FROM stored_events
WHERE split_part(originator_id, ':', 1) <> split_part(topic, '.', 1)
ORDER BY notification_id LIMIT 1
"""
_COLUMNS = "notification_id, originator_id, originator_version, topic, state"


class PostgresStore:
    """A recorder on one schema."""

    dialect: Dialect = POSTGRES

    def __init__(self, url: str, *, create: bool, is_read_only: bool = False) -> None:
        """Connect, and make the tables unless they're there or `create` forbids it.

        Raises: BadInputError, NotConfiguredError, StoreError.
        """
        self._address: PostgresAddress = postgres_address(url)
        self.name = self._address.name
        self._datastore = LogDatastore(self._address, is_read_only=is_read_only)
        try:
            with translated_postgres(self._address):
                self._recorder = PostgresLogRecorder(self._datastore)
                if create and not is_read_only:
                    self._recorder.make_log()
                self._datastore.register_type_adapters()
            self._check_that_it_is_there()
        except BaseException:
            self._datastore.close()
            raise

    def _check_that_it_is_there(self) -> None:
        if not self._datastore.psycopg_python_types:
            raise NotConfiguredError(f"there is no log at {self.name}; `ov-es watch` makes one")

    # --- the store -------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, *, commit: bool) -> Generator[recorder_log.Cursor]:
        """Begin, and commit or roll back; what will be committed has the log to itself."""
        begin = self._recorder.writing() if commit else self._datastore.transaction()
        with translated_postgres(self._address), begin as cursor:
            yield _TupleCursor(cursor)

    @contextmanager
    def moment(self) -> Generator[None]:
        """Hold one moment of the log: all reads in the block see the same."""
        with translated_postgres(self._address), self._datastore.transaction() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield

    def insert(
        self,
        events: Sequence[StoredEvent],
        before: Callable[[recorder_log.Cursor], None],
        after: Callable[[recorder_log.Cursor, Sequence[int]], None],
    ) -> Sequence[int]:
        """Insert events in one transaction with what comes before and after.

        When the connection is lost at the commit, a look tells whether it happened: the table's
        lock waits for the old transaction, whichever way it ends.
        """
        try:
            with translated_postgres(self._address):
                return self._recorder.insert_events(
                    events,
                    before=lambda cursor: before(_TupleCursor(cursor)),
                    after=lambda cursor, positions: after(_TupleCursor(cursor), positions),
                )
        except CommitUnknownError as error:
            found = self._find_own(events)
            if found is None:
                raise StoreUnavailableError(
                    f"{self.name}: the connection was lost, and nothing was written"
                ) from error
            return found

    def _find_own(self, events: Sequence[StoredEvent]) -> list[int] | None:
        """Return the positions of these very events, to the byte; None: they aren't there."""
        positions: list[int] = []
        with self.transaction(commit=True) as cursor:
            for event in events:
                cursor.execute(
                    "SELECT notification_id FROM stored_events WHERE originator_id = %s"
                    " AND originator_version = %s AND topic = %s AND state = %s",
                    cast(
                        Sequence[Value],
                        [event.originator_id, event.originator_version, event.topic, event.state],
                    ),
                )
                found = cursor.fetchone()
                if found is None:
                    return None
                positions.append(int(found[0]))
        return positions

    def rows(self, lowest: int, limit: int, highest: int | None = None) -> list[StoredRow]:
        """Return a page of events, within the transaction if one is open."""
        bound = "" if highest is None else "AND notification_id <= %s "
        values = [lowest, *([] if highest is None else [highest]), limit]
        return self._read(
            f"SELECT {_COLUMNS} FROM stored_events"  # noqa: S608 - no text of others
            f" WHERE notification_id >= %s {bound}ORDER BY notification_id LIMIT %s",
            values,
        )

    def rows_of(self, key: str) -> list[StoredRow]:
        """Return the events of one aggregate."""
        return self._read(
            f"SELECT {_COLUMNS} FROM stored_events"  # noqa: S608 - no text of others
            " WHERE originator_id = %s ORDER BY originator_version",
            [key],
        )

    def _read(self, statement: str, values: Sequence[Value]) -> list[StoredRow]:
        """Read on the one connection, and so within the transaction if one is open."""
        with (
            translated_postgres(self._address),
            self._datastore.get_connection() as connection,
            connection.cursor(binary=True, row_factory=tuple_row) as cursor,
        ):
            cursor.execute(statement.encode(), values)
            return cursor.fetchall()

    def position(self) -> int:
        """Return the last position, 0 when empty."""
        with translated_postgres(self._address), self._datastore.get_connection() as connection:
            row = connection.execute("SELECT max(notification_id) FROM stored_events").fetchone()
            return int(row["max"] or 0) if row else 0

    def check(self) -> None:
        """Look for events of the wrong aggregate; pages and indexes are the server's to check."""
        with self.transaction(commit=False) as cursor:
            cursor.execute(_MISPLACED)
            misplaced = cursor.fetchone()
        if misplaced is not None:
            raise CorruptLogError(
                misplaced[0], str(misplaced[1]), f"{misplaced[2]!r} can't happen to it"
            )

    def changes(self) -> object:
        """Return a token that changes with every commit: positions are in the order of commits."""
        return self.position()

    def close(self) -> None:
        """Give the connection back."""
        self._datastore.close()


class _TupleCursor:
    """A cursor of the library's, with rows as tuples, and text that PostgreSQL can hold."""

    def __init__(self, cursor: Cursor[DictRow]) -> None:
        self._cursor = cast(Cursor[tuple[Any, ...]], cursor)
        self._cursor.row_factory = tuple_row

    def execute(self, statement: str, values: Sequence[Value] = (), /) -> None:
        """Execute; a NUL, which JSON may hold and a text column may not, is shown as U+FFFD."""
        self._cursor.execute(statement.encode(), [held(value) for value in values])

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        return self._cursor.fetchall()

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, if there is one."""
        return self._cursor.fetchone()
