"""A socket between a client and PostgreSQL that cuts the connection at a commit."""

import contextlib
import selectors
import shutil
import socket
import tempfile
import threading
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Self


class Cut(Enum):
    """Where the next commit is cut off."""

    NOWHERE = "nowhere"
    BEFORE = "before the server has it"
    AFTER = "after the server did it, before the client knows"


class CuttingProxy:
    """Listens in a folder of its own; `cut` is used up by the first commit that it meets."""

    def __init__(self, server: Path) -> None:
        self._server = server
        self.folder = Path(tempfile.mkdtemp(prefix="ov-es-cut-", dir="/tmp"))
        self.cut = Cut.NOWHERE
        self.is_refusing = False

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / self._server.name))
        self._listener.listen()
        self._threads: list[threading.Thread] = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        return self

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.is_refusing:
                client.close()
                continue
            thread = threading.Thread(target=self._carry, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _carry(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(str(self._server))
        with client, server, selectors.DefaultSelector() as waiting:
            waiting.register(client, selectors.EVENT_READ, server)
            waiting.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in waiting.select():
                    source, target = key.fileobj, key.data
                    assert isinstance(source, socket.socket)
                    with contextlib.suppress(ConnectionError):
                        data = source.recv(65536)
                        if not data:
                            return
                        if source is client and b"COMMIT" in data and self._is_cut(server, data):
                            return
                        target.sendall(data)

    def _is_cut(self, server: socket.socket, data: bytes) -> bool:
        cut, self.cut = self.cut, Cut.NOWHERE
        if cut is Cut.AFTER:
            server.sendall(data)
            answer = b""
            while b"COMMIT\0" not in answer:
                answer += server.recv(65536)
        return cut is not Cut.NOWHERE

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening; the connections have to be closed already."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)
        shutil.rmtree(self.folder)
