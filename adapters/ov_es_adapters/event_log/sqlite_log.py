"""The log in one SQLite file, or in memory: how it's opened, and refused when it's damaged."""

import itertools
import os
import re
import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from eventsourcing.persistence import StoredEvent
from eventsourcing.utils import Environment

from ov_es_adapters.errors import CorruptLogError, NotConfiguredError
from ov_es_adapters.event_log.past_activity import PastActivity
from ov_es_adapters.event_log.recorder_log import Cursor, StoredRow
from ov_es_adapters.event_log.sqlite_damage import first_unreadable
from ov_es_adapters.event_log.sqlite_recorder import SqliteLogFactory, SqliteLogRecorder
from ov_es_adapters.event_log.tables import SQLITE, Dialect
from ov_es_adapters.event_log.translated_errors import translated

_FIRST_OPEN_TRIES = 100
_FIRST_OPEN_SECONDS = 0.05
_MISSING = re.compile(r"row (\d+) missing")
_MISPLACED = """
SELECT id, CAST(originator_id AS BLOB), CAST(topic AS BLOB) FROM stored_events
WHERE typeof(originator_id) <> 'text' OR typeof(originator_version) <> 'integer'
  OR substr(originator_id, 1, instr(originator_id, ':'))
    <> substr(topic, 1, instr(topic, '.') - 1) || ':'
ORDER BY id LIMIT 1
"""


class SqliteStore:
    """A recorder on one file, or in memory."""

    dialect: Dialect = SQLITE

    def __init__(self, path: Path | None, *, is_read_only: bool = False) -> None:
        """`path` is None for a log in memory.

        Raises: CorruptLogError, StoreLockedError, StoreUnavailableError.
        """
        self.path = path
        self.name = "the log in memory" if path is None else str(path)
        self._is_read_only = is_read_only
        self._past: PastActivity | None = None
        if path is None:
            database = "file:ov-es?mode=memory"
        else:
            # Never relative: SQLite would take a name such as `file:x` for a URI.
            database = str(path.absolute())
            with translated(self.name):
                self._past = PastActivity(path)
                self._past.refuse_an_emptied_file()
            if not is_read_only:
                _make_private(path)
        environment = Environment("log", {"LOG_SQLITE_DBNAME": database, "LOG_CREATE_TABLE": "n"})
        self._factory = SqliteLogFactory(environment, is_read_only=is_read_only)
        self._recorder = cast(SqliteLogRecorder, self._factory.application_recorder())
        self._datastore = self._recorder.datastore
        try:
            with translated(self.name):
                self._open()
            self._look_back()
        except CorruptLogError as error:
            self._factory.close()
            if path is None or error.position:
                raise
            raise CorruptLogError(first_unreadable(path), "", error.why) from error
        except BaseException:
            self._factory.close()
            raise

    def _open(self) -> None:
        """Make the table, unless it's there; first openings at once take turns."""
        for attempt in itertools.count(1):
            try:
                if self._recorder.is_made():
                    return
                self._refuse_to_begin_anew()
                if not self._is_read_only:
                    self._recorder.create_table()
            except sqlite3.OperationalError as error:
                # While one switches to the write-ahead log, SQLite lets nobody wait.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or (
                    attempt == _FIRST_OPEN_TRIES
                ):
                    raise
                time.sleep(_FIRST_OPEN_SECONDS)
            else:
                return

    # --- what was there before -------------------------------------------------------------------

    def _refuse_to_begin_anew(self) -> None:
        with self._datastore.transaction(commit=False) as cursor:
            cursor.execute("SELECT 1 FROM sqlite_master WHERE name = 'stored_events'")
            has_events = cursor.fetchone() is not None
        if self._past is not None and not has_events:
            self._past.refuse_a_shorter_log(0)
        if self._is_read_only and not has_events:
            raise NotConfiguredError(f"there is no log in {self.name}; `ov-es watch` makes one")

    def _look_back(self) -> None:
        if self._past is not None:
            self._past.refuse_a_shorter_log(self.position())
            self._note_position()

    def _note_position(self, *, is_last: bool = False) -> None:
        if self._past is not None and not self._is_read_only:
            self._past.keep(self.position(), is_last=is_last)

    # --- the store -------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, *, commit: bool) -> Generator[Cursor]:
        """Begin, and commit or roll back."""
        with translated(self.name), self._datastore.transaction(commit=commit) as cursor:
            yield cursor

    @contextmanager
    def moment(self) -> Generator[None]:
        """Hold one moment of the log: all reads in the block see the same."""
        with translated(self.name), self._datastore.moment():
            yield

    def insert(
        self,
        events: Sequence[StoredEvent],
        before: Callable[[Cursor], None],
        after: Callable[[Cursor, Sequence[int]], None],
    ) -> Sequence[int]:
        """Insert events in one transaction with what comes before and after."""
        with translated(self.name):
            ids = self._recorder.insert_events(events, before=before, after=after) or ()
        if self._past is not None and ids:
            self._past.keep(ids[-1])
        return ids

    def rows(self, lowest: int, limit: int, highest: int | None = None) -> list[StoredRow]:
        """Return a page of events, within the transaction if one is open."""
        with translated(self.name):
            return self._recorder.select_rows(lowest, limit, highest)

    def rows_of(self, key: str) -> list[StoredRow]:
        """Return the events of one aggregate."""
        with translated(self.name):
            return self._recorder.select_rows_of(key)

    def position(self) -> int:
        """Return the last position, 0 when empty."""
        with translated(self.name):
            return self._recorder.max_notification_id() or 0

    def check(self) -> None:
        """Hold the events' table against its indexes: `load` reads by these, a stream doesn't."""
        with self.transaction(commit=False) as cursor:
            cursor.execute("PRAGMA integrity_check('stored_events')")
            said = [str(line) for (line,) in cursor.fetchall()]
            cursor.execute(_MISPLACED)
            misplaced = cursor.fetchone()
        if misplaced is not None:
            position, key, topic = misplaced
            kind = topic.decode("utf-8", "replace")
            raise CorruptLogError(
                position, key.decode("utf-8", "replace"), f"{kind!r} can't happen to it"
            )
        if said != ["ok"]:
            rows = [int(found[1]) for line in said if (found := _MISSING.match(line))]
            why = f"{self.name} can't be trusted: {' '.join(said[0].split())}"
            raise CorruptLogError(min(rows, default=0), "", why)

    def changes(self) -> object:
        """Return a token that changes when another connection commits, or this one does."""
        with self.transaction(commit=False) as cursor:
            cursor.execute("PRAGMA data_version")
            return cursor.fetchone(), self._datastore.commits

    def close(self) -> None:
        """Remember how far the log went, and give the file back."""
        try:
            self._note_position(is_last=True)
        finally:
            self._factory.close()


def _make_private(path: Path) -> None:
    """Make the file before SQLite does, so that nobody else can ever read it."""
    with translated(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            return
