"""Finds the first event that a damaged file has lost, for whoever has to repair it."""

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import quote

_PAGE = 500
_ROWS = (
    "SELECT id, originator_id, topic, state FROM stored_events WHERE id > ? ORDER BY id LIMIT ?"
)


def first_unreadable(path: Path) -> int:
    """Return the position of the first event that can't be read; 0 when that can't be told.

    Nothing is written. SQLite refuses a file that was cut off, unless it's told that the schema
    may be wrong: then it reads as far as there is something to read.
    """
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as raw:
            raw.execute("PRAGMA writable_schema = ON")
            raw.execute("PRAGMA query_only = ON")
            found = raw.execute("SELECT 1 FROM sqlite_master WHERE name = 'stored_events'")
            if found.fetchone() is None:
                return 0
            last = 0
            for size in (_PAGE, 1):
                last, is_whole = _read_on(raw, last, size)
                if is_whole:
                    return 0
            return last + 1
    except (sqlite3.Error, UnicodeDecodeError):
        return 0


def _read_on(raw: sqlite3.Connection, last: int, size: int) -> tuple[int, bool]:
    """Read in pages; return the last position before one that can't be read, or before the end."""
    try:
        while rows := raw.execute(_ROWS, (last, size)).fetchall():
            if [row[0] for row in rows] != list(range(last + 1, last + 1 + len(rows))):
                return last, False  # Damaged pages may lead anywhere, also in circles.
            last += len(rows)
    except sqlite3.DatabaseError:
        return last, False
    return last, True
