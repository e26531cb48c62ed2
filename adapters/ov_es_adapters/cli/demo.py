"""`ov-es demo`: a working day on this machine alone, shown live, and audited at its end."""

import asyncio
import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import click

from ov_es_adapters.cli.exit_status import ExitStatus, Failure
from ov_es_adapters.cli.main import GlobalOptions
from ov_es_domain.recorded import Recorded


@click.command()
@click.option("--keep", metavar="DIR", help="Keep the day's home folder here, to look around in.")
@click.option("--json", "as_json", is_flag=True, help="Print the audit as one JSON document.")
@click.pass_context
def command(ctx: click.Context, *, keep: str | None, as_json: bool) -> None:
    """Watch an agent get through a working day, on this machine alone.

    It starts a team server on loopback and the real watcher, plays people, breaks the
    connection, kills the watcher in the middle of a post, and ends with the audit. It needs no
    account, no model and no other server, and takes under 20 seconds.

    Example: ov-es demo
    """
    options = ctx.find_object(GlobalOptions)
    is_quiet = as_json or (options is not None and options.verbosity < 0)
    if shutil.which("git") is None:
        why = "git isn't installed, and the demo's agent works in git"
        raise Failure(why, ExitStatus.NOT_CONFIGURED)
    with _home(keep) as home:
        clean = asyncio.run(_play(home, as_json=as_json, is_quiet=is_quiet, is_kept=bool(keep)))
    ctx.exit(int(ExitStatus.DONE if clean else ExitStatus.FOUND))


@contextlib.contextmanager
def _home(keep: str | None) -> Generator[Path, None, None]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="ov-es-demo-") as folder:
            yield Path(folder)
        return
    home = Path(keep).expanduser().absolute()  # its processes work in folders of their own
    if home.exists() and any(home.iterdir()):
        raise Failure(f"--keep {keep} isn't empty; name a new folder", ExitStatus.BAD_CALL)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    yield home


async def _play(home: Path, *, as_json: bool, is_quiet: bool, is_kept: bool) -> bool:
    from ov_es_adapters.demo.day import play_day  # noqa: PLC0415 - slow to load
    from ov_es_adapters.demo.proof import prove  # noqa: PLC0415 - likewise
    from ov_es_adapters.demo.stage import StageError, set_stage  # noqa: PLC0415 - likewise

    view = _View(is_quiet=is_quiet)
    try:
        async with set_stage(home, view.event) as stage:
            await play_day(stage, view.scene)
            proof = prove(stage.events, stage.team.world.posts)
    except StageError as error:
        raise Failure(f"the demo's day stopped: {error}", ExitStatus.FOUND) from error
    if as_json:
        from ov_es_adapters.cli.output import print_json  # noqa: PLC0415 - likewise

        print_json(proof.as_data())
    else:
        view.proof(proof.lines(), is_clean=proof.is_clean)
        if is_kept:
            click.echo(f"\nThe day is kept. Try: ov-es --home {home} why mention:10:400")
        else:
            click.echo("\nTo look around in such a day: ov-es demo --keep DIR")
    return proof.is_clean


class _View:
    """Shows scenes and events as they come; people read it, so it says little at a time."""

    def __init__(self, *, is_quiet: bool) -> None:
        from rich.console import Console  # noqa: PLC0415 - slow to load

        from ov_es_adapters.demo.telling import Telling  # noqa: PLC0415 - likewise

        self._is_quiet = is_quiet
        self._telling = Telling()
        self._console = Console(file=sys.stdout, highlight=False, emoji=False, soft_wrap=True)
        self._began = time.monotonic()

    def scene(self, words: str) -> None:
        """Say what happens on the stage."""
        if not self._is_quiet:
            self._console.print(f"\n{words}", style="bold", markup=False)

    def event(self, event: Recorded) -> None:
        """Show an event that a newcomer should see; the log has all of them."""
        told = self._telling.line(event)
        if told is None or self._is_quiet:
            return
        from ov_es_adapters.cli.output import printable  # noqa: PLC0415 - slow to load

        word, sentence = told
        since = time.monotonic() - self._began
        self._console.print(f"  {since:5.1f} s  {word:8} {printable(sentence)}", markup=False)

    def proof(self, lines: Sequence[str], *, is_clean: bool) -> None:
        """Show what the day comes to."""
        self._console.print("\nThe audit", style="bold", markup=False)
        for line in lines:
            self._console.print(f"  {line}", markup=False)
        word, style = ("nothing is wrong", "green") if is_clean else ("something is wrong", "red")
        self._console.print(f"  → {word}", style=style, markup=False)
