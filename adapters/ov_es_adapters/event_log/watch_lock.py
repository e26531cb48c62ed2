"""One watcher for each log: a lock that a kernel or a server holds, and frees with the process."""

import fcntl
import os
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ov_es_adapters.errors import NotConfiguredError, StoreLockedError
from ov_es_adapters.event_log.open_log import POSTGRES_PREFIXES, sqlite_path
from ov_es_adapters.event_log.translated_errors import translated

_NAMING_TRIES = 20
_NAMING_SECONDS = 0.01


@contextmanager
def watch_lock(url: str) -> Generator[None]:
    """Hold a log's watch, as long as the block lasts.

    Raises: StoreLockedError that names the holder, when another process has it (OWN-01).
    """
    path = sqlite_path(url)
    if path is not None:
        with _locked(path.with_name(f"{path.name}.watch")):
            yield
    elif url.startswith(POSTGRES_PREFIXES):
        try:
            from ov_es_adapters.event_log.postgres_watch import postgres_watch  # noqa: PLC0415
        except ImportError as error:
            raise NotConfiguredError(
                "a log on PostgreSQL needs its driver: install `ov-es[postgres]`"
            ) from error
        with postgres_watch(url, own_name()):
            yield
    else:
        yield  # A log in memory is this process's own.


def own_name() -> str:
    """Say who we are, to whoever finds the lock taken."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def _holder(descriptor: int) -> str:
    """Return who has the lock, once it says so: it locks first, and then writes its name."""
    for _ in range(_NAMING_TRIES):
        said = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip()
        number, _, host = said.removeprefix("process ").partition(" on ")
        is_named = bool(host) and number.isdigit()
        if is_named and (host != socket.gethostname() or _is_running(int(number))):
            return said
        time.sleep(_NAMING_SECONDS)
    return "another watcher"


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def _locked(path: Path) -> Generator[None]:
    with translated(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreLockedError(str(path), _holder(descriptor)) from error
        # What the file says is for people; the lock itself is the kernel's.
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{own_name()}\n".encode())
        yield
    finally:
        os.close(descriptor)
