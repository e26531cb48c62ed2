"""The team's socket, kept open: one connection at a time, frames in order, nothing sent.

Rules: WS-1 to WS-4; the field's WSK-01, WSK-04, WSK-06, LOS-06, DUP-06.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from random import random as chance
from ssl import SSLContext
from typing import TYPE_CHECKING

from ov_es_adapters.errors import NotConfiguredError
from ov_es_adapters.ports import (
    ConnectionEvent,
    ConnectionLost,
    ConnectionOpened,
    FrameReceived,
    FrameRejected,
)
from ov_es_adapters.websocket.address import is_loopback, socket_address
from ov_es_adapters.websocket.backoff import Backoff

if TYPE_CHECKING:
    # The library takes its time to load, and most commands never open a socket.
    from websockets.asyncio.client import ClientConnection
_MEBIBYTE = 1024 * 1024
_GROWTH_OF_SKIPPING = 4
_FRAMES_WAITING_MAX = 1024
_GOING_AWAY = 1001

# The library's own log shows the address with its key, and whole frames. All that matters of it
# comes out as an event; this logger stands outside the tree, where nothing can turn it on.
_SILENT = logging.Logger("websockets", logging.CRITICAL + 1)  # noqa: LOG001  - outside on purpose


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketSettings:
    """Where the socket is, and how it's kept; times are in seconds."""

    address: str = field(repr=False)
    """The base that `connect --ws` was given; it may hold a key, so it's never shown."""
    api_key: str = field(repr=False)
    identifier: str
    ping_seconds: float = 20.0
    pong_seconds: float = 20.0
    """How long an answer to a ping may take before the connection counts as dead."""
    open_seconds: float = 10.0
    close_seconds: float = 2.0
    """How long the other side may take to say goodbye before the socket is cut."""
    retry_seconds: float = 1.0
    retry_seconds_max: float = 60.0
    stable_seconds: float = 60.0
    """How long a connection has to last before the delays start over."""
    frame_bytes_max: int = 4 * _MEBIBYTE
    """Larger frames are read past and reported as rejected; the connection stays."""
    skipped_bytes_max: int = 64 * _MEBIBYTE
    """Beyond this one the connection is given up; it grows twice, fourfold, where that happens."""


class WebSocketFrameSource:
    """The receiving end of the team's socket (`FrameSource`)."""

    def __init__(
        self,
        settings: SocketSettings,
        *,
        random: Callable[[], float] = chance,
        tls: SSLContext | None = None,
    ) -> None:
        """Check the address; `tls` is for a certificate authority of one's own.

        Raises: BadInputError when the address is none of a WebSocket.
        """
        self._settings = settings
        self._address = socket_address(
            settings.address, api_key=settings.api_key, identifier=settings.identifier
        )
        self._is_local = is_loopback(settings.address)
        self._is_secure = self._address.startswith("wss:")
        self._tls = tls
        self._number = 0
        self._is_watched = False
        self._skipped_bytes_max = settings.skipped_bytes_max
        self._backoff = Backoff(
            first_seconds=settings.retry_seconds,
            seconds_max=settings.retry_seconds_max,
            stable_seconds=settings.stable_seconds,
            random=random,
        )

    async def events(self) -> AsyncGenerator[ConnectionEvent, None]:
        """Yield what happens until the server refuses us; closing the iterator closes the socket.

        `number` counts the connections that were opened; an attempt that failed has the number of
        the last one, 0 where there was none.
        Raises: NotConfiguredError when the environment's proxy needs a library that isn't there.
        """
        from websockets.exceptions import ConnectionClosed, WebSocketException  # noqa: PLC0415  - loads late

        from ov_es_adapters.websocket.losses import loss_from  # noqa: PLC0415  - loads late

        assert not self._is_watched, "one watch, one connection (DUP-06)"  # noqa: S101  - a mistake in our own code
        self._is_watched = True
        key = self._settings.api_key
        clock = asyncio.get_running_loop().time
        try:
            while True:
                open_seconds = 0.0
                try:
                    connection = await self._open()
                except (OSError, WebSocketException) as error:
                    loss = loss_from(error, secret=key)
                else:
                    self._number += 1
                    opened = clock()
                    try:
                        yield ConnectionOpened(self._number)
                        while True:
                            yield await self._next_frame(connection)
                    except ConnectionClosed as error:
                        loss = loss_from(error, secret=key)
                        open_seconds = clock() - opened
                    finally:
                        # It's gone for good before another one is made, so no frame of an older
                        # connection can come out between those of a newer one (DUP-06).
                        await _close(connection)
                    if loss.is_too_large:
                        self._skip_more()
                        yield FrameRejected("too-large", self._number)
                delay = None if loss.is_refused else self._backoff.delay_after(open_seconds)
                yield ConnectionLost(self._number, loss.reason, loss.is_refused, delay)
                if delay is None:
                    return
                await asyncio.sleep(delay)
        finally:
            self._is_watched = False

    async def _open(self) -> "ClientConnection":
        from websockets.asyncio.client import connect  # noqa: PLC0415  - loads late

        settings = self._settings
        try:
            return await connect(
                self._address,
                # A frame that inflates to a thousand times its size can't be read past cheaply.
                compression=None,
                proxy=None if self._is_local else True,
                open_timeout=settings.open_seconds,
                ping_interval=settings.ping_seconds,
                ping_timeout=settings.pong_seconds,
                close_timeout=settings.close_seconds,
                max_size=self._skipped_bytes_max,
                # Pongs wait behind unread frames, so a slow reader would look like a dead peer.
                max_queue=_FRAMES_WAITING_MAX,
                logger=_SILENT,
                ssl=(self._tls or True) if self._is_secure else None,
            )
        except ImportError as error:
            message = "the environment names a SOCKS proxy, which needs the package python-socks"
            raise NotConfiguredError(message) from error

    async def _next_frame(self, connection: "ClientConnection") -> FrameReceived | FrameRejected:
        """Return the next frame; no deadline that could cost one stands over it (LOS-06).

        Raises: ConnectionClosed, after all frames that came before the end.
        """
        parts: list[bytes] = []
        size = 0
        # As bytes: one frame that is no text must not end the connection, nor come again for ever.
        async for part in connection.recv_streaming(decode=False):
            size += len(part)
            if size <= self._settings.frame_bytes_max:
                parts.append(part)
            else:
                parts.clear()
        if size > self._settings.frame_bytes_max:
            return FrameRejected(f"too-large ({size} bytes)", self._number)
        try:
            return FrameReceived(b"".join(parts).decode(), self._number)
        except UnicodeDecodeError:
            return FrameRejected(f"not-text ({size} bytes)", self._number)

    def _skip_more(self) -> None:
        """Make room for reading past a frame that comes again on every connection (WSK-06)."""
        most = self._settings.skipped_bytes_max * _GROWTH_OF_SKIPPING**2
        self._skipped_bytes_max = min(self._skipped_bytes_max * _GROWTH_OF_SKIPPING, most)


async def _close(connection: "ClientConnection") -> None:
    try:
        await connection.close(_GOING_AWAY)
    except asyncio.CancelledError:
        connection.transport.abort()
        raise
