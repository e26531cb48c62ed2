"""The watch of a log on PostgreSQL: a lock that the server holds for one connection of ours.

It's freed when the connection ends, so also when the process is killed. When the server is what
ends it, the fencing token in the log still holds the old watcher off.
"""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection
from psycopg.conninfo import make_conninfo

from ov_es_adapters.errors import StoreLockedError
from ov_es_adapters.event_log.postgres_address import postgres_address
from ov_es_adapters.event_log.postgres_errors import translated_postgres
from ov_es_adapters.event_log.postgres_recorder import CONNECT_SECONDS

_KEY = "hashtextextended('ov-es watch ' || %s, 0)"
_HOLDER = f"""
SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pg_locks.database =
  (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (classid::bigint << 32) + objid::bigint = {_KEY}
"""  # noqa: S608 - no text of others
_DEAD_AFTER = {"tcp_keepalives_idle": 15, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3}
"""Within half a minute the server notices that a host is gone for good, and frees the lock."""


@contextmanager
def postgres_watch(url: str, own_name: str) -> Generator[None]:
    """Hold the watch of a log, which is a schema.

    Raises: StoreLockedError, StoreUnavailableError, BadInputError.
    """
    address = postgres_address(url)
    with translated_postgres(address):
        given = {
            "connect_timeout": str(CONNECT_SECONDS),
            **address.parameters,
            # PostgreSQL cuts the name at 63 bytes; the host's end is what can be spared.
            "application_name": f"ov-es watch, {own_name}"[:63],
        }
        connection: Connection[tuple[Any, ...]] = Connection.connect(
            make_conninfo("", **given), autocommit=True
        )
    try:
        with translated_postgres(address):
            _take(connection, address.name, address.schema)
        yield
    finally:
        connection.close()


def _take(connection: "Connection[tuple[Any, ...]]", where: str, name: str) -> None:
    for setting, value in _DEAD_AFTER.items():
        connection.execute(f"SET {setting} = {value}".encode())
    taken = connection.execute(f"SELECT pg_try_advisory_lock({_KEY})".encode(), [name]).fetchone()
    if taken is None or not taken[0]:
        found = connection.execute(_HOLDER.encode(), [name]).fetchone()
        holder = str(found[0]).removeprefix("ov-es watch, ") if found else ""
        raise StoreLockedError(where, holder or "another watcher")
