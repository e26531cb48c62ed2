"""One watcher for each log: a lock that the operating system holds, and frees with the process."""

import fcntl
import os
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ov_es_adapters.errors import StoreLockedError
from ov_es_adapters.event_log.open_log import sqlite_path


@contextmanager
def watch_lock(url: str) -> Generator[None]:
    """Hold a log's watch, as long as the block lasts.

    Raises: StoreLockedError that names the holder, when another process has it (OWN-01).
    """
    path = sqlite_path(url)
    if path is None:
        # A log in memory is this process's own; PostgreSQL's is fenced by the lease in the log.
        yield
        return
    with _locked(path.with_name(f"{path.name}.watch")):
        yield


@contextmanager
def _locked(path: Path) -> Generator[None]:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(descriptor, 200).decode("utf-8", "replace").strip()
            raise StoreLockedError(str(path), holder or "another watcher") from error
        # What the file says is for people; the lock itself is the kernel's.
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        os.close(descriptor)
