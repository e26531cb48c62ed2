"""The server's own wires, so that an application can cut one without an answer."""

import asyncio
import contextlib
from collections.abc import Generator
from typing import cast

from starlette.types import Scope
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

_KEY = "ov_es.transport"


class CuttableHttp(H11Protocol):
    """HTTP whose requests, and the sockets that come of them, know their transport."""

    def connection_made(  # type: ignore[override]  # uvicorn narrows the base class as well
        self, transport: asyncio.Transport
    ) -> None:
        """Put the transport where the application finds it."""
        self.app_state = {**self.app_state, _KEY: transport}
        super().connection_made(transport)


class QuietServer(Server):
    """A server that leaves the process's signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture none."""
        yield

    def cut_all(self) -> None:
        """Cut every wire that is still open."""
        for connection in list(self.server_state.connections):
            transport: object = getattr(connection, "transport", None)
            if isinstance(transport, asyncio.Transport):
                transport.abort()


def transport_of(scope: Scope) -> asyncio.Transport:
    """Return the wire that a request or a socket of our server uses."""
    state = cast("dict[str, object]", scope["state"])
    return cast("asyncio.Transport", state[_KEY])


def quiet_config(app: object) -> Config:
    """Return how the server runs: on loopback, with no line of a log that holds an address.

    The lines of uvicorn that name the address of a socket, which carries the key, are of level
    INFO; the level keeps them out whatever the host's logging is.
    """
    return Config(
        app,  # type: ignore[arg-type]
        http=CuttableHttp,
        ws="websockets-sansio",
        ws_max_size=1024 * 1024,
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=2,
    )
