"""`ov-es simulate`: plays scenario files through the real daemon on a virtual clock."""

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ov_es_adapters.cli.exit_status import ExitStatus
from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.output import print_json
from ov_es_adapters.errors import BadInputError

if TYPE_CHECKING:
    from ov_es_adapters.simulation.scenario import Scenario


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@click.option("--seed", default=0, metavar="N", help="Which chance; 0 leaves nothing to it.")
@click.option(
    "--seeds",
    default=1,
    metavar="N",
    type=click.IntRange(min=1),
    help="Play this many seeds, from --seed on.",
)
@click.option(
    "--crash-everywhere",
    is_flag=True,
    help="Play it again for each commit, with a crash right after it.",
)
@click.option(
    "--crash-before",
    is_flag=True,
    help="With --crash-everywhere: also right before each commit, which is lost then.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter for each option
    ctx: click.Context,
    files: tuple[Path, ...],
    seed: int,
    seeds: int,
    *,
    crash_everywhere: bool,
    crash_before: bool,
    as_json: bool,
) -> None:
    """Play scenario files through the real daemon on a virtual clock, and say what came out.

    Exits with 1 where an expectation isn't met or an invariant is broken. With several files or
    seeds, --json prints a list with one result for each run.

    Example: ov-es simulate scenario.json --seeds 5 --crash-everywhere
    """
    from ov_es_adapters.simulation.scenario import read_scenario  # noqa: PLC0415 - loads the daemon

    options = ctx.find_object(GlobalOptions)
    verbosity = 0 if options is None else options.verbosity
    scenarios = [read_scenario(path) for path in files]
    is_told = verbosity >= 0 and sys.stderr.isatty()
    _let_the_daemon_speak(verbosity)
    if crash_before and not crash_everywhere:
        raise BadInputError("--crash-before goes with --crash-everywhere")
    crashes = ("after", "before") if crash_before else ("after",) if crash_everywhere else ()
    results: list[dict[str, object]] = []
    for scenario in scenarios:
        for number in range(seed, seed + seeds):
            told = _play(scenario, number, crashes=crashes, is_told=is_told)
            results.append(told)
            if not as_json:
                _print(told)
    if as_json:
        print_json(results[0] if len(results) == 1 else results)
    is_fine = all(not told["violations"] and _is_met(told) for told in results)
    ctx.exit(int(ExitStatus.DONE if is_fine else ExitStatus.FOUND))


def _let_the_daemon_speak(verbosity: int) -> None:
    """Show the daemon's own log lines on stderr to those who ask for them, and to nobody else."""
    logger = logging.getLogger("ov_es")
    logger.addHandler(logging.StreamHandler() if verbosity > 0 else logging.NullHandler())
    logger.setLevel(logging.DEBUG if verbosity > 1 else logging.INFO)


def _play(
    scenario: "Scenario", seed: int, *, crashes: Sequence[str], is_told: bool
) -> dict[str, object]:
    """Return the result of one scenario with one seed, with what the crashes found."""
    from ov_es_adapters.simulation.crash_everywhere import (  # noqa: PLC0415 - likewise
        crash_everywhere,
    )
    from ov_es_adapters.simulation.result import result  # noqa: PLC0415 - likewise
    from ov_es_adapters.simulation.simulator import (  # noqa: PLC0415 - likewise
        Disturbance,
        simulate,
    )

    told = result(simulate(scenario, Disturbance(seed=seed)), scenario.expect)
    if not crashes:
        return told
    with _Progress(scenario.name, is_shown=is_told) as progress:
        report = crash_everywhere(
            scenario, seed=seed, also_before="before" in crashes, progress=progress
        )
    found = [
        {
            **asdict(crash.violation),
            "commit": crash.commit,
            "crash": "before" if crash.is_before else "after",
        }
        for crash in report.found
    ]
    violations = cast(Sequence[object], told["violations"])
    return {**told, "violations": [*violations, *found], "commits": report.commits}


class _Progress:
    """A bar on stderr, for people who wait."""

    def __init__(self, name: str, *, is_shown: bool) -> None:
        self._name = name
        self._is_shown = is_shown
        self._advance: Callable[[int, int], None] | None = None

    def __enter__(self) -> Callable[[int, int], None] | None:
        if not self._is_shown:
            return None
        from rich.console import Console  # noqa: PLC0415 - only where somebody watches
        from rich.progress import Progress  # noqa: PLC0415 - likewise

        self._progress = Progress(console=Console(stderr=True), transient=True)
        self._progress.start()
        task = self._progress.add_task(self._name or "crashes", total=None)

        def advance(done: int, total: int) -> None:
            self._progress.update(task, completed=done, total=total)

        return advance

    def __exit__(self, *error: object) -> None:
        if self._is_shown:
            self._progress.stop()


def _is_met(told: Mapping[str, object]) -> bool:
    return bool(cast(Mapping[str, object], told["expect"])["met"])


def _print(told: Mapping[str, object]) -> None:
    """Print a result for people."""
    click.echo(f"{told['name'] or 'a scenario'}, seed {told['seed']}: {_verdict(told)}")
    click.echo(f"  {told['events']} events in {told['ended_at']} s")
    for post in _objects(told["posts"]):
        thread = "" if post["parent_id"] is None else f", thread {post['parent_id']}"
        click.echo(f"  {post['at']} s  channel {post['channel_id']}{thread}: {post['content']}")
    for violation in _objects(told["violations"]):
        crash = ""
        if violation.get("commit"):
            crash = f" (a crash {violation['crash']} commit {violation['commit']})"
        where = f" at {violation['position']}" if violation["position"] else ""
        click.echo(
            f"  violation {violation['rule']}{where}{crash}: "
            f"{violation['key']} {violation['message']}"
        )
    for line in cast(Sequence[str], cast(Mapping[str, object], told["expect"])["unmet"]):
        click.echo(f"  not as expected: {line}")


def _verdict(told: Mapping[str, object]) -> str:
    if told["violations"]:
        return "an invariant is broken"
    return "as expected" if _is_met(told) else "not as expected"


def _objects(value: object) -> Sequence[Mapping[str, object]]:
    return cast(Sequence[Mapping[str, object]], value)
