"""Calls of the team's tools over HTTP: sessions, deadlines, and what a failure proves."""

import asyncio
import logging
import math
import random
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import parse_qsl, urlsplit

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.mcp.answers import refusal_in, unpacked
from ov_es_adapters.mcp.discovery import (
    Discovery,
    ToolDefinition,
    look_at,
    page_failed,
    read_pages,
)
from ov_es_adapters.mcp.failures import FailureKind, RequestFailedError
from ov_es_adapters.mcp.late_answers import Asked, LateAnswer, LateAnswers
from ov_es_adapters.mcp.outcomes import call_error, refusal
from ov_es_adapters.mcp.throttle import Throttle
from ov_es_adapters.ports import Clock
from ov_es_adapters.redaction import Redactor

if TYPE_CHECKING:
    import httpx2

    from ov_es_adapters.mcp.exchange import Exchange
    from ov_es_adapters.mcp.session import McpSession

DEADLINE_SECONDS = 20.0
DISCOVERY_DEADLINES = 6
"""A whole listing may take as long as this many requests (MCP-06)."""

_LOGGER = logging.getLogger(__name__)
_SESSION_IS_GONE = frozenset({400, 404, 409, 410})
_TOO_MANY_REQUESTS = 429


class SessionMode(StrEnum):
    """Whether the server has sessions (MCP-104)."""

    UNINITIALIZED = "uninitialized"
    STATEFUL = "stateful"
    STATELESS = "stateless"


class McpToolCaller:
    """The `ToolCaller` of the real world; safe for any number of concurrent calls."""

    def __init__(  # noqa: PLR0913  - one server's settings, and the world's parts for tests
        self,
        url: str,
        api_key: str,
        identifier: str,
        *,
        clock: Clock,
        deadline_seconds: float = DEADLINE_SECONDS,
        late_answer_seconds: float | None = None,
        on_late_answer: LateAnswer | None = None,
        transport: "httpx2.AsyncBaseTransport | None" = None,
        chance: Callable[[], float] = random.random,
        redactor: Redactor | None = None,
    ) -> None:
        """Say where, as whom, and how long to wait. Nothing is sent yet.

        Args:
            url: The server's MCP address.
            api_key: The agent's key; it's in a header of each request, and in no message.
            identifier: The agent's identifier.
            clock: For the pauses that a server asks for.
            deadline_seconds: For one request with all of its body.
            late_answer_seconds: How much longer an answer is listened for after the deadline;
                as long again by default. Only where there is an `on_late_answer`.
            on_late_answer: Is told of an answer that came after its call was given up (OUT-06).
            transport: The connections, where they aren't the machine's; closed by the caller.
            chance: Gives numbers from 0 to 1.
            redactor: Takes secrets out of reasons; it should know more than the key.

        Raises: BadInputError for a deadline or an address that can't be one.
        """
        if not math.isfinite(deadline_seconds) or deadline_seconds <= 0:
            msg = f"the deadline of MCP requests is {deadline_seconds!r}, not finite and above 0 s"
            raise BadInputError(msg)
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            msg = "the MCP address has to be a whole one, as in https://host/mcp"
            raise BadInputError(msg)
        self._url = url
        self._headers = {"x-agent-api-key": api_key, "x-agent-identifier": identifier}
        self._deadline = deadline_seconds
        self._late = deadline_seconds if late_answer_seconds is None else late_answer_seconds
        self._given_transport = transport
        self._own_transport: httpx2.AsyncBaseTransport | None = None
        tokens = [value for _, value in parse_qsl(parts.query)] + [parts.password or ""]
        self._redactor = redactor or Redactor([api_key, *tokens])
        self._late_answers = (
            None if on_late_answer is None else LateAnswers(on_late_answer, self._redactor)
        )
        self._throttle = Throttle(clock, chance)
        self._session: McpSession | None = None
        self._opening: asyncio.Task[McpSession] | None = None
        self._old_sessions: set[McpSession] = set()
        self._discovery = Discovery(self._read_tools)

    @property
    def mode(self) -> SessionMode:
        """How the server answered to `initialize`, if it did."""
        if self._session is None:
            return SessionMode.UNINITIALIZED
        return SessionMode.STATEFUL if self._session.session_id else SessionMode.STATELESS

    @property
    def parked_until(self) -> float | None:
        """Until when the server doesn't want to be asked, by the wall clock; None if it does."""
        return self._throttle.parked_until

    async def call(self, tool: str, arguments: Mapping[str, object]) -> object:
        """Call a tool once; see the port for what is returned and raised."""
        params = {"name": tool, "arguments": dict(arguments)}
        try:
            result = await self._request("tools/call", params, late=(tool, arguments))
        except RequestFailedError as failure:
            raise self._error(failure, tool) from failure
        reason = refusal_in(result)
        if reason is not None:
            raise refusal(tool, reason, self._redactor)
        return unpacked(result)

    async def forward(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        """Call a tool for somebody else, and return the server's result as it is, refusal or not.

        Raises: CallNotAppliedError, CallRefusedError, CallUnknownError, PeerRefusedError.
        """
        try:
            return await self._request("tools/call", {"name": tool, "arguments": dict(arguments)})
        except RequestFailedError as failure:
            raise self._error(failure, tool) from failure

    async def advertised(self, *, refresh: bool = False) -> frozenset[str]:
        """Return the names of all tools; see the port."""
        return frozenset(str(tool["name"]) for tool in await self.definitions(refresh=refresh))

    async def definitions(self, *, refresh: bool = False) -> tuple[ToolDefinition, ...]:
        """Return the tools as the server defines them, in its order.

        Raises: ToolCallError, PeerRefusedError.
        """
        try:
            return await self._discovery.definitions(refresh=refresh)
        except RequestFailedError as failure:
            raise self._error(failure, "tools/list") from failure

    async def __aenter__(self) -> Self:
        """Return itself; `aclose` follows."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.aclose()

    async def aclose(self) -> None:
        """End what is under way, tell the server that the session is over, and hang up."""
        await self._discovery.close()
        if self._late_answers is not None:
            await self._late_answers.close()
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        sessions = [*self._old_sessions, *([self._session] if self._session else [])]
        self._session = self._opening = None
        for session in sessions:
            await session.close()
        self._old_sessions.clear()
        if self._own_transport is not None:
            await self._own_transport.aclose()
            self._own_transport = None

    # --- requests ------------------------------------------------------------------------------

    async def _request(
        self,
        method: str,
        params: Mapping[str, object],
        *,
        late: tuple[str, Mapping[str, object]] | None = None,
    ) -> dict[str, object]:
        """Make a request, and once more where the server has forgotten our session (MCP-107)."""
        session = await self._current_session()
        try:
            return await self._once(session, method, params, late=late)
        except RequestFailedError as failure:
            if not _lost_session(failure):
                raise
        self._reset(session)
        session = await self._current_session()
        return await self._once(session, method, params, late=late)

    async def _once(
        self,
        session: "McpSession",
        method: str,
        params: Mapping[str, object],
        *,
        late: tuple[str, Mapping[str, object]] | None = None,
    ) -> dict[str, object]:
        from ov_es_adapters.mcp.exchange import Exchange  # noqa: PLC0415  - heavy

        self._be_patient(method)
        listens = late is not None and self._late_answers is not None
        limit = self._deadline + (self._late if listens else 0.0)
        exchange = Exchange(method=method, limit_seconds=limit)
        asked = asyncio.create_task(session.request(exchange, params), name=method)
        try:
            await asyncio.wait({asked}, timeout=self._deadline)
        except asyncio.CancelledError:
            asked.cancel()
            raise
        if not asked.done():
            await self._give_up(asked, exchange, late)
            raise RequestFailedError(
                FailureKind.TIMEOUT,
                method,
                f"no whole answer within {self._deadline:g} s",
                seconds=self._deadline,
                had_session=exchange.had_session,
                was_written=exchange.was_written,
            )
        try:
            result = asked.result()
        except RequestFailedError as failure:
            self._notice(failure)
            if session.is_dead:
                self._reset(session)
            raise
        self._throttle.served()
        return result

    async def _give_up(
        self,
        asked: Asked,
        exchange: "Exchange",
        late: tuple[str, Mapping[str, object]] | None,
    ) -> None:
        """Close the connection, or go on listening for an answer that settles the call."""
        if late is None or self._late_answers is None or not exchange.was_written:
            asked.cancel()
            await asyncio.wait({asked})
        else:
            self._late_answers.listen(asked, *late)

    def _be_patient(self, method: str) -> None:
        left = self._throttle.seconds_left
        if left > 0:
            raise RequestFailedError(
                FailureKind.NOT_SENT,
                method,
                f"not sent: the server asked us to wait for another {left:.0f} s",
                status=_TOO_MANY_REQUESTS,
                was_written=False,
            )

    def _notice(self, failure: RequestFailedError) -> None:
        if failure.status == _TOO_MANY_REQUESTS and failure.kind is FailureKind.HTTP:
            pause = self._throttle.refused(failure.retry_after)
            _LOGGER.warning("the team's server is left alone for %.0f s: HTTP 429", pause)

    def _error(self, failure: RequestFailedError, tool: str) -> Exception:
        # It stays in the chain of causes, and so may end up in a log with it.
        failure.message = self._redactor.redact(failure.message)
        is_pause = failure.status == _TOO_MANY_REQUESTS
        left = self._throttle.seconds_left if is_pause else 0.0
        return call_error(failure, tool, self._redactor, retry_after=left or None)

    # --- the session ---------------------------------------------------------------------------

    async def _current_session(self) -> "McpSession":
        """Return the session, made now if need be, by one for all who need it (MCP-105)."""
        if self._session is not None:
            return self._session
        if self._opening is None:
            self._opening = asyncio.create_task(self._open(), name="initialize")
            self._opening.add_done_callback(look_at)
        return await asyncio.shield(self._opening)

    async def _open(self) -> "McpSession":
        from ov_es_adapters.mcp.session import McpSession  # noqa: PLC0415  - heavy

        try:
            self._be_patient("initialize")
            session = McpSession(self._url, self._headers, self._connections())
            await session.open(self._deadline)
        except RequestFailedError as failure:
            self._notice(failure)
            raise
        finally:
            self._opening = None
        self._session = session
        return session

    def _connections(self) -> "httpx2.AsyncBaseTransport":
        import httpx2  # noqa: PLC0415  - heavy

        from ov_es_adapters.mcp.session import mute_wire_logs  # noqa: PLC0415  - heavy

        mute_wire_logs()
        if self._given_transport is not None:
            return self._given_transport
        if self._own_transport is None:
            self._own_transport = httpx2.AsyncHTTPTransport()
        return self._own_transport

    def _reset(self, session: "McpSession") -> None:
        """Forget a session, unless somebody else has renewed it meanwhile (MCP-108, MCP-109)."""
        if self._session is not session:
            return
        self._session = None
        self._discovery.forget()
        self._old_sessions = {old for old in self._old_sessions if not old.is_dead} | {session}
        session.retire(is_gone=True)

    # --- the tools -----------------------------------------------------------------------------

    async def _read_tools(self) -> tuple[ToolDefinition, ...]:
        """Read all pages from one session; where it's lost, begin again once (MCP-114)."""
        seconds = self._deadline * DISCOVERY_DEADLINES
        try:
            async with asyncio.timeout(seconds):
                try:
                    return await self._read_pages()
                except RequestFailedError as failure:
                    if not _lost_session(failure):
                        raise
                return await self._read_pages()
        except TimeoutError as error:
            raise RequestFailedError(
                FailureKind.TIMEOUT,
                "tools/list",
                f"the tool list is incomplete: its pages took longer than {seconds:g} s",
                seconds=seconds,
            ) from error

    async def _read_pages(self) -> tuple[ToolDefinition, ...]:
        session = await self._current_session()
        page = 0

        async def ask(cursor: str | None) -> Mapping[str, object]:
            nonlocal page
            page += 1
            params = {} if cursor is None else {"cursor": cursor}
            try:
                return await self._once(session, "tools/list", params)
            except RequestFailedError as failure:
                if _lost_session(failure):
                    self._reset(session)
                raise page_failed(failure, page) from None

        return await read_pages(ask)


def _lost_session(failure: RequestFailedError) -> bool:
    return (
        failure.kind is FailureKind.HTTP
        and failure.status in _SESSION_IS_GONE
        and failure.had_session
    )
