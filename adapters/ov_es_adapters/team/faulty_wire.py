"""What goes wrong between a caller and the tools, on the real wire: the faults of scenarios.

A server can't refuse a connection that it has read a request from, so `refused` cuts the wire
before anything is applied. The two kinds of crash are about the caller's process: whoever can end
it is told, and the wire is cut in any case.
"""

import asyncio
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ov_es_adapters.team.access import IDENTIFIER_HEADER
from ov_es_adapters.team.faults import Fault, FaultKind
from ov_es_adapters.team.live_team import LiveTeam
from ov_es_adapters.team.mcp_door import FAULT_KEY, answer_apart, called_tool
from ov_es_adapters.team.transports import transport_of

_GARBAGE = b"<html><body>Bad gateway</body></html>"

OnCrash = Callable[[], None]
"""Ends the caller's process, where somebody can."""


class FaultyWire:
    """An ASGI application around the tools' own that lets some calls go wrong."""

    def __init__(
        self, inner: ASGIApp, team: LiveTeam, *, on_crash: OnCrash, stopping: asyncio.Event
    ) -> None:
        """Calls that are never answered end with `stopping`, at the latest."""
        self._inner = inner
        self._team = team
        self._on_crash = on_crash
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._inner(scope, receive, send)
            return
        body = await _read(receive)
        if body is None:
            return
        tool = called_tool(body)
        if tool is None:
            await self._inner(scope, _replaying(body, receive), send)
            return
        self._team.count(tool)
        is_listed = tool not in self._team.faults.unlisted
        fault = self._team.faults.strike(tool) if is_listed else None
        if fault is None:
            await self._inner(scope, _replaying(body, receive), send)
        else:
            await self._go_wrong(fault, body, scope, receive, send)

    async def _go_wrong(  # noqa: C901 - one answer for each kind of fault
        self, fault: Fault, body: bytes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        match fault.kind:
            case FaultKind.REFUSED:
                await _cut(scope, receive)
            case FaultKind.TIMEOUT_BEFORE:
                await self._say_nothing(scope, receive)
            case FaultKind.TIMEOUT_AFTER:
                await self._apply(body, scope)
                await self._say_nothing(scope, receive)
            case FaultKind.LATE:
                await self._be_late(fault.by or 0.0)
                # What hasn't arrived when the server stops never does.
                if not self._stopping.is_set():
                    who = Headers(scope=scope).get(IDENTIFIER_HEADER, "")
                    late = answer_apart(self._team, body, who)
                    await Response(late, media_type="application/json")(scope, receive, send)
            case FaultKind.HTTP:
                status = fault.status or 500
                await PlainTextResponse(f"status {status}", status)(scope, receive, send)
            case FaultKind.ERROR:
                marked: Scope = {**scope, FAULT_KEY: fault}
                await self._inner(marked, _replaying(body, receive), send)
            case FaultKind.GARBAGE:
                await self._apply(body, scope)
                garbage = Response(_GARBAGE, media_type="application/json")
                await garbage(scope, receive, send)
            case FaultKind.CRASH_BEFORE:
                self._on_crash()
                await _cut(scope, receive)
            case FaultKind.CRASH_AFTER:
                await self._apply(body, scope)
                self._on_crash()
                await _cut(scope, receive)
            case FaultKind.UNLISTED:
                raise AssertionError("a tool that isn't listed strikes no call")

    async def _apply(self, body: bytes, scope: Scope) -> None:
        """Carry out a call whose answer nobody gets."""

        async def drop(message: Message) -> None:
            del message

        await self._inner(scope, _replaying(body, None), drop)

    async def _be_late(self, seconds: float) -> None:
        """Let time pass; a server that stops meanwhile doesn't wait for it."""
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({stopping}, timeout=seconds)
        finally:
            stopping.cancel()

    async def _say_nothing(self, scope: Scope, receive: Receive) -> None:
        """Hold the connection until the caller has given up, or the server stops."""
        gone = asyncio.ensure_future(_until_gone(receive))
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({gone, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            stopping.cancel()
        await _cut(scope, receive)


async def _read(receive: Receive) -> bytes | None:
    """Return a request's whole body, or None where the caller left before its end."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


def _replaying(body: bytes, receive: Receive | None) -> Receive:
    """Return what gives the body again, and then what comes after it; None: nothing ever."""
    is_read = False

    async def again() -> Message:
        nonlocal is_read
        if not is_read:
            is_read = True
            return {"type": "http.request", "body": body, "more_body": False}
        if receive is None:
            await asyncio.Event().wait()
            raise AssertionError("nobody sets this event")
        return await receive()

    return again


async def _cut(scope: Scope, receive: Receive) -> None:
    """Cut the wire, and wait until that is known."""
    transport_of(scope).abort()
    await _until_gone(receive)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
