"""`ov-es team-server`: the local team server alone, until it's told to stop."""

import asyncio
import contextlib
import shlex
import signal
from collections.abc import Generator
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
    from ov_es_adapters.team.local_server import LocalTeamServer, ServerOptions
    from ov_es_adapters.team.world import TeamWorld

_SIGNALS = {signal.SIGTERM: ExitStatus.TERMINATED, signal.SIGINT: ExitStatus.INTERRUPTED}


@click.command()
@click.option("--port", default=0, metavar="N", help="The port on loopback. [default: a free one]")
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep the team in this file, over restarts and crashes.",
)
@click.option(
    "--team",
    "team_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The team at its first start: a scenario, or its `team` alone. [default: an example]",
)
@click.option(
    "--agent", metavar="IDENTIFIER", help="Your agent in it. [default: the first one of the team]"
)
@click.option("--stateless", is_flag=True, help="Serve MCP without sessions.")
@click.option("--page-size", type=int, metavar="N", help="How many tools a page of the list has.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter for each option
    ctx: click.Context,
    *,
    port: int,
    state: Path | None,
    team_file: Path | None,
    agent: str | None,
    stateless: bool,
    page_size: int | None,
    as_json: bool,
) -> None:
    """Serve a team on loopback, to try things out: WebSocket, MCP, and a door for people.

    Keys are written to files that only you can read, and are never printed. Connect the agent
    with what is printed, in another terminal:

    ov-es connect --name ada --ws WEBSOCKET --mcp-url MCP --api-key-file FILE

    People's part is played at the control address, with the token of the credentials file in the
    header x-control-token: POST to say, assign, ticket, merge, frame, repeat, drop or faults,
    and GET state.

    Example: ov-es team-server --port 8001 --state team-state.json
    """
    from ov_es_adapters.team.local_server import ServerOptions  # noqa: PLC0415 - slow to load
    from ov_es_adapters.team.state_file import StateFile  # noqa: PLC0415 - likewise
    from ov_es_adapters.team.team_file import read_team  # noqa: PLC0415 - likewise

    options = ctx.find_object(GlobalOptions)
    if options is None:
        raise AssertionError("the group makes the options")
    if page_size is not None and page_size < 1:
        raise BadInputError(f"--page-size {page_size}: must be at least 1")
    kept = None if state is None else StateFile(state).read()
    own = _checked_agent(agent) if agent is not None else kept.agent if kept is not None else None
    world = read_team(team_file, own)
    served = ServerOptions(port=port, state=state, has_sessions=not stateless, page_size=page_size)
    home = home_folder(options.home)
    ctx.exit(int(asyncio.run(_serve(world, served, home, as_json=as_json))))


def _checked_agent(agent: str) -> str:
    """Refuse what can't be an agent's identifier. Raises: BadInputError."""
    try:
        return checked_name(agent)
    except BadInputError as error:
        raise BadInputError(str(error).replace("--name", "--agent")) from error


async def _serve(
    world: "TeamWorld", options: "ServerOptions", home: Path, *, as_json: bool
) -> ExitStatus:
    """Serve until a signal comes, and return what to exit with."""
    from ov_es_adapters.team.local_server import LocalTeamServer  # noqa: PLC0415 - slow to load

    stop = _told_to_stop()
    async with LocalTeamServer(world, options) as server:
        files = CredentialFiles.beside(options.state, home, server.port)
        with files.holding(server):
            _announce(server, files, as_json=as_json)
            return await stop


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialFiles:
    """Where the keys of a server are, for its owner alone, as long as it runs."""

    document: Path
    """All of them, as JSON."""
    key: Path
    """The key of the agent, as `ov-es connect --api-key-file` takes it."""

    @classmethod
    def beside(cls, state: Path | None, home: Path, port: int) -> "CredentialFiles":
        """Return the names: beside the state, else in the home folder."""
        base = (home / "team-server" / str(port) if state is None else state).absolute()
        return cls(
            document=base.with_name(f"{base.name}.credentials.json"),
            key=base.with_name(f"{base.name}.key"),
        )

    @contextlib.contextmanager
    def holding(self, server: "LocalTeamServer") -> Generator[None]:
        """Write both, and remove them at the end: a state file has the keys anyway.

        Raises: BadInputError where the folder can't be written.
        """
        import orjson  # noqa: PLC0415 - not for --help

        from ov_es_adapters.private_files import replace_privately  # noqa: PLC0415 - likewise

        content = {
            "identifier": server.identifier,
            "api_key": server.api_key,
            "api_keys": dict(server.api_keys),
            "control_token": server.control_token,
        }
        try:
            try:
                replace_privately(self.document, orjson.dumps(content, option=orjson.OPT_INDENT_2))
                replace_privately(self.key, f"{server.api_key}\n".encode())
            except OSError as error:
                raise BadInputError(
                    f"{self.document}: the keys can't be written there: {error.strerror}"
                ) from error
            yield
        finally:
            self.document.unlink(missing_ok=True)
            self.key.unlink(missing_ok=True)


def _announce(server: "LocalTeamServer", files: CredentialFiles, *, as_json: bool) -> None:
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
    say("Connect the agent to it from another terminal:")
    say(
        shlex.join(
            [
                *("ov-es", "connect", "--name", server.identifier, "--ws", server.ws_url),
                *("--mcp-url", server.mcp_url, "--api-key-file", str(files.key)),
            ]
        )
    )


def _told_to_stop() -> "asyncio.Future[ExitStatus]":
    """Listen for SIGINT and SIGTERM from now on; the future has what to exit with then."""
    loop = asyncio.get_running_loop()
    told: asyncio.Future[ExitStatus] = loop.create_future()

    def tell(status: ExitStatus) -> None:
        if not told.done():
            told.set_result(status)

    for number, status in _SIGNALS.items():
        loop.add_signal_handler(number, tell, status)
    return told
