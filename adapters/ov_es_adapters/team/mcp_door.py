"""The team's tools over MCP, by the SDK's server: sessions or none, old protocol and new."""

from collections.abc import Mapping
from typing import Any

import orjson
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from starlette.requests import Request

from ov_es_adapters.errors import CallRefusedError
from ov_es_adapters.runtimes.strict_fields import is_object
from ov_es_adapters.runtimes.team_server import SERVER
from ov_es_adapters.team.access import IDENTIFIER_HEADER
from ov_es_adapters.team.faults import Fault, FaultKind
from ov_es_adapters.team.live_team import LiveTeam
from ov_es_adapters.team.tools import TOOLS

FAULT_KEY = "ov_es.fault"
"""Where a request's ASGI scope holds the fault that strikes it."""


def make_mcp_server(team: LiveTeam, *, page_size: int | None) -> Server[dict[str, Any]]:
    """Return the SDK's server for a team's tools.

    Args:
        team: What the calls are about.
        page_size: How many tools a page of `tools/list` holds; None: all.
    """

    async def list_tools(
        context: ServerRequestContext[dict[str, Any]],
        params: PaginatedRequestParams | None,
    ) -> ListToolsResult:
        del context
        names = [name for name in TOOLS if name not in team.faults.unlisted]
        start = _start(params.cursor if params else None, len(names))
        if start is None:
            raise MCPError(INVALID_PARAMS, "unknown cursor")
        end = len(names) if page_size is None else start + page_size
        tools = [
            Tool(name=name, description=TOOLS[name].says, input_schema=TOOLS[name].schema)
            for name in names[start:end]
        ]
        following = str(end) if end < len(names) else None
        return ListToolsResult(tools=tools, next_cursor=following)

    async def call_tool(
        context: ServerRequestContext[dict[str, Any], Request],
        params: CallToolRequestParams,
    ) -> CallToolResult:
        request = context.request
        if request is None:
            raise AssertionError("every call comes over HTTP")
        if params.name not in TOOLS or params.name in team.faults.unlisted:
            raise MCPError(INVALID_PARAMS, f"unknown tool: {params.name}")
        fault: object = request.scope.get(FAULT_KEY)
        if isinstance(fault, Fault) and fault.kind is FaultKind.ERROR:
            return _refusal("the tool reported an error")
        who = request.headers.get(IDENTIFIER_HEADER, "")
        return _result(team, params.name, params.arguments or {}, who)

    return Server(SERVER, on_list_tools=list_tools, on_call_tool=call_tool)


def answer_apart(team: LiveTeam, body: bytes, who: str) -> bytes:
    """Carry out a call without its session, which may be over, and return the whole answer.

    `body` is a request for which `called_tool` names a tool.
    """
    request = orjson.loads(body)
    arguments: object = request["params"].get("arguments")
    result = _result(
        team, request["params"]["name"], arguments if is_object(arguments) else {}, who
    )
    answer = {
        "jsonrpc": "2.0",
        "id": request.get("id"),
        "result": result.model_dump(by_alias=True, exclude_none=True, mode="json"),
    }
    return orjson.dumps(answer)


def _result(
    team: LiveTeam, tool: str, arguments: Mapping[str, object], who: str
) -> CallToolResult:
    try:
        answer = team.call(tool, arguments, who)
    except CallRefusedError as error:
        return _refusal(error.reason)
    return CallToolResult(
        content=[TextContent(type="text", text=orjson.dumps(answer).decode())],
        structured_content=answer,
    )


def _refusal(reason: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=reason)], is_error=True)


def _start(cursor: str | None, count: int) -> int | None:
    """Return the place that a cursor of ours names, or None for any other."""
    if cursor is None:
        return 0
    is_ours = cursor.isascii() and cursor.isdigit() and 0 < int(cursor) < count
    return int(cursor) if is_ours else None


def called_tool(body: bytes) -> str | None:
    """Return the tool that a request calls, or None where it calls none.

    >>> called_tool(b'{"method": "tools/call", "params": {"name": "post_message"}}')
    'post_message'
    >>> called_tool(b'{"method": "tools/list"}') is None
    True
    """
    try:
        message: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    match message:
        case {"method": "tools/call", "params": {"name": str() as name}}:
            return name
        case _:
            return None
