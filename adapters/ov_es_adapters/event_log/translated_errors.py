"""The stores' errors as ours: what happened, whether anything was written, and where."""

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

_LOCKED = ("locked", "busy")
_UNAVAILABLE = ("disk is full", "disk i/o", "readonly", "read-only", "unable to open", "no space")
_CORRUPT = ("malformed", "not a database", "corrupt", "file is encrypted", "no such column")


@contextmanager
def translated(where: str) -> Generator[None]:
    """Turn what SQLite and the library raise into the errors of the store; `where` is its name."""
    try:
        yield
    except persistence.IntegrityError as error:
        raise _integrity(str(error)) from error
    except sqlite3.IntegrityError as error:
        raise _integrity(str(error)) from error
    except (persistence.PersistenceError, sqlite3.Error, OSError) as error:
        raise _translate(where, error) from error


def _integrity(said: str) -> StoreError:
    if "append-only" in said:
        return StoreError("the log is append-only; nothing was changed")
    return ConcurrentWriteError(f"somebody wrote first: {said}")


def _translate(where: str, error: Exception) -> StoreError:
    said = str(error).lower()
    if any(word in said for word in _LOCKED):
        return StoreLockedError(where, "another process that is writing")
    if any(word in said for word in _CORRUPT):
        return CorruptLogError(0, "", f"{where} can't be read: {error}")
    if any(word in said for word in _UNAVAILABLE):
        return StoreUnavailableError(f"{where} can't be used, and nothing was written: {error}")
    return StoreUnavailableError(f"{where}: {error}")
