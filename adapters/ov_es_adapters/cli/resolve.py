"""`ov-es resolve`: an operator's decision about a delivery or a ticket, on the record."""

import getpass
import time
from typing import TYPE_CHECKING, Any, cast

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.opening import json_option, name_option, writing
from ov_es_adapters.errors import BadInputError, ConcurrentWriteError

if TYPE_CHECKING:
    from ov_es_adapters.event_log.log import EventLog
    from ov_es_domain.lifecycle import Aggregate, Command

DECISIONS = ("delivered", "abandoned", "retry")
CONFLICTS_MAX = 20


@click.command()
@click.argument("key")
@click.option(
    "--as",
    "decision",
    required=True,
    type=click.Choice(DECISIONS),
    help="It's out; it's given up; or it's to be tried again.",
)
@click.option("--because", required=True, metavar="TEXT", help="Why, for whoever reads the log.")
@click.option("--message", metavar="ID", help="Which message it is, for --as delivered.")
@name_option
@json_option
@click.pass_obj
def command(  # noqa: PLR0913 - one parameter for each option
    options: GlobalOptions,
    key: str,
    decision: str,
    because: str,
    message: str | None,
    agent: str | None,
    *,
    as_json: bool,
) -> None:
    """Decide about a delivery or a ticket as an operator, on the record.

    A ticket can be tried again: it's released, and the next reconciliation takes it up.

    Example: ov-es resolve delivery:reply:10:100 --as retry --because "the server was down"
    """
    from ov_es_adapters.cli.log_history import LogHistory  # noqa: PLC0415 - `--help` stays fast
    from ov_es_adapters.cli.naming import named_key  # noqa: PLC0415 - likewise
    from ov_es_adapters.cli.shown import print_shown  # noqa: PLC0415 - likewise

    reason = " ".join(because.split())
    if not reason:
        raise BadInputError("--because is empty: say why, for whoever reads the log")
    if message is not None and decision != "delivered":
        raise BadInputError("--message goes with --as delivered alone")
    with writing(options, agent) as log:
        found = named_key(key, LogHistory(log))
        _decide(log, found, decision, reason, message)
        print_shown(found, log.load(found), as_json=as_json)


def _decide(log: "EventLog", key: str, decision: str, reason: str, message: str | None) -> None:
    """Record the decision; where the watcher was faster, look again and decide again."""
    from ov_es_adapters.cli.shown import folded  # noqa: PLC0415 - likewise
    from ov_es_domain.catalogue import lifecycle_of  # noqa: PLC0415 - likewise
    from ov_es_domain.lifecycle import handle  # noqa: PLC0415 - likewise
    from ov_es_domain.recorded import NewEvent  # noqa: PLC0415 - likewise

    who = f"operator:{getpass.getuser()}"
    for attempt in range(1, CONFLICTS_MAX + 1):
        events = log.load(key)
        before = folded(key, events)
        now = time.time()
        command = _command(log, key, before, decision, reason, message, who=who, now=now)
        bodies, _ = handle(cast(Any, lifecycle_of(key)), before, command)
        answer = [
            NewEvent(
                key=key,
                version=len(events) + number,
                body=body,
                at=now,
                cause=who,
                correlation=events[-1].correlation,
                command=command if number == 1 else None,
            )
            for number, body in enumerate(bodies, start=1)
        ]
        if not answer:
            return
        try:
            log.append(answer)
        except ConcurrentWriteError:
            if attempt == CONFLICTS_MAX:
                raise
        else:
            return


def _command(  # noqa: PLR0913 - all that a decision says
    log: "EventLog",
    key: str,
    before: "Aggregate",
    decision: str,
    reason: str,
    message: str | None,
    *,
    who: str,
    now: float,
) -> "Command":
    """Return the command that a decision is.

    Raises: BadInputError for what nobody can decide.
    """
    from ov_es_domain.delivery import commands as d  # noqa: PLC0415 - likewise
    from ov_es_domain.identity import identifier, parse_key  # noqa: PLC0415 - likewise
    from ov_es_domain.ticket.commands import ReleaseTicket  # noqa: PLC0415 - likewise

    match parse_key(key).type, decision:
        case "delivery", "delivered":
            return d.ConfirmDelivery(
                message_id=identifier(message), proof="operator", reason=reason
            )
        case "delivery", "abandoned":
            return d.AbandonDelivery(reason=reason, by=who)
        case "delivery", _:
            return d.ReplanDelivery(reason=reason, until=now)
        case "ticket", "retry":
            _refuse_while_held(log, key, before)
            return ReleaseTicket(reason=reason)
        case "ticket", _:
            raise BadInputError(f"{key} is a ticket: it can be resolved --as retry alone")
        case kind, _:
            raise BadInputError(f"{key} is a {kind}; only deliveries and tickets are resolved")


def _refuse_while_held(log: "EventLog", key: str, before: "Aggregate") -> None:
    """A ticket that a turn holds isn't released beside it: two runs would work on it at once."""
    from ov_es_domain.ticket.aggregate import Ticket  # noqa: PLC0415 - likewise

    turn = before.turn if isinstance(before, Ticket) else None
    if turn is not None and log.select("open_turns", {"key": turn}):
        raise BadInputError(
            f"{key} is held by {turn}, which isn't over: wait for its end, or stop its run first"
        )
