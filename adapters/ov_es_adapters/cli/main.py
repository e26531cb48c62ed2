"""The `ov-es` command: global options, and commands that are loaded only when they're called."""

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import cast

import click

from ov_es_adapters.cli.exit_status import ExitStatus, Failure, status_of
from ov_es_domain.errors import OvEsError

COMMANDS: dict[str, str] = {
    "demo": "Watch an agent get through a working day, on this machine alone.",
    "connect": "Check an agent's endpoints and credentials, and keep them.",
    "watch": "Run the daemon for an agent.",
    "status": "Show who is connected, what runs, waits and is blocked.",
    "queue": "Show both lanes in the order in which turns would start.",
    "show": "Show one aggregate: its state, its fields and its events.",
    "log": "Print the event log.",
    "why": "Explain why something was posted, or why nothing was.",
    "audit": "Check every invariant over the whole log.",
    "replay": "Rebuild the state at a position, or re-make every decision.",
    "simulate": "Play scenario files through the real daemon on a virtual clock.",
    "machines": "Show the state machines.",
    "observe": "Say what a recorded stream of an agent program proves.",
    "resolve": "Decide about a delivery or a ticket as an operator, on the record.",
    "rebuild": "Throw away all projections and build them again from the log.",
    "authorize-pr-push": "Let agents push their agent/… branches from this repository.",
    "push-pr-branch": "Push the agent/… branch that is checked out to origin, and nothing else.",
    "revoke-pr-push": "Take the authorization of this repository back.",
    "mcp-proxy": "Serve the team's tools on stdio, and keep the key from whoever calls them.",
    "team-server": "Serve a team on loopback: WebSocket and MCP, for trying things out.",
}
"""Name → the first line of its help, so that the list needs none of the commands' imports."""


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """What stands before the command."""

    home: str | None
    store: str | None
    verbosity: int


class LazyGroup(click.Group):
    """A group whose commands live in files of their own, imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the list above."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's file, and return its `command`."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"ov_es_adapters.cli.{cmd_name.replace('-', '_')}")
        loaded: object = vars(module)["command"]
        if not isinstance(loaded, click.Command):
            raise TypeError(f"{module.__name__} has no command")
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing anything, so that `--help` stays fast."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Turn our errors into one line and an exit status; a traceback is a defect."""
        try:
            result: object = super().invoke(ctx)
        except OvEsError as error:
            raise Failure(str(error), status_of(error)) from error
        except BaseExceptionGroup as group:
            first = _first(group)
            if not isinstance(first, OvEsError):
                raise
            raise Failure(str(first), status_of(first)) from group
        return result


def _first(error: BaseException) -> BaseException:
    """Return the first error of a group: task groups wrap what their tasks raise."""
    found = error
    while isinstance(found, BaseExceptionGroup):
        found = cast("BaseExceptionGroup[BaseException]", found).exceptions[0]
    return found


def _version(ctx: click.Context, _parameter: click.Parameter, is_wanted: bool) -> None:  # noqa: FBT001 - click's signature
    if is_wanted and not ctx.resilient_parsing:
        from importlib.metadata import version  # noqa: PLC0415 - only for --version

        click.echo(f"ov-es {version('ov-es')}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `ov-es demo`. Shell completion: "
    'eval "$(_OV_ES_COMPLETE=bash_source ov-es)"',
)
@click.option(
    "--home", metavar="DIR", envvar="OV_ES_HOME", help="Where state and credentials live."
)
@click.option(
    "--store",
    metavar="URL",
    envvar="OV_ES_STORE",
    help="The event log: sqlite:///PATH or postgresql://… [default: sqlite:///<home>/<agent>.db]",
)
@click.option("-v", "--verbose", count=True, help="Say more on stderr; twice for everything.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on stderr but errors.")
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version,
    help="Print the version.",
)  # fmt: skip
@click.pass_context
def cli(
    ctx: click.Context, home: str | None, store: str | None, verbose: int, *, quiet: bool
) -> None:
    """Run autonomous coding agents for a team, and account for every message they ever posted.

    Example: ov-es demo
    """
    ctx.obj = GlobalOptions(home=home, store=store, verbosity=-1 if quiet else verbose)


def main() -> None:
    """Run the command line; the entry point of the package."""
    try:
        status: object = cli(prog_name="ov-es", standalone_mode=False)
        sys.exit(status if isinstance(status, int) else int(ExitStatus.DONE))
    except click.Abort:
        click.echo("interrupted", err=True)
        sys.exit(int(ExitStatus.INTERRUPTED))
    except click.UsageError as failure:
        said = failure.format_message()
        if "\n" in said:
            # It's the help, which a call without a command gets.
            click.echo(said, err=True)
        else:
            asked = f" (see `{failure.ctx.command_path} --help`)" if failure.ctx else ""
            click.echo(f"Error: {said.rstrip('.')}{asked}", err=True)
        sys.exit(failure.exit_code)
    except click.ClickException as failure:
        failure.show()
        sys.exit(failure.exit_code)
    except BrokenPipeError:
        # Whoever read our output has enough; nothing else may be written to it at the exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(int(ExitStatus.DONE))
    except Exception as defect:
        kind = f"{type(defect).__module__}.{type(defect).__qualname__}"
        click.echo(
            f"Error: this is a defect of ov-es, please report it: {kind}: {defect}", err=True
        )
        if os.environ.get("OV_ES_TRACEBACK"):
            raise
        sys.exit(int(ExitStatus.DEFECT))


if __name__ == "__main__":
    # Commands import this module by its name, so its classes must be that module's.
    from ov_es_adapters.cli.main import main as run

    run()
