"""`ov-es team-server`: the local team server alone, until it's told to stop."""

import asyncio
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_es_adapters.cli.exit_status import ExitStatus
from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.output import print_json, say
from ov_es_adapters.errors import BadInputError
from ov_es_adapters.settings import checked_name, home_folder

if TYPE_CHECKING:
    from ov_es_adapters.team.local_server import LocalTeamServer

_SIGNALS = {signal.SIGTERM: ExitStatus.TERMINATED, signal.SIGINT: ExitStatus.INTERRUPTED}


@click.command()
@click.option("--port", default=0, help="The port on loopback.  [default: any that is free]")
@click.option(
    "--state", type=click.Path(path_type=Path), help="Keep the team in this file, over restarts."
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    default=("ada",),
    metavar="IDENTIFIER",
    show_default=True,
    help="An agent of the team; several times for several, of which the first is yours.",
)
@click.option("--stateless", is_flag=True, help="Serve MCP without sessions.")
@click.option("--page-size", type=int, help="How many tools a page of the list holds.")
@click.option("--seed-example", is_flag=True, help="Start with two tickets and a question.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter for each option
    ctx: click.Context,
    *,
    port: int,
    state: Path | None,
    agents: tuple[str, ...],
    stateless: bool,
    page_size: int | None,
    seed_example: bool,
    as_json: bool,
) -> None:
    """Serve a team on loopback, to try things out: WebSocket, MCP, and a door for people.

    Keys are written to files that only you can read, and are never printed. The files go away
    with the server, unless --state keeps the team.

    Example: ov-es team-server --seed-example
    """
    from ov_es_adapters.daemon.settings import AgentIdentity  # noqa: PLC0415 - slow to load
    from ov_es_adapters.team.example import empty_team, example_team  # noqa: PLC0415 - likewise
    from ov_es_adapters.team.live_team import local_world  # noqa: PLC0415 - likewise
    from ov_es_adapters.team.local_server import (  # noqa: PLC0415 - likewise
        LocalTeamServer,
        ServerOptions,
    )

    options = ctx.find_object(GlobalOptions)
    if options is None:
        raise AssertionError("the group makes the options")
    for agent in agents:
        checked_agent(agent)
    if len(set(agents)) < len(agents):
        raise BadInputError("--agent: the same identifier is there twice")
    if page_size is not None and page_size < 1:
        raise BadInputError(f"--page-size {page_size}: must be at least 1")
    team = example_team(agents) if seed_example else empty_team(agents)
    served = ServerOptions(port=port, state=state, has_sessions=not stateless, page_size=page_size)
    home = home_folder(options.home)

    async def main() -> ExitStatus:
        stop = told_to_stop()
        world = local_world(team, AgentIdentity(identifier=agents[0]))
        async with LocalTeamServer(world, served) as server:
            files = CredentialFiles.beside(state, home, server.port)
            files.write(server)
            try:
                show(server, files, as_json=as_json)
                return await stop
            finally:
                if state is None:
                    files.remove()

    ctx.exit(int(asyncio.run(main())))


def checked_agent(agent: str) -> None:
    """Refuse what can't be an agent's identifier. Raises: BadInputError."""
    try:
        checked_name(agent)
    except BadInputError as error:
        raise BadInputError(str(error).replace("--name", "--agent")) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialFiles:
    """Where the keys of a server are, for its owner alone."""

    document: Path
    """All of them, as JSON."""
    key: Path
    """The key of the first agent, as `ov-es connect --api-key-file` takes it."""

    @classmethod
    def beside(cls, state: Path | None, home: Path, port: int) -> "CredentialFiles":
        """Return the names: beside the state, else in the home folder."""
        base = home / "team-server" / str(port) if state is None else state.absolute()
        return cls(
            document=base.with_name(f"{base.name}.credentials.json"),
            key=base.with_name(f"{base.name}.key"),
        )

    def write(self, server: "LocalTeamServer") -> None:
        """Write both. Raises: BadInputError where the folder can't be written."""
        import orjson  # noqa: PLC0415 - only here

        from ov_es_adapters.private_files import replace_privately  # noqa: PLC0415 - likewise

        content = {
            "identifier": server.identifier,
            "api_key": server.api_key,
            "api_keys": dict(server.api_keys),
            "control_token": server.control_token,
        }
        try:
            replace_privately(self.document, orjson.dumps(content, option=orjson.OPT_INDENT_2))
            replace_privately(self.key, f"{server.api_key}\n".encode())
        except OSError as error:
            raise BadInputError(
                f"{self.document}: the keys can't be written there: {error.strerror}"
            ) from error

    def remove(self) -> None:
        """Remove both; that one is gone already is no error."""
        for path in (self.document, self.key):
            with suppress(FileNotFoundError):
                path.unlink()


def show(server: "LocalTeamServer", files: CredentialFiles, *, as_json: bool) -> None:
    """Print where the server is, and where its keys are."""
    if as_json:
        print_json(
            {
                "ws": server.ws_url,
                "mcp": server.mcp_url,
                "control": server.control_url,
                "identifier": server.identifier,
                "credentials_file": str(files.document),
                "api_key_file": str(files.key),
            }
        )
        return
    say(f"WebSocket: {server.ws_url}")
    say(f"MCP: {server.mcp_url}")
    say(f"Control: {server.control_url}")
    say(f"Agent: {server.identifier}")
    say(f"Credentials: {files.document}")
    say()
    say("Connect an agent to it from another terminal:")
    say(
        f"ov-es connect --name {server.identifier} --ws {server.ws_url}"
        f" --mcp-url {server.mcp_url} --api-key-file {files.key}"
    )


def told_to_stop() -> "asyncio.Future[ExitStatus]":
    """Listen for SIGINT and SIGTERM from now on; the future has what to exit with then."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[ExitStatus] = loop.create_future()

    def tell(status: ExitStatus) -> None:
        if not told.done():
            told.set_result(status)

    for number, status in _SIGNALS.items():
        loop.add_signal_handler(number, tell, status)
    return told
