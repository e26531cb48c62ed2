"""How the bodies of old topics become those of today: old logs stay readable for ever."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ov_es_domain.lifecycle import EVENTS

Body: TypeAlias = dict[str, object]
Upcast: TypeAlias = tuple[str, Callable[[Body], Body]]
"""The topic that it leads to, and what it does to the body's fields."""

UPCASTS: dict[str, Upcast] = {}
"""old topic → its upcast. An additive change needs none: a field with a default is enough."""


def upcast(topic: str, body: Body, upcasts: Mapping[str, Upcast] = UPCASTS) -> tuple[str, Body]:
    """Return today's topic and body of an old one, step by step.

    Raises: KeyError when some topic on the way is neither known nor has an upcast.

    >>> chain = {"ticket.seen@0": ("ticket.seen@1", lambda body: {**body, "reason": "assigned"})}
    >>> upcast("ticket.seen@0", {"slug": "COR-5"}, chain)
    ('ticket.seen@1', {'slug': 'COR-5', 'reason': 'assigned'})
    """
    while topic in upcasts:
        topic, change = upcasts[topic]
        body = change(body)
    if topic not in EVENTS and upcasts is UPCASTS:
        raise KeyError(topic)
    return topic, body
