"""One aggregate as `show` and `resolve` print it."""

from collections.abc import Sequence
from typing import Any, cast

from ov_es_adapters.cli.output import (
    event_data,
    moment,
    plain,
    print_json,
    print_table,
    say,
)
from ov_es_adapters.errors import CorruptLogError
from ov_es_domain.catalogue import lifecycle_of
from ov_es_domain.errors import IllegalTransitionError
from ov_es_domain.identity import parse_key
from ov_es_domain.lifecycle import Aggregate, step
from ov_es_domain.recorded import Recorded
from ov_es_projections.event_summaries import summary


def folded(key: str, events: Sequence[Recorded]) -> Aggregate:
    """Fold an aggregate from the log.

    Raises: CorruptLogError that names the position of the first event that can't be right.
    """
    lifecycle = lifecycle_of(key)
    aggregate: Aggregate = lifecycle.initial
    for event in events:
        try:
            aggregate = step(lifecycle, aggregate, event.body)
        except IllegalTransitionError as error:
            raise CorruptLogError(event.position, key, str(error)) from error
    return aggregate


def document(key: str, events: Sequence[Recorded]) -> dict[str, Any]:
    """Return an aggregate with the fields of `show --json`."""
    aggregate = folded(key, events)
    fields = cast("dict[str, object]", plain(aggregate))
    fields.pop("state")
    return {
        "key": key,
        "type": parse_key(key).type,
        "state": aggregate.state,
        "version": len(events),
        "fields": fields,
        "events": [event_data(event) for event in events],
    }


def print_shown(key: str, events: Sequence[Recorded], *, as_json: bool) -> None:
    """Print an aggregate for scripts, or for people."""
    told = document(key, events)
    if as_json:
        print_json(told)
        return
    say(f"{key} is {told['state']}, after {len(events)} events")
    say()
    fields: dict[str, object] = told["fields"]
    print_table(("field", "value"), [(k, v) for k, v in fields.items() if v not in _EMPTY])
    say()
    print_table(
        ("position", "when", "what"),
        [(event.position, moment(event.at), summary(event)) for event in events],
        empty="nothing has happened to it",
    )


_EMPTY: tuple[object, ...] = (None, "", [], {})
