"""What PostgreSQL raises, as the errors of the store: by its codes, which no language changes."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from ov_es_adapters.errors import (
    ConcurrentWriteError,
    CorruptLogError,
    NotConfiguredError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from ov_es_adapters.event_log.postgres_address import PostgresAddress
from ov_es_domain.errors import OvEsError

APPEND_ONLY = "OVE01"
"""The code that our own triggers raise."""
_LOCKED = ("55P03", "40P01", "40001")
_NOT_THERE = ("42P01", "3F000", "42704")
_CORRUPT = ("XX001", "XX002")
_DATA = "22"


@contextmanager
def translated_postgres(address: PostgresAddress) -> Generator[None]:
    """Turn psycopg's errors into those of the store."""
    try:
        yield
    except psycopg.Error as error:
        raise translate_postgres(address, error) from error


def translate_postgres(  # noqa: PLR0911 - one answer for each kind
    address: PostgresAddress, error: psycopg.Error
) -> OvEsError:
    """Return our error for one of psycopg's; nothing was written in any of these cases."""
    code = error.sqlstate or ""
    said = address.without_secrets(" ".join(str(error).split()))
    where = address.name
    if isinstance(error, psycopg.errors.UniqueViolation):
        return ConcurrentWriteError(f"somebody wrote first: {said}")
    if code == APPEND_ONLY:
        return StoreError("the log is append-only; nothing was changed")
    if code in _LOCKED:
        return StoreLockedError(where, "another process that is writing")
    if code in _NOT_THERE:
        return NotConfiguredError(f"there is no log at {where}; `ov-es watch` makes one")
    if code in _CORRUPT:
        return CorruptLogError(0, "", f"{where} can't be read: {said}")
    if code.startswith(_DATA) or isinstance(error, psycopg.DataError):
        return StoreError(f"{where} can't hold what was to be written: {said}")
    return StoreUnavailableError(f"{where} can't be used, and nothing was written: {said}")
