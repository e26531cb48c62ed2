"""Opens the log that a URL names: a SQLite file, one in memory, or PostgreSQL."""

from pathlib import Path

from ov_es_adapters.errors import BadInputError, NotConfiguredError
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.recorder_log import RecorderLog, Store
from ov_es_projections.inline import INLINE
from ov_es_projections.projection import Projection
from ov_es_projections.story import TRACKED

SQLITE_PREFIX = "sqlite:///"
POSTGRES_PREFIXES = ("postgresql://", "postgres://")


def sqlite_path(url: str) -> Path | None:
    """Return the file that a URL names; None: it's no SQLite file."""
    if not url.startswith(SQLITE_PREFIX):
        return None
    rest = url.removeprefix(SQLITE_PREFIX)
    return None if rest in {"", ":memory:"} else Path(rest).expanduser()


def open_log(
    url: str,
    *,
    inline: tuple[Projection, ...] = INLINE,
    tracked: tuple[Projection, ...] = TRACKED,
    create: bool = True,
    read_only: bool = False,
) -> EventLog:
    """Open a log, and make its tables unless they're there.

    Args:
        url: `sqlite:///PATH`, `sqlite:///:memory:` or `postgresql://…`.
        inline: The projections whose rows are written with the events.
        tracked: The projections that are folded behind a checkpoint.
        create: Whether a log that isn't there may be made.
        read_only: Never write, also no tables.

    Raises: BadInputError, NotConfiguredError, StoreError.
    """
    if url.startswith(SQLITE_PREFIX):
        from ov_es_adapters.event_log.sqlite_log import SqliteStore  # noqa: PLC0415 - slow to load

        path = sqlite_path(url)
        if path is not None and (read_only or not create) and not path.exists():
            raise NotConfiguredError(f"there is no log at {path}; `ov-es watch` makes one")
        log = RecorderLog(
            SqliteStore(path, is_read_only=read_only),
            inline=inline,
            tracked=tracked,
            has_gaps=False,
        )
    elif url.startswith(POSTGRES_PREFIXES):
        log = RecorderLog(
            _postgres_store(url, create=create, read_only=read_only),
            inline=inline,
            tracked=tracked,
            has_gaps=True,
        )
    else:
        raise BadInputError(
            f"the store {url.rpartition('@')[2]!r} is neither sqlite:///PATH nor postgresql://…"
        )
    try:
        if not read_only:
            log.prepare()
    except BaseException:
        log.close()
        raise
    return log


def _postgres_store(url: str, *, create: bool, read_only: bool) -> Store:
    try:
        from ov_es_adapters.event_log.postgres_log import PostgresStore  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise NotConfiguredError(
            "a log on PostgreSQL needs its driver: install `ov-es[postgres]`"
        ) from error
    return PostgresStore(url, create=create, is_read_only=read_only)
