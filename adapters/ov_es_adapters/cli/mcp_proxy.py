"""`ov-es mcp-proxy`: the team's tools on stdio, for programs that aren't to hold the key."""

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import click

from ov_es_adapters.errors import NotConfiguredError

if TYPE_CHECKING:
    from ov_es_adapters.mcp_gate.team_access import TeamAccess


@click.command()
@click.option("--disable", multiple=True, metavar="TOOL", help="Hide this tool, and refuse it.")
def command(*, disable: tuple[str, ...]) -> None:
    """Serve the team's tools on stdio, and keep the key from whoever calls them.

    Where the team is and who asks is read from OV_ES_TEAM_MCP_URL, OV_ES_TEAM_IDENTIFIER and
    OV_ES_TEAM_API_KEY; OV_ES_TEAM_DISABLED_TOOLS may hold a JSON list of names. Runs of
    `ov-es watch` need none of this: each of them has a gate of its own.

    Example: ov-es mcp-proxy --disable post_message
    """
    from ov_es_adapters.mcp_gate.shown_tools import disabled_tools_in  # noqa: PLC0415 - slow
    from ov_es_adapters.mcp_gate.team_access import DISABLED_TOOLS, TeamAccess  # noqa: PLC0415

    access = TeamAccess.found_in(os.environ)
    if access is None:
        raise NotConfiguredError(
            "mcp-proxy needs OV_ES_TEAM_MCP_URL, OV_ES_TEAM_IDENTIFIER and OV_ES_TEAM_API_KEY in"
            " its environment"
        )
    listed = os.environ.get(DISABLED_TOOLS)
    disabled = frozenset(disable) | (
        disabled_tools_in(listed) if listed is not None else frozenset[str]()
    )
    asyncio.run(_serve(access, disabled))


async def _serve(access: "TeamAccess", disabled: frozenset[str]) -> None:
    from ov_es_adapters.bootstrap import SystemClock  # noqa: PLC0415 - slow
    from ov_es_adapters.mcp.tool_caller import McpToolCaller  # noqa: PLC0415
    from ov_es_adapters.mcp_gate.gate import Gate  # noqa: PLC0415
    from ov_es_adapters.mcp_gate.line_transport import serve_lines  # noqa: PLC0415
    from ov_es_adapters.redaction import Redactor  # noqa: PLC0415

    redactor = Redactor([access.api_key])
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout.buffer
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    async with McpToolCaller(
        access.url,
        api_key=access.api_key,
        identifier=access.identifier,
        clock=SystemClock(),
        redactor=redactor,
    ) as upstream:
        gate = Gate(upstream, disabled=disabled, redactor=redactor)
        await serve_lines(gate.server(), reader, writer)
