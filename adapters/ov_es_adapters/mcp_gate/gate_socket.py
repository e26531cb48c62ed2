"""Where a gate is reached: a Unix socket that only processes of the same user may use."""

import asyncio
import contextlib
import hashlib
import logging
import os
import shutil
import socket
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from ov_es_adapters.mcp_gate import pump
from ov_es_adapters.mcp_gate.gate import Gate
from ov_es_adapters.mcp_gate.line_transport import serve_lines

_LOGGER = logging.getLogger("ov_es.mcp_gate")
_PATH_BYTES_MAX = 107
"""What a socket's address has room for on Linux, its final zero aside."""
_NAME_CHARACTERS = 16
_CREDENTIALS = struct.Struct("3i")


def gates_of(home: Path, store: str) -> Path:
    """Return where the gates of a log's watcher are: it's the only one, but others may run too.

    The store's address may hold a password, and a socket's path has to be short.
    """
    return home / "gates" / hashlib.sha256(store.encode()).hexdigest()[:12]


class GateFolder:
    """The private folder in which a watcher's gates are."""

    def __init__(self, wanted: Path) -> None:
        """Make `wanted`, empty of an earlier life's sockets; a short place where it's too long.

        Raises: OSError where no folder can be made.
        """
        longest = len(os.fsencode(wanted.absolute())) + len("/.sock") + _NAME_CHARACTERS
        if longest > _PATH_BYTES_MAX:
            self.path = Path(tempfile.mkdtemp(prefix="ov-es-gates-"))
            return
        wanted.mkdir(parents=True, exist_ok=True, mode=0o700)
        wanted.chmod(0o700)
        for left in wanted.glob("*.sock"):
            left.unlink(missing_ok=True)
        self.path = wanted

    def close(self) -> None:
        """Remove the folder with whatever is left in it."""
        shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


class OpenGate:
    """A gate with its socket, for as long as its run lives."""

    def __init__(
        self, gate: Gate, path: Path, server: asyncio.Server, close: Callable[[], None]
    ) -> None:
        self.gate = gate
        self.path = path
        self._server = server
        self._close_connections = close

    @classmethod
    async def open(cls, gate: Gate, folder: GateFolder, name: str) -> "OpenGate":
        """Listen for the run's connections; it may have several, one after the other or not.

        Raises: OSError where the socket can't be made.
        """
        path = folder.path / f"{name[:_NAME_CHARACTERS]}.sock"
        path.unlink(missing_ok=True)
        tasks: set[asyncio.Task[Any]] = set()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is None:
                raise AssertionError("a connection is served by a task")
            tasks.add(task)
            try:
                if _is_our_own_user(writer):
                    await serve_lines(gate.server(), reader, writer)
            except (OSError, asyncio.CancelledError):
                # Its run is gone, or has let go of it: what it asked is in the witness.
                _LOGGER.debug("a connection of %s ended early", path.name)
            finally:
                tasks.discard(task)
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()

        def close() -> None:
            for task in tuple(tasks):
                task.cancel()

        server = await asyncio.start_unix_server(serve, path)
        path.chmod(0o600)
        return cls(gate, path, server, close)

    @property
    def command(self) -> tuple[str, ...]:
        """What a run starts for its MCP server on stdio: it holds no secret (PX-2).

        The pump needs nothing but the standard library, and is started by its file, so that it
        works in any directory and whatever the run's environment says about Python.
        """
        return (sys.executable, "-I", pump.__file__, str(self.path))

    async def aclose(self) -> None:
        """Let nothing more through; calls that are under way stay without an answer."""
        self._server.close()
        self._close_connections()
        self.path.unlink(missing_ok=True)
        await asyncio.sleep(0)


def _is_our_own_user(writer: asyncio.StreamWriter) -> bool:
    """Tell who is on the other side; the folder's mode has kept others out already."""
    peer: socket.socket | None = writer.get_extra_info("socket")
    if peer is None or not hasattr(socket, "SO_PEERCRED"):
        return True
    raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    uid: int = _CREDENTIALS.unpack(raw)[1]
    return uid == os.getuid()
