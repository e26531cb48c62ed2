"""One HTTP exchange for one JSON-RPC request: the transport under the SDK's client.

The SDK speaks MCP; what it keeps to itself is learnt here: the status, whether anything was
written, whether the body came to its end. Errors end here too, because one that got as far as
the SDK's task group would take the other calls of the session with it. Decision 0010 has more.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import anyio
import httpx2

from ov_es_adapters.mcp.answers import RequestId, answer_in, parsed, reason_in
from ov_es_adapters.mcp.failures import FailureKind

ANSWER_BYTES_MAX = 32 * 1024 * 1024
REASON_BYTES_MAX = 64 * 1024
NOTICE_SECONDS_MAX = 5.0
"""For what nobody waits for: that a session begins, and that it ends."""
RECONNECT_SECONDS = 1.0
"""Before a cut stream is asked for again, where the server doesn't say."""
RECONNECTS_MAX = 5

_OK = 200
_SESSION_ID = "mcp-session-id"
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(slots=True)
class Exchange:
    """What becomes of one request; made by whoever waits, filled in by the transport."""

    method: str
    limit_seconds: float
    """When the transport gives up; later than the caller's deadline where late answers count."""
    is_begun: bool = False
    is_connecting: bool = False
    """A connection is being made for it, so that nothing is written yet."""
    is_answered: bool = False
    had_session: bool = False
    status: int | None = None
    retry_after: str | None = None
    failure: FailureKind | None = None
    detail: str = ""
    scope: anyio.CancelScope | None = None

    @property
    def was_written(self) -> bool:
        """Whether a part of it may have gone out."""
        return self.is_begun and not self.is_connecting and self.failure != FailureKind.NOT_SENT

    def fail(self, kind: FailureKind, detail: str) -> None:
        """Note why there is no answer."""
        self.failure = kind
        self.detail = detail

    def abort(self) -> None:
        """Close the connection, if it's still in use."""
        if self.scope is not None:
            self.scope.cancel()


CURRENT_EXCHANGE: ContextVar[Exchange | None] = ContextVar("ov_es_exchange", default=None)
"""The SDK carries the context of whoever sends a message to the task that posts it."""


class ExchangeTransport(httpx2.AsyncBaseTransport):
    """Posts requests for the SDK, and hands it whole answers or an empty 503."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        """The connections are `inner`'s, which outlives this session."""
        self._inner = inner
        self.session_id: str | None = None
        self.is_session_gone = False
        """Nobody has to be told that the session ends."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer the SDK, whatever happens."""
        if request.method == "DELETE":
            if not self.is_session_gone:
                await self._tell(request)
            return httpx2.Response(204)
        message = parsed(request.content) if request.method == "POST" else None
        match message:
            case {"method": str(), "id": int() | str() as request_id}:
                return await self._exchange(request, request_id)
            case {"method": "notifications/initialized"}:
                await self._tell(request)
                return httpx2.Response(202)
            case {"method": str()}:
                # A call that was given up may have been applied: that is settled by looking.
                return httpx2.Response(202)
            case _:
                # No standing stream: there is nothing that we'd want to be told over it.
                return httpx2.Response(405)

    async def _exchange(self, request: httpx2.Request, request_id: RequestId) -> httpx2.Response:
        exchange = CURRENT_EXCHANGE.get()
        if exchange is None:
            msg = "every request of ours is sent within an exchange"
            raise AssertionError(msg)
        exchange.is_begun = True
        exchange.failure = None
        exchange.had_session = _SESSION_ID in request.headers
        request.extensions = {**request.extensions, "trace": _trace(exchange)}
        scope = exchange.scope = anyio.CancelScope(
            deadline=anyio.current_time() + exchange.limit_seconds
        )
        reply = httpx2.Response(503)
        with scope:
            try:
                reply = await self._ask(request, request_id, exchange)
            except httpx2.SSEError as error:
                exchange.fail(FailureKind.UNREADABLE, f"unreadable event stream: {error}")
            except httpx2.TimeoutException as error:
                kind = isinstance(error, _NOT_SENT)
                exchange.fail(
                    FailureKind.NOT_SENT if kind else FailureKind.TIMEOUT, type(error).__name__
                )
            except (httpx2.RequestError, httpx2.StreamError) as error:
                proven = isinstance(error, _NOT_SENT) or exchange.is_connecting
                kinds = FailureKind.NOT_SENT if proven else FailureKind.CUT
                exchange.fail(kinds, f"{type(error).__name__}: {error}")
        if scope.cancelled_caught:
            exchange.fail(FailureKind.TIMEOUT, "no whole answer in time")
        return reply

    async def _ask(
        self, request: httpx2.Request, request_id: RequestId, exchange: Exchange
    ) -> httpx2.Response:
        async with self._sent(request) as response:
            status = exchange.status = response.status_code
            exchange.retry_after = response.headers.get("retry-after")
            if status != _OK:
                return await _failed(response, exchange)
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            answer: dict[str, object] | None = None
            match kind:
                case "application/json":
                    body = await _bounded(response, ANSWER_BYTES_MAX)
                    answer = None if body is None else answer_in(parsed(body), request_id)
                    exchange.detail = "too large" if body is None else "no JSON-RPC answer in it"
                case "text/event-stream":
                    answer = await self._streamed(request, response, request_id)
                    exchange.detail = "the stream ended without an answer"
                case _:
                    exchange.detail = f"neither JSON nor an event stream but {kind or 'nothing'}"
            if answer is None:
                cut = kind == "text/event-stream"
                exchange.fail(FailureKind.CUT if cut else FailureKind.UNREADABLE, exchange.detail)
                return httpx2.Response(503)
            exchange.is_answered = True
            headers: dict[str, str] = {}
            if exchange.method == "initialize" and (named := response.headers.get(_SESSION_ID)):
                self.session_id = headers[_SESSION_ID] = named
            return httpx2.Response(200, headers=headers, json=answer)

    async def _streamed(
        self, request: httpx2.Request, response: httpx2.Response, request_id: RequestId
    ) -> dict[str, object] | None:
        """Return the answer out of an event stream, taken up again where it was cut (MCP-08)."""
        stream = _Stream()
        answer = await stream.read(response, request_id)
        for _ in range(RECONNECTS_MAX):
            if answer is not None or not stream.last_id:
                break
            await anyio.sleep(stream.retry_seconds)
            headers = httpx2.Headers(request.headers)
            for name in ("content-length", "content-type", "transfer-encoding"):
                headers.pop(name, None)
            headers["accept"] = "text/event-stream"
            headers["last-event-id"] = stream.last_id
            again = httpx2.Request(
                "GET", request.url, headers=headers, extensions=request.extensions
            )
            async with self._sent(again) as resumed:
                if resumed.status_code != _OK:
                    break
                answer = await stream.read(resumed, request_id)
        return answer

    async def _tell(self, request: httpx2.Request) -> None:
        """Send what nobody waits for; where its loss matters, the next request shows it."""
        with anyio.move_on_after(NOTICE_SECONDS_MAX):
            try:
                async with self._sent(request) as response:
                    await _bounded(response, REASON_BYTES_MAX)
            except (httpx2.RequestError, httpx2.StreamError):
                return

    @asynccontextmanager
    async def _sent(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Response]:
        response = await self._inner.handle_async_request(request)
        response.request = request
        try:
            yield response
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()


class _Stream:
    """An event stream, and what is needed to take it up again."""

    def __init__(self) -> None:
        self.last_id = ""
        self.retry_seconds = RECONNECT_SECONDS

    async def read(
        self, response: httpx2.Response, request_id: RequestId
    ) -> dict[str, object] | None:
        """Read to the answer, or to the end."""
        try:
            async for event in httpx2.EventSource(response, max_event_size=ANSWER_BYTES_MAX):
                self.last_id = event.id or self.last_id
                if event.retry is not None:
                    self.retry_seconds = max(0, event.retry) / 1000
                if event.event == "message" and event.data:
                    answer = answer_in(parsed(event.data), request_id)
                    if answer is not None:
                        return answer
        except (httpx2.NetworkError, httpx2.RemoteProtocolError):
            if not self.last_id:
                raise
        return None


async def _failed(response: httpx2.Response, exchange: Exchange) -> httpx2.Response:
    """Note a status that is no success; a redirect still goes to the SDK, which may follow it."""
    status = response.status_code
    if response.is_success:
        exchange.fail(FailureKind.UNREADABLE, f"HTTP {status} without an answer")
    else:
        body = await _bounded(response, REASON_BYTES_MAX)
        said = reason_in(body) if body else ""
        exchange.fail(FailureKind.HTTP, f"HTTP {status}{f': {said}' if said else ''}")
    where = response.headers.get("location") if response.has_redirect_location else None
    if where is None:
        return httpx2.Response(503)
    return httpx2.Response(status, headers={"location": where})


async def _bounded(response: httpx2.Response, bytes_max: int) -> bytes | None:
    """Read a body to its end, or return None once it's larger than anybody would want."""
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > bytes_max:
            return None
        parts.append(part)
    return b"".join(parts)


def _trace(exchange: Exchange) -> object:
    async def trace(event: str, _: Mapping[str, object]) -> None:
        if event == "connection.connect_tcp.started":
            exchange.is_connecting = True
        elif event.endswith("send_request_headers.started"):
            exchange.is_connecting = False

    return trace
