"""A team server on a loopback socket that says, byte by byte, what a test wants it to say."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import orjson


@dataclass
class Asked:
    """One request, as it came."""

    verb: str
    path: str
    headers: dict[str, str]
    message: dict[str, Any]

    @property
    def method(self) -> str:
        return str(self.message.get("method", self.verb))

    @property
    def params(self) -> dict[str, Any]:
        params: dict[str, Any] = self.message.get("params", {})
        return params

    @property
    def session(self) -> str | None:
        return self.headers.get("mcp-session-id")


class Cut(bytes):
    """A response after which the connection ends."""


class Stalled(bytes):
    """A response after which nothing comes any more, though the connection stays."""


Answer = bytes
Handler = Callable[[Asked], Awaitable[Answer]]


def http(
    status: int, body: bytes = b"", *, kind: str = "application/json", **headers: str
) -> bytes:
    """Return a whole response."""
    lines = [f"HTTP/1.1 {status} As Told", f"content-length: {len(body)}", f"content-type: {kind}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def always(answer: Answer) -> Handler:
    """Return a handler that says the same each time."""

    async def handle(_: Asked) -> Answer:
        return answer

    return handle


def result(asked: Asked, found: object, **headers: str) -> bytes:
    """Return the JSON-RPC answer with a result."""
    return http(
        200,
        orjson.dumps({"jsonrpc": "2.0", "id": asked.message["id"], "result": found}),
        **headers,
    )


def error(asked: Asked, code: int, message: str) -> bytes:
    """Return the JSON-RPC answer with an error."""
    body = {
        "jsonrpc": "2.0",
        "id": asked.message["id"],
        "error": {"code": code, "message": message},
    }
    return http(200, orjson.dumps(body))


def stream(*parts: bytes, ends: bool = True) -> Answer:
    """Return an event stream in chunks; one that doesn't end is cut."""
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    chunks = [f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts]
    whole = head + b"".join(chunks)
    return whole + b"0\r\n\r\n" if ends else Cut(whole)


class ScriptedServer:
    """Answers the handshake by itself, and everything else as `on` says."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.has_sessions = True
        self.sessions = 0
        self.on: dict[str, Handler] = {}
        self.news = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        """Listen."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        """Hang up."""
        assert self._server is not None
        self._server.close()
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def of(self, method: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.method == method]

    async def until(self, method: str, count: int) -> None:
        async with self.news:
            await self.news.wait_for(lambda: len(self.of(method)) >= count)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while (asked := await _read(reader)) is not None:
                async with self.news:
                    self.asked.append(asked)
                    self.news.notify_all()
                answer = await self._answer(asked)
                writer.write(answer)
                await writer.drain()
                if isinstance(answer, Stalled):
                    await asyncio.Event().wait()
                if isinstance(answer, Cut):
                    break
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, asked: Asked) -> Answer:
        if (handler := self.on.get(asked.method)) is not None:
            return await handler(asked)
        match asked.method:
            case "initialize":
                return self.welcome(asked)
            case "tools/call":
                found = {"structuredContent": {"called": asked.params["name"]}}
                return result(asked, found)
            case "tools/list":
                return result(asked, {"tools": []})
            case "DELETE":
                return http(204)
            case _:
                return http(202)

    def welcome(self, asked: Asked) -> bytes:
        self.sessions += 1
        headers = {"mcp_session_id": f"s-{self.sessions}"} if self.has_sessions else {}
        found = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": "scripted", "version": "1"},
        }
        return result(asked, found, **headers)


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    verb, path, _ = first.split(" ")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(verb, path, headers, orjson.loads(body) if body else {})
