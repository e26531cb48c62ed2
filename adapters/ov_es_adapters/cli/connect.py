"""`ov-es connect`: checks an agent's endpoints and credentials, and keeps them."""

import asyncio
import os
import sys

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.output import print_json
from ov_es_adapters.errors import BadInputError, NotConfiguredError
from ov_es_adapters.settings import (
    API_KEY_VARIABLE,
    Connection,
    checked_name,
    home_folder,
    save_connection,
)


def _api_key(key_file: str | None) -> str:
    """Return the key from its file, the environment or stdin; never from an argument."""
    if key_file is not None:
        try:
            with open(key_file, encoding="utf-8") as file:  # noqa: PTH123 - "-" isn't a path
                found = file.read()
        except OSError as error:
            raise BadInputError(f"--api-key-file {key_file}: {error.strerror}") from error
    elif os.environ.get(API_KEY_VARIABLE):
        found = os.environ[API_KEY_VARIABLE]
    elif sys.stdin.isatty():
        found = str(click.prompt("The agent's API key", hide_input=True, err=True))
    else:
        found = sys.stdin.readline()
    key = found.strip()
    if not key:
        raise NotConfiguredError(
            f"no API key: set {API_KEY_VARIABLE}, name --api-key-file, or write it to stdin"
        )
    return key


async def _check(connection: Connection) -> dict[str, object]:
    """Ask the team's server who we are; its refusal is ours."""
    from ov_es_adapters.bootstrap import make_tools  # noqa: PLC0415 - the MCP SDK is slow to load
    from ov_es_adapters.mcp.team_client import TeamClient  # noqa: PLC0415 - likewise

    async with make_tools(connection, deadline_seconds=20.0) as tools:
        names = sorted(await tools.advertised())
        agents = await TeamClient(tools).agents()
    mine = [agent for agent in agents if agent.identifier == connection.agent]
    if not mine:
        known = ", ".join(sorted(agent.identifier for agent in agents)) or "none"
        raise BadInputError(
            f"--name {connection.agent}: the team has no such agent; it has {known}"
        )
    return {"name": mine[0].name, "tools": names}


@click.command()
@click.option("--name", "agent", required=True, metavar="A", help="The agent's identifier.")
@click.option("--ws", required=True, metavar="URL", help="The team's WebSocket address (wss://…).")
@click.option("--mcp-url", required=True, metavar="URL", help="The team's MCP address.")
@click.option("--backend", default="", metavar="URL", help="The organisation's backend address.")
@click.option("--runtime", default="", help="The agent program that `watch` runs by default.")
@click.option("--api-key-file", metavar="FILE", help="A file that holds the key.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_obj
def command(  # noqa: PLR0913 - one parameter for each option
    options: GlobalOptions,
    agent: str,
    ws: str,
    mcp_url: str,
    backend: str,
    runtime: str,
    api_key_file: str | None,
    *,
    as_json: bool,
) -> None:
    """Check an agent's endpoints and credentials against the team, and keep them.

    The key comes from --api-key-file, OV_ES_API_KEY or stdin, never from an argument.

    Example: ov-es connect --name ada --ws ws://127.0.0.1:8001/ws --mcp-url http://127.0.0.1:8001/mcp
    """
    connection = Connection(
        agent=checked_name(agent),
        backend=backend.rstrip("/"),
        ws=ws.rstrip("/"),
        mcp=mcp_url.rstrip("/"),
        api_key=_api_key(api_key_file),
        runtime=runtime,
    )
    found = asyncio.run(_check(connection))
    kept = Connection(
        agent=connection.agent,
        name=str(found["name"]),
        backend=connection.backend,
        ws=connection.ws,
        mcp=connection.mcp,
        api_key=connection.api_key,
        runtime=runtime,
    )
    path = save_connection(home_folder(options.home), kept)
    if as_json:
        print_json(
            {
                "agent": kept.agent,
                "backend": kept.backend,
                "ws": kept.ws,
                "mcp": kept.mcp,
                "tools": found["tools"],
            }
        )
    else:
        click.echo(f"{kept.agent} is connected; its credentials are in {path}", err=True)
