"""`ov-es watch`: the daemon of one agent, until it's told to stop."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ov_es_adapters.cli.exit_status import ExitStatus
from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.errors import BadInputError
from ov_es_adapters.settings import Connection, home_folder, load_connection
from ov_es_domain.recorded import Recorded

if TYPE_CHECKING:
    from ov_es_adapters.bootstrap import RuntimeChoice
    from ov_es_adapters.daemon.settings import WatchSettings

_SIGNALS = {signal.SIGTERM: ExitStatus.TERMINATED, signal.SIGINT: ExitStatus.INTERRUPTED}


def store_url(options: GlobalOptions, home: Path, agent: str) -> str:
    """Return where the agent's log is: the option, else one file in the home folder."""
    return options.store or f"sqlite:///{home / f'{agent}.db'}"


@contextlib.contextmanager
def _quiet_or_loud(verbosity: int) -> Generator[None, None, None]:
    levels = {-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    logger = logging.getLogger("ov_es")
    logger.addHandler(handler)
    logger.setLevel(levels.get(verbosity, logging.DEBUG))
    try:
        yield
    finally:
        logger.removeHandler(handler)


@click.command()
@click.option("--name", "agent", required=True, metavar="A", help="The agent's identifier.")
@click.option(
    "--workdir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The workspace; without one the agent can't touch code.",
)
@click.option("--runtime", default=None, help="claude, codex, opencode or scripted.")
@click.option(
    "--playbook", type=click.Path(path_type=Path), help="What the scripted runtime does."
)
@click.option(
    "--speed", default=1.0, show_default=True, help="Scripted seconds for each real one."
)
@click.option("--recordings", type=click.Path(path_type=Path), help="Where played streams are.")
@click.option("--model", help="The main model.")
@click.option("--chat-model", help="The model of everything but coding.")
@click.option("--concurrency", default=3, show_default=True, help="Coding runs at a time.")
@click.option(
    "--introduce",
    metavar="CHANNEL",
    help="The channel in which the agent introduces itself, once in its life.",
)
@click.option("--once", is_flag=True, help="Reconcile, drain, stop.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line for each event.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter for each option
    ctx: click.Context,
    *,
    agent: str,
    workdir: Path | None,
    runtime: str | None,
    playbook: Path | None,
    speed: float,
    recordings: Path | None,
    model: str | None,
    chat_model: str | None,
    concurrency: int,
    introduce: str | None,
    once: bool,
    as_json: bool,
) -> None:
    """Run the daemon for an agent: it answers, works and posts until it's told to stop.

    Example: ov-es watch --name ada --workdir ~/src --runtime scripted --playbook day.json
    """
    from ov_es_adapters.bootstrap import RuntimeChoice  # noqa: PLC0415 - slow to load
    from ov_es_adapters.daemon.settings import WatchSettings  # noqa: PLC0415 - likewise

    options = ctx.find_object(GlobalOptions)
    if options is None:
        raise AssertionError("the group makes the options")
    home = home_folder(options.home)
    connection = load_connection(home, agent)
    name = runtime or connection.runtime
    if not name:
        raise BadInputError("--runtime is missing: claude, codex, opencode or scripted")
    from ov_es_adapters.bootstrap import identity_of  # noqa: PLC0415 - likewise
    from ov_es_domain.identity import identifier  # noqa: PLC0415 - likewise

    settings = WatchSettings(
        agent=identity_of(connection),
        workdir=str(workdir.resolve()) if workdir else None,
        concurrency=concurrency,
        model=model,
        chat_model=chat_model,
        introduction_channel=identifier(introduce),
        once=once,
    )
    choice = RuntimeChoice(name=name, playbook=playbook, speed=speed, recordings=recordings)
    with _quiet_or_loud(options.verbosity):
        status = asyncio.run(
            _watch(
                connection,
                settings,
                choice,
                home,
                store_url(options, home, agent),
                _printer(as_json=as_json),
            )
        )
    ctx.exit(int(status))


def _printer(*, as_json: bool) -> Callable[[Recorded], None]:
    from ov_es_adapters.cli.output import event_data, event_line, print_json_line  # noqa: PLC0415

    def show(event: Recorded) -> None:
        if as_json:
            print_json_line(event_data(event))
        else:
            click.echo(event_line(event), err=True)

    return show


async def _watch(  # noqa: PLR0913 - all that one watcher is made of
    connection: Connection,
    settings: "WatchSettings",
    choice: "RuntimeChoice",
    home: Path,
    url: str,
    show: Callable[[Recorded], None],
) -> ExitStatus:
    """Hold the agent's lock and log, watch, and say why it ended."""
    from ov_es_adapters.bootstrap import make_runtime, make_tools, make_world  # noqa: PLC0415
    from ov_es_adapters.daemon.watcher import Watcher  # noqa: PLC0415
    from ov_es_adapters.event_log.open_log import open_log  # noqa: PLC0415
    from ov_es_adapters.event_log.watch_lock import watch_lock  # noqa: PLC0415
    from ov_es_adapters.git.push_authorizations import (  # noqa: PLC0415
        AuthorizedDirectories,
        PushAuthorizations,
    )
    from ov_es_adapters.mcp_gate.gate_socket import GateFolder, gates_of  # noqa: PLC0415
    from ov_es_adapters.mcp_gate.gated_runtime import GatedRuntime  # noqa: PLC0415
    from ov_es_adapters.redaction import Redactor  # noqa: PLC0415
    from ov_es_adapters.vocabulary.reading import load_vocabulary  # noqa: PLC0415
    from ov_es_projections.inline import INLINE  # noqa: PLC0415
    from ov_es_projections.story import TRACKED  # noqa: PLC0415

    redactor = Redactor([connection.api_key])
    with (
        watch_lock(url),
        contextlib.closing(open_log(url, inline=INLINE, tracked=TRACKED)) as log,
        GateFolder(gates_of(home, url)) as gates,
    ):
        watchers: list[Watcher] = []

        def hear_late_answer(tool: str, arguments: Mapping[str, object], result: object) -> None:
            for one in watchers:
                one.hear_late_answer(tool, arguments, result)

        async with make_tools(
            connection,
            deadline_seconds=settings.call_deadline_seconds,
            on_late_answer=hear_late_answer,
        ) as tools:
            world = make_world(
                connection,
                log=log,
                tools=tools,
                runtime=GatedRuntime(
                    make_runtime(choice, home=home, redact=lambda text: redactor.text(text, 4000)),
                    tools,
                    folder=gates,
                    redactor=redactor,
                ),
                workdir=Path(settings.workdir) if settings.workdir else None,
            )
            authorized = AuthorizedDirectories(PushAuthorizations(home))
            watcher = Watcher(
                world,
                settings,
                vocabulary=load_vocabulary(home),
                authorized_roots=lambda: authorized,
            )
            watchers.append(watcher)
            watcher.ledger.subscribe(show)
            ended_by: list[ExitStatus] = []

            def stop(number: signal.Signals) -> None:
                ended_by.append(_SIGNALS[number])
                watcher.stop()

            loop = asyncio.get_running_loop()
            for number in _SIGNALS:
                loop.add_signal_handler(number, stop, number)
            await watcher.run()
    return ended_by[0] if ended_by else ExitStatus.DONE
