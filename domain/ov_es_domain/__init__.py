"""The pure core of ov-es: aggregates as deciders, and the policies between them.

What stands in `__all__` is for those who build on it. A name is loaded when it's first asked for,
since the machines take a while to load and most callers need few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ov_es_domain.catalogue import LIFECYCLES, lifecycle_of
    from ov_es_domain.delivery.aggregate import DELIVERY
    from ov_es_domain.errors import (
        CommandRefusedError,
        IllegalTransitionError,
        OvEsError,
        StaleAttemptError,
    )
    from ov_es_domain.identity import Key, parse_key
    from ov_es_domain.lifecycle import (
        COMMANDS,
        EVENTS,
        Aggregate,
        Command,
        Event,
        Lifecycle,
        fold,
        handle,
        step,
    )
    from ov_es_domain.recorded import NewEvent, Recorded
    from ov_es_domain.signal.aggregate import SIGNAL
    from ov_es_domain.thread.aggregate import THREAD
    from ov_es_domain.ticket.aggregate import TICKET
    from ov_es_domain.transitions import Table
    from ov_es_domain.turn.aggregate import TURN
    from ov_es_domain.watch.aggregate import WATCH

__all__ = [
    "COMMANDS",
    "DELIVERY",
    "EVENTS",
    "LIFECYCLES",
    "SIGNAL",
    "THREAD",
    "TICKET",
    "TURN",
    "WATCH",
    "Aggregate",
    "Command",
    "CommandRefusedError",
    "Event",
    "IllegalTransitionError",
    "Key",
    "Lifecycle",
    "NewEvent",
    "OvEsError",
    "Recorded",
    "StaleAttemptError",
    "Table",
    "fold",
    "handle",
    "lifecycle_of",
    "parse_key",
    "step",
]

_HOMES = {
    "catalogue": ("LIFECYCLES", "lifecycle_of"),
    "delivery.aggregate": ("DELIVERY",),
    "errors": ("CommandRefusedError", "IllegalTransitionError", "OvEsError", "StaleAttemptError"),
    "identity": ("Key", "parse_key"),
    "lifecycle": ("Aggregate", "Command", "Event", "Lifecycle", "fold", "handle", "step"),
    "recorded": ("NewEvent", "Recorded"),
    "signal.aggregate": ("SIGNAL",),
    "thread.aggregate": ("THREAD",),
    "ticket.aggregate": ("TICKET",),
    "transitions": ("Table",),
    "turn.aggregate": ("TURN",),
    "watch.aggregate": ("WATCH",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name from the module that it lives in."""
    if name in {"EVENTS", "COMMANDS"}:
        # They fill as the aggregates are loaded, so all of those come first.
        import_module("ov_es_domain.catalogue")
        return vars(import_module("ov_es_domain.lifecycle"))[name]
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return vars(import_module(f"{__name__}.{home}"))[name]


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
