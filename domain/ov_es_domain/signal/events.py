"""What came of an arrival. Append-only: add an @2, never edit an @1."""

from ov_es_domain.lifecycle import Event, event
from ov_es_domain.signal.arrival import Arrival


@event("signal.accepted@1", transition="accept")
class SignalAccepted(Event):
    """It led to a turn of this generation."""

    arrival: Arrival
    reason: str
    rule: str
    generation: int
    """Counts the accepted arrivals of one source from 1; it's part of the turn's key."""


@event("signal.suppressed@1", transition="suppress")
class SignalSuppressed(Event):
    """It repeats another event, and nothing was done."""

    arrival: Arrival
    reason: str
    repeats: str
    rule: str


@event("signal.refused@1", transition="refuse")
class SignalRefused(Event):
    """It's not for us or unreadable, and nothing was done."""

    arrival: Arrival
    reason: str
    rule: str
