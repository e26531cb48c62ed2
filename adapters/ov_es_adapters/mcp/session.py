"""One MCP session with the team's server, from its handshake until nothing needs it any more."""

import asyncio
import logging
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

import anyio
import httpx2
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import Implementation

from ov_es_adapters.mcp.exchange import CURRENT_EXCHANGE, Exchange, ExchangeTransport
from ov_es_adapters.mcp.failures import FailureKind, RequestFailedError

_CLIENT_NAME = "ov-es"


def mute_wire_logs() -> None:
    """Silence the libraries of the wire, whose records hold addresses, headers and whole bodies.

    An address may carry a token, and an answer one that we were never told (SEC-01). What there
    is to say about a request, its error says.
    """
    for name in ("mcp.client", "mcp.shared", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class McpSession:
    """The SDK's client, kept alive by a task of its own, because its task groups want one."""

    def __init__(
        self, url: str, headers: Mapping[str, str], connections: httpx2.AsyncBaseTransport
    ) -> None:
        """Nothing is sent before `open`; `connections` outlive the session."""
        self._url = url
        self._headers = dict(headers)
        self._transport = ExchangeTransport(connections)
        self._over = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[tuple[ClientSession, JSONRPCDispatcher]] | None = None
        self._in_use = 0
        self._is_retired = False

    @property
    def session_id(self) -> str | None:
        """The id that the server gave; None from a server without sessions (MCP-104)."""
        return self._transport.session_id

    @property
    def is_dead(self) -> bool:
        """Whether it can't serve any more, for whatever reason."""
        return self._life is not None and self._life.done()

    async def open(self, deadline_seconds: float) -> None:
        """Shake hands.

        Raises: RequestFailedError; the session is closed then.
        """
        exchange = Exchange(method="initialize", limit_seconds=deadline_seconds)
        token = CURRENT_EXCHANGE.set(exchange)
        is_open = False
        try:
            session, _ = await self._start()
            await session.initialize()
            is_open = True
        except MCPError as error:
            raise failed(exchange, error) from None
        except (ValueError, RuntimeError):
            # The SDK's own words quote the answer, which nobody has redacted.
            raise RequestFailedError(
                FailureKind.UNREADABLE,
                "initialize",
                "the answer isn't that of a server whose version of MCP we speak",
                status=exchange.status,
            ) from None
        finally:
            CURRENT_EXCHANGE.reset(token)
            if not is_open:
                await self.close()

    async def _start(self) -> tuple[ClientSession, JSONRPCDispatcher]:
        self._ready = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live(self._ready), name="mcp session")
        waited: set[asyncio.Future[object]] = {self._life, self._ready}  # type: ignore[arg-type]
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if self._life.done():
            self._life.result()
            msg = "a session lives until it's closed"
            raise AssertionError(msg)
        return self._ready.result()

    async def _live(self, ready: asyncio.Future[tuple[ClientSession, JSONRPCDispatcher]]) -> None:
        try:
            await self._serve(ready)
        except* (anyio.ClosedResourceError, anyio.BrokenResourceError):
            # What is under way at the end has nobody left to tell; at any other time that's news.
            if not self._over.is_set():
                raise

    async def _serve(self, ready: asyncio.Future[tuple[ClientSession, JSONRPCDispatcher]]) -> None:
        async with (
            httpx2.AsyncClient(
                transport=self._transport, headers=self._headers, timeout=None
            ) as client,
            streamable_http_client(self._url, http_client=client) as (incoming, outgoing),
        ):
            dispatcher: JSONRPCDispatcher = JSONRPCDispatcher(incoming, outgoing)
            info = Implementation(name=_CLIENT_NAME, version=_version())
            async with ClientSession(dispatcher=dispatcher, client_info=info) as session:
                ready.set_result((session, dispatcher))
                await self._over.wait()

    async def request(self, exchange: Exchange, params: Mapping[str, object]) -> dict[str, object]:
        """Make one request, once, and return its result.

        Raises: RequestFailedError.
        """
        if self._ready is None or not self._ready.done():
            msg = "a session is opened before it's used"
            raise AssertionError(msg)
        token = CURRENT_EXCHANGE.set(exchange)
        self._in_use += 1
        try:
            _, dispatcher = self._ready.result()
            return await dispatcher.send_raw_request(
                exchange.method, params, {"cancel_on_abandon": False}
            )
        except MCPError as error:
            raise failed(exchange, error) from None
        finally:
            CURRENT_EXCHANGE.reset(token)
            exchange.abort()
            self._in_use -= 1
            self._end_if_unused()

    def retire(self, *, is_gone: bool) -> None:
        """Serve the calls that are under way, then end; `is_gone`: the server knows already."""
        self._transport.is_session_gone = is_gone
        self._is_retired = True
        self._end_if_unused()

    def _end_if_unused(self) -> None:
        if self._is_retired and self._in_use == 0:
            self._over.set()

    async def close(self) -> None:
        """End now, with whatever is under way."""
        self._over.set()
        if self._life is not None:
            await asyncio.wait({self._life})


def _version() -> str:
    try:
        return version(_CLIENT_NAME)
    except PackageNotFoundError:
        return "unknown"


def failed(exchange: Exchange, error: MCPError) -> RequestFailedError:
    """Return what an exchange proves about a request that the SDK has no result for."""
    kind, message, seconds = exchange.failure, exchange.detail, None
    if kind is None and exchange.is_answered:
        kind, message = FailureKind.PROTOCOL, error.message
    elif kind is None:
        kind = FailureKind.CUT if exchange.was_written else FailureKind.NOT_SENT
        message = "the session ended"
    if kind is FailureKind.TIMEOUT:
        seconds = exchange.limit_seconds
        message = f"no whole answer within {seconds:g} s"
    return RequestFailedError(
        kind,
        exchange.method,
        message,
        status=exchange.status,
        seconds=seconds,
        retry_after=exchange.retry_after,
        had_session=exchange.had_session,
        was_written=exchange.was_written,
    )
