"""One run's gate: an MCP server that shows, refuses, forwards and remembers."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from ov_es_adapters.errors import CallUnknownError, PeerRefusedError, ToolCallError
from ov_es_adapters.mcp.answers import refusal_in
from ov_es_adapters.mcp_gate.shown_tools import shown, without_credentials
from ov_es_adapters.mcp_gate.witness import Witness
from ov_es_adapters.redaction import Redactor
from ov_es_adapters.runtimes.team_server import SERVER
from ov_es_domain.observation import ToolCall

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server


class Upstream(Protocol):
    """The team's server, with the credentials that it wants."""

    async def definitions(self, *, refresh: bool = False) -> tuple[Mapping[str, object], ...]:
        """Return the tools as the server defines them.

        Raises: ToolCallError, PeerRefusedError.
        """
        ...

    async def forward(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        """Call a tool once and return the server's result as it is.

        Raises: ToolCallError, PeerRefusedError.
        """
        ...


class Gate:
    """What one run can reach of the team, and what it did there."""

    def __init__(
        self, upstream: Upstream, *, disabled: frozenset[str], redactor: Redactor
    ) -> None:
        """`disabled` are the names of the tools that this run's lane may not use."""
        self._upstream = upstream
        self._disabled = disabled
        self._redactor = redactor
        self._witness = Witness(redactor)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls so far, in the order in which they began (PX-10)."""
        return self._witness.calls

    def server(self) -> "Server[dict[str, Any]]":
        """Return an MCP server for one connection of the run."""
        from mcp.server.context import ServerRequestContext  # noqa: PLC0415  - heavy
        from mcp.server.lowlevel.server import Server  # noqa: PLC0415  - likewise
        from mcp_types import (  # noqa: PLC0415  - likewise
            CallToolRequestParams,
            CallToolResult,
            ListToolsResult,
            PaginatedRequestParams,
        )

        async def list_tools(
            context: ServerRequestContext[dict[str, Any]], params: PaginatedRequestParams | None
        ) -> ListToolsResult:
            del context, params
            return ListToolsResult.model_validate({"tools": await self._listed()}, by_name=False)

        async def call_tool(
            context: ServerRequestContext[dict[str, Any]], params: CallToolRequestParams
        ) -> CallToolResult:
            del context
            result = await self._call(params.name, params.arguments or {})
            return CallToolResult.model_validate(result, by_name=False)

        return Server(
            SERVER, version=version("ov-es"), on_list_tools=list_tools, on_call_tool=call_tool
        )

    async def _listed(self) -> list[dict[str, object]]:
        try:
            definitions = await self._upstream.definitions()
        except (ToolCallError, PeerRefusedError) as error:
            raise self._protocol_error(error) from error
        return shown(definitions, disabled=self._disabled)

    async def _call(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        call = self._witness.begin(tool)
        if tool in self._disabled:
            # Hiding isn't enough: a model may know a name from elsewhere (PX-5).
            reason = f"{tool} is disabled for this run: its answer is posted for it"
            call.ended(ok=False, reason=reason)
            return {"content": [{"type": "text", "text": reason}], "isError": True}
        try:
            result = await self._upstream.forward(tool, without_credentials(arguments))
        except (ToolCallError, PeerRefusedError) as error:
            # Never tried again here: what has no answer may have had its effect.
            call.ended(
                ok=None if isinstance(error, CallUnknownError) else False, reason=str(error)
            )
            raise self._protocol_error(error) from error
        refused = refusal_in(result)
        call.ended(ok=refused is None, reason=refused or "")
        return _with_content(result)

    def _protocol_error(self, error: Exception) -> Exception:
        from mcp import MCPError  # noqa: PLC0415  - heavy
        from mcp_types import INTERNAL_ERROR  # noqa: PLC0415  - likewise

        return MCPError(INTERNAL_ERROR, self._redactor.redact(str(error)))


def _with_content(result: Mapping[str, object]) -> dict[str, object]:
    """Return a result as the protocol wants it: servers of the old kind left the wrapping out."""
    if "content" in result:
        return dict(result)
    said = orjson.dumps({name: value for name, value in result.items() if name != "_meta"})
    return {"content": [{"type": "text", "text": said.decode()}]}
