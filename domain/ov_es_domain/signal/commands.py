"""What can be decided about an arrival: one outcome for each."""

from ov_es_domain.lifecycle import Command, command
from ov_es_domain.signal.arrival import Arrival


@command("accept_signal")
class AcceptSignal(Command):
    """It's new and for us: a turn will be queued, in the same transaction."""

    arrival: Arrival
    reason: str
    """Why it's for us, as a code."""
    rule: str
    """The rule's ID."""


@command("suppress_signal")
class SuppressSignal(Command):
    """It repeats something that the log has already."""

    arrival: Arrival
    reason: str
    repeats: str
    """The event that it repeats, as `key@version`."""
    rule: str


@command("refuse_signal")
class RefuseSignal(Command):
    """It's not for us, or it can't be read."""

    arrival: Arrival
    reason: str
    rule: str
