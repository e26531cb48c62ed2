"""Files that hold secrets: 0600 from their making, replaced whole, never half (CFG-1 to CFG-5)."""

import contextlib
import os
import secrets
from pathlib import Path


def replace_privately(path: Path, content: bytes) -> None:
    """Write `content` beside `path` and move it there; a crash leaves the old file or the new one.

    Raises: OSError when the folder can't be made or written; nothing is left behind then.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        # After the move it's gone already, and that is no error.
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
