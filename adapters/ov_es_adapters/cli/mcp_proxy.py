"""`ov-es mcp-proxy`: the team's tools on stdio, for programs that aren't to hold the key."""

import asyncio
import os
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
    listed = disabled_tools_in(os.environ.get(DISABLED_TOOLS, "[]"))
    asyncio.run(_serve(access, listed | frozenset(disable)))


async def _serve(access: "TeamAccess", disabled: frozenset[str]) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415 - slow

    from ov_es_adapters.bootstrap import SystemClock  # noqa: PLC0415 - likewise
    from ov_es_adapters.mcp.tool_caller import McpToolCaller  # noqa: PLC0415
    from ov_es_adapters.mcp_gate.gate import Gate  # noqa: PLC0415
    from ov_es_adapters.redaction import Redactor  # noqa: PLC0415

    redactor = Redactor([access.api_key])
    async with McpToolCaller(
        access.url,
        api_key=access.api_key,
        identifier=access.identifier,
        clock=SystemClock(),
        redactor=redactor,
    ) as upstream:
        server = Gate(upstream, disabled=disabled, redactor=redactor).server()
        async with stdio_server() as (asked, answered):
            await server.run(asked, answered, server.create_initialization_options())
