"""`ov-es queue`: both lanes in the order in which turns would start."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.opening import json_option, name_option, reading

if TYPE_CHECKING:
    from ov_es_projections.projection import Row


@click.command()
@name_option
@click.option(
    "--concurrency",
    default=3,
    show_default=True,
    metavar="N",
    type=click.IntRange(min=1),
    help="How many coding runs the watcher has at a time.",
)
@json_option
@click.pass_obj
def command(options: GlobalOptions, agent: str | None, concurrency: int, *, as_json: bool) -> None:
    """Show both lanes in the order in which turns would start.

    Example: ov-es queue --name ada
    """
    with reading(options, agent) as log:
        told = document(log.select("open_turns"), slots=concurrency, now=time.time())
    print_queue(told, as_json=as_json)


def document(
    turns: "Sequence[Row]", *, slots: int, now: float
) -> dict[str, list[dict[str, object]]]:
    """Return both lanes with the fields of `queue --json`."""
    from ov_es_domain.turn.kinds import Lane  # noqa: PLC0415 - `--help` stays fast
    from ov_es_projections import status  # noqa: PLC0415 - likewise

    return {
        "work": status.queue(turns, Lane.WORK, slots=slots, now=now),
        "reply": status.queue(turns, Lane.REPLY, slots=status.REPLY_SLOTS, now=now),
    }


def print_queue(told: Mapping[str, Sequence[Mapping[str, Any]]], *, as_json: bool) -> None:
    """Print both lanes, for scripts or for people."""
    from ov_es_adapters.cli.output import age, print_json, print_table, say  # noqa: PLC0415

    if as_json:
        print_json(told)
        return
    for lane, entries in told.items():
        print_table(
            ("turn", "title", "kind", "group", "waits for", "age"),
            [
                (
                    entry["key"],
                    entry["title"],
                    entry["kind"],
                    entry["group"],
                    _deferral(entry),
                    age(entry["age"]),
                )
                for entry in entries
            ],
            title=f"{lane}: {len(entries)} waiting",
            empty="nothing waits",
        )
        say()


def _deferral(entry: Mapping[str, Any]) -> str:
    from ov_es_adapters.cli.output import moment  # noqa: PLC0415 - `--help` stays fast

    why = f" ({entry['reason']})" if entry["reason"] else ""
    match entry["deferral"]:
        case None:
            return f"nothing, it may start{why}"
        case "not-before":
            return f"{moment(entry['until'])}{why}"
        case "group-busy":
            return f"{entry['behind'] or 'its group'}{why}"
        case _:
            return f"a free place in its lane{why}"
