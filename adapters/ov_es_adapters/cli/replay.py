"""`ov-es replay`: the state at a position, or every recorded decision made again."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from ov_es_adapters.cli.exit_status import ExitStatus
from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.moments import Moment, MomentType, position_at
from ov_es_adapters.cli.opening import json_option, name_option, reading, store_url
from ov_es_adapters.errors import BadInputError

if TYPE_CHECKING:
    from ov_es_adapters.event_log.log import EventLog

ROOMS = ("domain", "projections", "adapters")


@click.command()
@click.option("--to", type=MomentType(), metavar="N|TIME", help="Where to stop; else at the end.")
@click.option("--show", metavar="queue|KEY", help="Show both lanes, or one aggregate.")
@click.option("--verify", is_flag=True, help="Make every recorded decision again.")
@click.option(
    "--against",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Verify with the code of another checkout.",
)
@name_option
@json_option
@click.pass_context
def command(  # noqa: PLR0913 - one parameter for each option
    ctx: click.Context,
    to: Moment | None,
    show: str | None,
    against: Path | None,
    agent: str | None,
    *,
    verify: bool,
    as_json: bool,
) -> None:
    """Rebuild the state at a position, or make every recorded decision again.

    With --verify or --against it exits with 1 where a decision would come out otherwise.

    Example: ov-es replay --to 120 --show queue
    """
    options = ctx.find_object(GlobalOptions)
    if options is None:
        raise AssertionError("the group makes the options")
    if not verify and against is None:
        with reading(options, agent, events_alone=show in {None, "queue"}) as log:
            _show(log, to, show, as_json=as_json, is_quiet=options.verbosity < 0)
        return
    if show is not None or to is not None:
        raise BadInputError("--to and --show go with a replay that shows the state, not --verify")
    if against is None:
        with reading(options, agent, events_alone=True) as log:
            told = verified(log, is_quiet=options.verbosity < 0)
    else:
        told = _verified_by(against, store_url(options, agent), verbosity=options.verbosity)
    _print_verified(told, as_json=as_json)
    ctx.exit(int(ExitStatus.FOUND if told["differs"] else ExitStatus.DONE))


# --- the state at a position ------------------------------------------------------------------


def _show(
    log: "EventLog", to: Moment | None, show: str | None, *, as_json: bool, is_quiet: bool
) -> None:
    from ov_es_adapters.cli.output import print_json, print_table, say  # noqa: PLC0415

    head = log.position()
    position = head if to is None else min(head, position_at(to, log.stream()))
    state: dict[str, Any]
    if show is None:
        state = _states(log, position, is_quiet=is_quiet)
    elif show == "queue":
        state = _queue(log, position)
    else:
        state = _aggregate(log, show, position)
    if as_json:
        print_json({"position": position, "state": state})
        return
    say(f"At position {position} of {head}")
    say()
    if show is None:
        _print_states(state)
    elif show == "queue":
        from ov_es_adapters.cli.queue import print_queue  # noqa: PLC0415 - only where wanted

        print_queue(state, as_json=False)
    else:
        say(f"{state['key']} is {state['state']}, at version {state['version']}")
        print_table(("field", "value"), list(state["fields"].items()))


def _states(log: "EventLog", position: int, *, is_quiet: bool) -> dict[str, Any]:
    """Return the state of every aggregate, by its type."""
    from ov_es_adapters.cli.progress import progress  # noqa: PLC0415 - `--help` stays fast
    from ov_es_adapters.errors import CorruptLogError  # noqa: PLC0415 - likewise
    from ov_es_domain.catalogue import LIFECYCLES, lifecycle_of  # noqa: PLC0415 - likewise

    states: dict[str, dict[str, str]] = {name: {} for name in LIFECYCLES}
    with progress("events", position, is_quiet=is_quiet) as advance:
        for event in log.stream(until=position):
            lifecycle = lifecycle_of(event.key)
            known = states[lifecycle.name]
            before = known.get(event.key, lifecycle.table.initial)
            after = lifecycle.table.targets.get((before, event.body.TRANSITION))
            if after is None:
                why = f"a {lifecycle.name} cannot {event.body.TRANSITION} while {before}"
                raise CorruptLogError(event.position, event.key, why)
            known[event.key] = after
            advance(event.position)
    return states


def _print_states(state: Mapping[str, Mapping[str, str]]) -> None:
    from collections import Counter  # noqa: PLC0415 - likewise

    from ov_es_adapters.cli.output import print_table  # noqa: PLC0415 - likewise

    print_table(
        ("what", "how many", "in which states"),
        [
            (kind, len(known), ", ".join(f"{n} {s}" for s, n in Counter(known.values()).items()))
            for kind, known in state.items()
        ],
    )


def _queue(log: "EventLog", position: int) -> dict[str, Any]:
    from ov_es_adapters.cli import queue  # noqa: PLC0415 - likewise
    from ov_es_adapters.cli.status import WORK_SLOTS  # noqa: PLC0415 - likewise
    from ov_es_projections.open_turns import OPEN_TURNS  # noqa: PLC0415 - likewise
    from ov_es_projections.projection import MemoryTables  # noqa: PLC0415 - likewise

    tables = MemoryTables((OPEN_TURNS,))
    now = 0.0
    for event in log.stream(until=position):
        tables.apply(event)
        now = event.at
    return dict(queue.document(tables.select("open_turns"), slots=WORK_SLOTS, now=now))


def _aggregate(log: "EventLog", text: str, position: int) -> dict[str, Any]:
    from ov_es_adapters.cli.log_history import LogHistory  # noqa: PLC0415 - likewise
    from ov_es_adapters.cli.naming import named_key  # noqa: PLC0415 - likewise
    from ov_es_adapters.cli.shown import document  # noqa: PLC0415 - likewise

    key = named_key(text, LogHistory(log))
    events = [event for event in log.load(key) if event.position <= position]
    told = document(key, events)
    told.pop("events")
    return told


# --- decisions, made again --------------------------------------------------------------------


def verified(log: "EventLog", *, is_quiet: bool) -> dict[str, Any]:
    """Return what making every decision again comes to, with the fields of `replay --json`."""
    from ov_es_adapters.cli.progress import progress  # noqa: PLC0415 - likewise
    from ov_es_projections.verification import verify  # noqa: PLC0415 - likewise

    with progress("decisions", log.position(), is_quiet=is_quiet) as advance:
        log.check()
        decisions, differences = verify(log.stream(), progress=advance)
    return {"verified": not differences, "decisions": decisions, "differs": differences}


def _verified_by(checkout: Path, url: str, *, verbosity: int) -> dict[str, Any]:
    """Let the code of another checkout make the decisions, in a process of its own."""
    missing = [room for room in ROOMS if not (checkout / room).is_dir()]
    if missing:
        raise BadInputError(
            f"--against {checkout} is no checkout of ov-es: it has no {', '.join(missing)}"
        )
    paths = os.pathsep.join(str((checkout / room).resolve()) for room in ROOMS)
    module = "ov_es_adapters.cli.main"
    call = [sys.executable, "-P", "-m", module, "--store", url, "replay", "--verify", "--json"]
    done = subprocess.run(  # noqa: S603 - our own interpreter, with arguments that we built
        call,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=None if verbosity > 0 else subprocess.PIPE,
        check=False,
    )
    try:
        told: object = orjson.loads(done.stdout)
    except orjson.JSONDecodeError as error:
        said = (done.stderr or b"").decode("utf-8", "replace").strip().splitlines()
        why = said[-1] if said else f"it exited with {done.returncode}"
        raise BadInputError(f"--against {checkout}: it couldn't verify: {why}") from error
    if not isinstance(told, dict) or "differs" not in told:
        raise BadInputError(f"--against {checkout}: its answer isn't that of `replay --verify`")
    return {str(name): value for name, value in told.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _print_verified(told: Mapping[str, Any], *, as_json: bool) -> None:
    from ov_es_adapters.cli.output import plain, print_json, say  # noqa: PLC0415 - likewise

    if as_json:
        print_json(told)
        return
    count = told.get("decisions", "all")
    if not told["differs"]:
        say(f"{count} decisions come out as recorded")
        return
    say(f"{len(told['differs'])} aggregates differ, of {count} decisions; the first of each:")
    for difference in told["differs"]:
        shown: Any = plain(difference)
        say(f"  {shown['position']} {shown.get('key', '')}")
        say(f"    recorded {orjson.dumps(shown['recorded']).decode()}")
        say(f"    now      {orjson.dumps(shown['now']).decode()}")
