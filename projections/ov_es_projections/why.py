"""The chain of causes behind one post, or behind there being none: from the log alone, by causes.

Nothing here guesses by time: an event is in the chain because another names it as its cause, or
because a rule read it when it decided.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ov_es_domain.delivery.events import DeliverySuppressed
from ov_es_domain.identity import parse_key
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal.events import SignalSuppressed
from ov_es_domain.ticket.events import TicketSeen
from ov_es_domain.turn.events import TurnBlocked, TurnFailed, TurnSucceeded, TurnTimedOut
from ov_es_projections.decisive import decisive_event
from ov_es_projections.event_summaries import summary
from ov_es_projections.history import History
from ov_es_projections.likeness import Sibling, siblings, source_of
from ov_es_projections.outcomes import cancelling_event, outcome, plan_of

_TURN_ENDS = (TurnSucceeded, TurnFailed, TurnTimedOut, TurnBlocked)
STEPS_MAX = 10_000
"""More events than any chain has; a log whose causes go in circles ends here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One event of a chain."""

    position: int
    type: str
    key: str
    cause: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why something was posted, or why nothing was. The fields are those of `why --json`."""

    subject: str
    outcome: str
    chain: tuple[Link, ...]
    siblings: tuple[Sibling, ...]


def explain(key: str, history: History) -> Explanation:
    """Return the whole story of an aggregate that has events."""
    decisive = decisive_event(key, history)
    events = _chain(key, decisive, history)
    delivery = decisive.key if parse_key(decisive.key).type == "delivery" else None
    source = _source(key, events, history)
    return Explanation(
        subject=key,
        outcome=outcome(decisive, history),
        chain=tuple(_link(event) for event in events),
        siblings=() if source is None else tuple(siblings(source, delivery, events, history)),
    )


def cause_of(event: Recorded, history: History) -> Recorded | None:
    """Return the event that led to this one, or None where it came from outside."""
    key, at, version = event.cause.rpartition("@")
    return history.find(key, int(version)) if at and version.isdecimal() else None


def back(event: Recorded, history: History) -> Iterable[Recorded]:
    """Yield an event and its causes, back to what came from outside."""
    current: Recorded | None = event
    for _ in range(STEPS_MAX):
        if current is None:
            return
        yield current
        current = cause_of(current, history)


def forward(event: Recorded, history: History) -> Iterable[Recorded]:
    """Yield what an event led to, directly and by way of others, within its story."""
    led = {event.reference}
    for later in history.story(event.correlation):
        if later.position > event.position and later.cause in led:
            led.add(later.reference)
            yield later


def _chain(key: str, decisive: Recorded, history: History) -> Sequence[Recorded]:
    found: dict[int, Recorded] = {}
    roots = [decisive, *_own_beginning(key, history), *_read_by(decisive, history)]
    for root in roots:
        found.update((event.position, event) for event in back(root, history))
    found.update((event.position, event) for event in forward(decisive, history))
    return [found[position] for position in sorted(found)]


def _own_beginning(key: str, history: History) -> Sequence[Recorded]:
    """Return the event with which the subject's present cycle began.

    A source that came more than once has more than one: those that decided nothing are siblings.
    """
    events = history.load(key)
    match parse_key(key).type:
        case "signal":
            return ()
        case "ticket":
            cycles = [event for event in events if isinstance(event.body, TicketSeen)]
            return cycles[-1:]
        case _:
            return events[:1]


def _read_by(decisive: Recorded, history: History) -> Iterable[Recorded]:
    """Yield the events that a decision rests on though they didn't cause it."""
    plan = plan_of(decisive.key, history)
    if plan is not None and plan.turn is not None:
        # A ticket's report follows from the ticket; what it tells is what the run came to.
        ended = [e for e in history.load(plan.turn) if e.position < decisive.position]
        yield from [e for e in ended if isinstance(e.body, _TURN_ENDS)][-1:]
    match decisive.body:
        case DeliverySuppressed():
            thread = None if plan is None else plan.thread
            stopped = cancelling_event(thread, decisive.position, history)
            if stopped is not None:
                yield stopped
        case SignalSuppressed(repeats=repeats):
            key, at, version = repeats.rpartition("@")
            repeated = history.find(key, int(version)) if at and version.isdecimal() else None
            if repeated is not None:
                yield repeated
        case _:
            return


def _source(key: str, events: Sequence[Recorded], history: History) -> str | None:
    own = source_of(history.load(key))
    if own is not None:
        return own
    return next((s for s in (source_of([event]) for event in events) if s is not None), None)


def _link(event: Recorded) -> Link:
    return Link(
        position=event.position,
        type=event.body.TOPIC,
        key=event.key,
        cause=event.cause,
        summary=summary(event),
    )
