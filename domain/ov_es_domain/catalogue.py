"""Every kind of aggregate by the type in its key: what a log can hold."""

from typing import Any

from ov_es_domain.delivery.aggregate import DELIVERY
from ov_es_domain.identity import parse_key
from ov_es_domain.lifecycle import Lifecycle
from ov_es_domain.signal.aggregate import SIGNAL
from ov_es_domain.thread.aggregate import THREAD
from ov_es_domain.ticket.aggregate import TICKET
from ov_es_domain.turn.aggregate import TURN
from ov_es_domain.watch.aggregate import WATCH

LIFECYCLES: dict[str, Lifecycle[Any]] = {
    lifecycle.name: lifecycle for lifecycle in (SIGNAL, TICKET, THREAD, TURN, DELIVERY, WATCH)
}


def lifecycle_of(key: str) -> Lifecycle[Any]:
    """Return the lifecycle of an aggregate by its key.

    Raises: ValueError when the text is no key, or of a type that this version doesn't know.
    """
    kind = parse_key(key).type
    lifecycle = LIFECYCLES.get(kind)
    if lifecycle is None:
        raise ValueError(f"{key!r} is of no known type; known are {', '.join(LIFECYCLES)}")
    return lifecycle
