"""A team's socket on loopback, and a wire to it that can be cut without anyone being told."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from ov_es_adapters.ports import ConnectionEvent
from ov_es_adapters.websocket.connection import SocketSettings, WebSocketFrameSource

KEY = "KEY-a+b/c d=?&"

Handler = Callable[[ServerConnection, int], Awaitable[None]]
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class SocketServer:
    """A server whose handler is told how many connections there have been, from 1."""

    handler: Handler
    refusals: list[int] = field(default_factory=list[int])
    """HTTP statuses with which the next handshakes are answered."""
    paths: list[str] = field(default_factory=list[str])
    received: list[str | bytes] = field(default_factory=list[str | bytes])
    open_now: int = 0
    open_most: int = 0
    closed: list[int | None] = field(default_factory=list[int | None])
    """The close codes that the client's side sent, in order."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    server: Server | None = None

    @property
    def port(self) -> int:
        assert self.server is not None
        port: int = next(iter(self.server.sockets)).getsockname()[1]
        return port

    async def refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        if not self.refusals:
            return None
        return connection.respond(self.refusals.pop(0), f"no, not with {request.path}\n")

    async def handle(self, connection: ServerConnection) -> None:
        assert connection.request is not None
        self.paths.append(connection.request.path)
        self.open_now += 1
        self.open_most = max(self.open_most, self.open_now)
        try:
            await self.handler(connection, len(self.paths))
            async for message in connection:
                self.received.append(message)
        finally:
            self.open_now -= 1
            await connection.wait_closed()
            self.closed.append(connection.close_code)
            self.changed.set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self.changed.clear()
            await self.changed.wait()


@dataclass
class Wire:
    """A TCP relay that can lose all bytes of the connections it has, with both ends open."""

    target: int
    port: int = 0
    lost_ways: set[str] = field(default_factory=set[str])
    """`up` (to the server) and `down`, for the connections of that moment only."""
    sent: list[bytearray] = field(default_factory=list[bytearray])
    """What each client sent, per connection."""

    def lose(self, *ways: str) -> None:
        self.lost_ways.update(f"{way}-{len(self.sent)}" for way in ways)

    async def relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.target)
        self.sent.append(bytearray())
        number = len(self.sent)
        try:
            await asyncio.gather(
                self.pump(reader, up_writer, f"up-{number}", self.sent[-1]),
                self.pump(up_reader, writer, f"down-{number}", bytearray()),
            )
        finally:
            up_writer.transport.abort()

    async def pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: str, seen: bytearray
    ) -> None:
        try:
            while data := await reader.read(65536):
                seen += data
                if way not in self.lost_ways:
                    writer.write(data)
                    await writer.drain()
            if way not in self.lost_ways:
                writer.write_eof()
        except OSError:
            # One end was torn: so is the other.
            writer.transport.abort()


Serve = Callable[[Handler], Awaitable[SocketServer]]


@pytest.fixture
async def serving() -> AsyncIterator[Serve]:
    async with AsyncExitStack() as stack:

        async def start(handler: Handler) -> SocketServer:
            team = SocketServer(handler)
            team.server = await stack.enter_async_context(
                serve(
                    team.handle,
                    "127.0.0.1",
                    0,
                    process_request=team.refuse,
                    ping_interval=None,
                    close_timeout=1,
                    compression=None,
                )
            )
            return team

        yield start


@pytest.fixture
async def listening() -> AsyncIterator[Callable[[Talk], Awaitable[int]]]:
    """Start plain TCP servers, and leave none of their sockets behind."""
    talks: set[asyncio.Task[None]] = set()
    async with AsyncExitStack() as stack:

        async def start(talk: Talk) -> int:
            async def attend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                task = asyncio.current_task()
                assert task is not None
                talks.add(task)
                try:
                    await talk(reader, writer)
                finally:
                    writer.transport.abort()

            server = await asyncio.start_server(attend, "127.0.0.1", 0)
            stack.callback(server.close)
            port: int = server.sockets[0].getsockname()[1]
            return port

        yield start

    for talk in talks:
        talk.cancel()
    await asyncio.gather(*talks, return_exceptions=True)


@pytest.fixture
def wiring(
    listening: Callable[[Talk], Awaitable[int]],
) -> Callable[[int], Awaitable[Wire]]:
    async def start(target: int) -> Wire:
        wire = Wire(target)
        wire.port = await listening(wire.relay)
        return wire

    return start


@pytest.fixture
def source() -> Callable[..., WebSocketFrameSource]:
    """Make a source with the design's proportions, a thousand times faster."""

    def make(port: int, **changes: object) -> WebSocketFrameSource:
        settings = SocketSettings(
            address=f"ws://127.0.0.1:{port}/dev",
            api_key=KEY,
            identifier="ada",
            ping_seconds=5,
            pong_seconds=5,
            open_seconds=5,
            close_seconds=0.2,
            retry_seconds=0.001,
            retry_seconds_max=0.060,
            stable_seconds=30,
        )
        return WebSocketFrameSource(replace(settings, **changes), random=lambda: 1.0)  # type: ignore[arg-type]  # a test names the fields itself

    return make


@pytest.fixture
def take() -> Callable[[WebSocketFrameSource, int], Awaitable[list[ConnectionEvent]]]:
    """Return the first events of a source, then close it."""

    async def first(source: WebSocketFrameSource, count: int) -> list[ConnectionEvent]:
        taken: list[ConnectionEvent] = []
        async with aclosing(source.events()) as events:
            async for event in events:
                taken.append(event)
                if len(taken) == count:
                    break
        return taken

    return first
