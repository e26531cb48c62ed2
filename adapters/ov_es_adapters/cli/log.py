"""`ov-es log`: the event log, filtered, as it is or as it grows."""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.moments import Moment, MomentType, position_at
from ov_es_adapters.cli.opening import name_option, reading
from ov_es_adapters.errors import BadInputError
from ov_es_domain.recorded import Recorded

if TYPE_CHECKING:
    from ov_es_adapters.event_log.log import EventLog

FOLLOW_SECONDS = 0.2
"""How often a followed log is asked for news."""


@click.command()
@click.option(
    "--since",
    type=MomentType(),
    metavar="N|TIME",
    help="Only what came after this position, or after this time.",
)
@click.option("--aggregate", metavar="KEY", help="Only the events of one aggregate.")
@click.option(
    "--type", "kind", metavar="T", help="Only these: turn.started@1, turn.started, turn."
)
@click.option("--correlation", metavar="C", help="Only one story: a ticket's or a thread's key.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="At most this many.")
@click.option("--follow", is_flag=True, help="Go on with what is recorded from now on.")
@name_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line for each event.")
@click.pass_obj
def command(  # noqa: PLR0913 - one parameter for each option
    options: GlobalOptions,
    since: Moment | None,
    aggregate: str | None,
    kind: str | None,
    correlation: str | None,
    limit: int | None,
    agent: str | None,
    *,
    follow: bool,
    as_json: bool,
) -> None:
    """Print the event log, one line for each event.

    Example: ov-es log --aggregate ticket:1:5 --json
    """
    from ov_es_adapters.cli.output import event_data, event_line, print_json_line  # noqa: PLC0415

    is_wanted = _filter(aggregate, kind, correlation)
    with reading(options, agent, events_alone=True) as log:
        after = 0 if since is None else position_at(since, log.stream())
        found = _events(log, after, aggregate, follow=follow)
        shown = 0
        for event in found:
            if not is_wanted(event):
                continue
            if as_json:
                print_json_line(event_data(event))
            else:
                click.echo(event_line(event))
            shown += 1
            if shown == limit:
                return


def _filter(
    aggregate: str | None, kind: str | None, correlation: str | None
) -> Callable[[Recorded], bool]:
    topics = None if kind is None else _topics(kind)
    if aggregate is not None:
        _check_key(aggregate)

    def is_wanted(event: Recorded) -> bool:
        return (
            (aggregate is None or event.key == aggregate)
            and (topics is None or event.body.TOPIC in topics)
            and (correlation is None or event.correlation == correlation)
        )

    return is_wanted


def _topics(kind: str) -> frozenset[str]:
    """Return the topics that a word names: one with its version, all versions, or a whole kind."""
    from ov_es_domain import catalogue  # noqa: PLC0415 - loads every event

    known = [topic for each in catalogue.LIFECYCLES.values() for topic in each.topics]
    found = frozenset(
        topic
        for topic in known
        if kind in {topic, topic.partition("@")[0], topic.partition(".")[0]}
    )
    if not found:
        from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

        names = [topic.partition("@")[0] for topic in known] + list(catalogue.LIFECYCLES)
        near = get_close_matches(kind, names, n=3, cutoff=0.4)
        hint = f"; did you mean {', '.join(near)}?" if near else f"; use one of {', '.join(known)}"
        raise BadInputError(f"--type {kind!r} is no kind of event{hint}")
    return found


def _check_key(key: str) -> None:
    from ov_es_domain.catalogue import lifecycle_of  # noqa: PLC0415 - loads every event

    try:
        lifecycle_of(key)
    except ValueError as error:
        raise BadInputError(f"--aggregate {error}") from error


def _events(
    log: "EventLog", after: int, aggregate: str | None, *, follow: bool
) -> Iterator[Recorded]:
    if aggregate is not None and not follow:
        yield from (event for event in log.load(aggregate) if event.position > after)
        return
    last = after
    while True:
        seen = log.changes()
        for event in log.stream(after=last):
            last = event.position
            yield event
        if not follow:
            return
        while log.changes() == seen:
            time.sleep(FOLLOW_SECONDS)
