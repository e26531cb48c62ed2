"""`ov-es status`: who is connected, what runs, waits and is blocked."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.opening import json_option, name_option, reading

if TYPE_CHECKING:
    from ov_es_adapters.event_log.log import EventLog

WORK_SLOTS = 3
"""How many coding runs a watcher has at a time, unless it's told otherwise."""


@click.command()
@name_option
@json_option
@click.pass_obj
def command(options: GlobalOptions, agent: str | None, *, as_json: bool) -> None:
    """Show who is connected, what runs, waits and is blocked.

    Example: ov-es status --name ada
    """
    with reading(options, agent) as log:
        told = document(log, now=time.time())
    if as_json:
        from ov_es_adapters.cli.output import print_json  # noqa: PLC0415 - `--help` stays fast

        print_json(told)
    else:
        _print(told)


def document(log: "EventLog", *, now: float) -> dict[str, Any]:
    """Return the status with the fields of `status --json`."""
    from ov_es_adapters.cli.log_history import LogHistory  # noqa: PLC0415 - `--help` stays fast
    from ov_es_domain.turn.kinds import Lane  # noqa: PLC0415 - likewise
    from ov_es_projections import status  # noqa: PLC0415 - likewise

    turns = log.select("open_turns")
    return {
        "agents": status.agents(LogHistory(log).watches(), now=now),
        "turns": status.running(turns, now=now),
        "queues": {
            "work": status.queue(turns, Lane.WORK, slots=WORK_SLOTS, now=now),
            "reply": status.queue(turns, Lane.REPLY, slots=status.REPLY_SLOTS, now=now),
        },
        "tickets": status.waiting_tickets(log.select("tickets", order=["since"]), now=now),
        "deliveries": status.deliveries(log.select("deliveries", order=["place"]), now=now),
        "projections": status.lags(log.lag(), log.position()),
    }


def _print(told: Mapping[str, Any]) -> None:
    from ov_es_adapters.cli.output import age, print_table, say  # noqa: PLC0415 - likewise

    print_table(
        ("agent", "link", "since", "held by", "trouble"),
        [
            (
                agent["agent"],
                agent["state"].replace("_", " "),
                age(agent["seconds"]),
                _holder(agent["holder"]),
                agent["reason"] or agent["problem"],
            )
            for agent in told["agents"]
        ],
        title="Agents",
        empty="nobody has ever watched with this log",
    )
    say()
    print_table(
        ("turn", "title", "state", "for", "run", "stopping"),
        [
            (
                turn["key"],
                turn["title"],
                turn["state"],
                age(turn["seconds"]),
                turn["attempt"],
                turn["stopping"],
            )
            for turn in told["turns"]
        ],
        title="Running",
        empty="nothing runs",
    )
    queues = told["queues"]
    say()
    say(f"Waiting: {len(queues['work'])} work, {len(queues['reply'])} reply (`ov-es queue`)")
    say()
    print_table(
        ("ticket", "slug", "state", "for", "reason"),
        [
            (each["key"], each["slug"], each["state"], age(each["seconds"]), each["reason"])
            for each in told["tickets"]
        ],
        title="Tickets that wait for people",
        empty="no ticket is blocked or paused",
    )
    say()
    states = ", ".join(f"{n} {name}" for name, n in told["deliveries"]["states"].items())
    say(f"Messages: {states or 'none'}")
    _print_late(told["deliveries"]["late"])
    behind = [f"{each['name']} by {each['lag']}" for each in told["projections"] if each["lag"]]
    say(f"Projections: {'behind are ' + ', '.join(behind) if behind else 'all up to date'}")


def _print_late(late: Sequence[Mapping[str, Any]]) -> None:
    from ov_es_adapters.cli.output import age, print_table  # noqa: PLC0415 - likewise

    if late:
        print_table(
            ("delivery", "state", "waits for", "attempts", "reason"),
            [
                (
                    each["key"],
                    each["state"],
                    age(each["seconds"]),
                    each["attempts"],
                    each["reason"],
                )
                for each in late
            ],
            title="Promised more than ten minutes ago, and not out",
        )


def _holder(holder: Mapping[str, Any] | None) -> str:
    if holder is None:
        return "nobody"
    return f"{holder['program']} on {holder['host']} ({holder['pid']}), epoch {holder['epoch']}"
