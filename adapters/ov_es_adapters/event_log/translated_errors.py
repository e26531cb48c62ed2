"""SQLite's errors as ours: what happened, whether anything was written, and where."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from eventsourcing import persistence

from ov_es_adapters.errors import (
    ConcurrentWriteError,
    CorruptLogError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)

_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_PRIMARY = 0xFF
"""The part of an error code that says of which kind it is."""
_NO_TEXT = "Could not decode to UTF-8"
"""What Python says of a text column, without a code of SQLite's."""


@contextmanager
def translated(where: str) -> Generator[None]:
    """Turn what SQLite and the library raise into the errors of the store; `where` is its name."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise _translate(where, error) from error
    except UnicodeDecodeError as error:
        # Python couldn't even read what SQLite says of the file, or what a column holds.
        raise CorruptLogError(0, "", f"{where} holds bytes that are no text") from error
    except persistence.PersistenceError as error:
        raise _translate(where, _within(error)) from error


def _within(error: persistence.PersistenceError) -> Exception:
    """Return SQLite's own error, which the library wraps."""
    inner = error.__cause__
    return inner if isinstance(inner, sqlite3.Error) else error


def _translate(where: str, error: Exception) -> StoreError:
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    if code == sqlite3.SQLITE_CONSTRAINT:
        if "append-only" in str(error):
            return StoreError("the log is append-only; nothing was changed")
        return ConcurrentWriteError(f"somebody wrote first: {error}")
    if code in _LOCKED:
        return StoreLockedError(where, "another process that is writing")
    if code in _CORRUPT or str(error).startswith(_NO_TEXT):
        return CorruptLogError(0, "", f"{where} can't be read: {error}")
    return StoreUnavailableError(f"{where} can't be used, and nothing was written: {error}")
