"""Which log a command reads, and how it's opened: never with the watcher's lock."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from ov_es_adapters.errors import BadInputError, NotConfiguredError
from ov_es_adapters.settings import checked_name, home_folder

if TYPE_CHECKING:
    from ov_es_adapters.cli.main import GlobalOptions
    from ov_es_adapters.event_log.log import EventLog

F = TypeVar("F", bound=Callable[..., object])
SQLITE = "sqlite:///"


def name_option(function: F) -> F:
    """Add `--name`: which agent's log is meant, where there is more than one."""
    return click.option(
        "--name", "agent", metavar="AGENT", help="Whose log; needed where home has several."
    )(function)


def json_option(function: F) -> F:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")(
        function
    )


def store_url(options: "GlobalOptions", agent: str | None) -> str:
    """Return the URL of the log: the option, else the agent's file in the home folder.

    Raises: NotConfiguredError when there's no log; BadInputError when it isn't clear which.
    """
    if options.store:
        return options.store
    home = home_folder(options.home)
    if agent is not None:
        path = home / f"{checked_name(agent)}.db"
        if not path.is_file():
            raise NotConfiguredError(
                f"there is no log of {agent} in {home}: `ov-es watch --name {agent}` makes one"
            )
        return f"{SQLITE}{path}"
    logs = _logs(home)
    if not logs:
        raise NotConfiguredError(
            f"there is no log in {home}: run `ov-es demo` or `ov-es watch --name AGENT` first,"
            " or name a store with --store or --home"
        )
    if len(logs) > 1:
        names = ", ".join(path.stem for path in logs)
        raise BadInputError(f"{home} has several logs: add --name with one of {names}")
    return f"{SQLITE}{logs[0]}"


def _logs(home: Path) -> Sequence[Path]:
    try:
        return sorted(path for path in home.glob("*.db") if path.is_file())
    except OSError as error:
        raise NotConfiguredError(f"--home {home} can't be read: {error.strerror}") from error


@contextmanager
def reading(
    options: "GlobalOptions", agent: str | None, *, events_alone: bool = False
) -> "Generator[EventLog]":
    """Open the log so that nothing of it can change, beside whoever writes it.

    `events_alone`: no projection is read, so a log of another version will do.
    """
    from ov_es_adapters.event_log.open_log import open_log  # noqa: PLC0415 - slow to load

    with closing(open_log(store_url(options, agent), create=False, read_only=True)) as log:
        if not events_alone:
            _check_projections(log)
        yield log


def _check_projections(log: "EventLog") -> None:
    """Refuse to read rows that another version has written: what they mean may have changed."""
    from ov_es_projections.inline import INLINE  # noqa: PLC0415 - slow to load
    from ov_es_projections.story import TRACKED  # noqa: PLC0415 - likewise

    stored = {str(row["name"]): row["version"] for row in log.select("projections")}
    others = [each.name for each in (*INLINE, *TRACKED) if stored.get(each.name) != each.version]
    if others:
        raise NotConfiguredError(
            f"another version of ov-es has written {', '.join(others)}: run `ov-es rebuild`"
        )


@contextmanager
def writing(options: "GlobalOptions", agent: str | None) -> "Generator[EventLog]":
    """Open the log for an operator's own change."""
    from ov_es_adapters.event_log.open_log import open_log  # noqa: PLC0415 - slow to load

    with closing(open_log(store_url(options, agent), create=False)) as log:
        yield log
