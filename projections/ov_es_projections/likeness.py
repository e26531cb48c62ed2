"""What looks like the subject, and isn't it: for whoever suspects that something came twice."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ov_es_domain.delivery import events as d
from ov_es_domain.identity import signal_key, turn_key
from ov_es_domain.policy.settling import same_content
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal import events as s
from ov_es_domain.signal.arrival import Arrival
from ov_es_projections.event_summaries import summary
from ov_es_projections.history import History
from ov_es_projections.outcomes import plan_of

NEAR_EQUAL = 0.9
"""The share of equal characters from which two messages count as nearly the same."""
COMPARED_MAX = 200
"""How many deliveries of one place are compared, the newest first."""
LIKE_SECONDS = 600.0
"""How far apart two arrivals with the same words may be, and still be shown together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sibling:
    """Something else that people may mistake for the subject."""

    key: str
    relation: str
    position: int
    summary: str


def siblings(
    source: str, delivery: str | None, chain: Sequence[Recorded], history: History
) -> list[Sibling]:
    """Return what shares the source, the words or the place, without what the chain has."""
    found: dict[int, Sibling] = {}
    positions = {event.position for event in chain}
    turns = {event.key for event in chain if event.key.startswith("turn:")}
    for relation, event in (
        *_same_source(source, history),
        *_same_words(delivery, history),
        *_same_arrivals(source, history),
    ):
        is_subject = event.key == delivery or event.key in turns or event.position in positions
        if not is_subject and event.position not in found:
            found[event.position] = Sibling(
                key=event.key,
                relation=relation,
                position=event.position,
                summary=summary(event),
            )
    return [found[position] for position in sorted(found)]


def _same_source(source: str, history: History) -> Iterable[tuple[str, Recorded]]:
    arrivals = history.load(signal_key(source))
    for event in arrivals:
        yield "another arrival of the same source", event
    for row in history.rows("deliveries", source=source):
        yield "another delivery of the same source", history.load(str(row["key"]))[-1]
    for generation in range(1, len(arrivals) + 1):
        turn = history.load(turn_key(source, generation))
        if turn:
            yield "another turn of the same source", turn[-1]


def _same_words(delivery: str | None, history: History) -> Iterable[tuple[str, Recorded]]:
    plan = None if delivery is None else plan_of(delivery, history)
    if plan is None:
        return
    place = {
        "channel_id": None if plan.target.channel_id is None else str(plan.target.channel_id),
        "parent_id": None if plan.target.parent_id is None else str(plan.target.parent_id),
    }
    rows = sorted(history.rows("deliveries", **place), key=lambda row: -int(row["place"] or 0))
    for row in rows[:COMPARED_MAX]:
        other = plan_of(str(row["key"]), history)
        if other is not None and is_near_equal(plan.content, other.content):
            yield "nearly the same words in the same place", history.load(str(row["key"]))[-1]


def is_near_equal(first: str, second: str) -> bool:
    """Tell whether people would take two messages for the same.

    >>> is_near_equal("It's in review now.", "It's  in review, now."), is_near_equal("yes", "no")
    (True, False)
    """
    if same_content(first, second):
        return True
    matcher = SequenceMatcher(None, " ".join(first.split()), " ".join(second.split()))
    return matcher.quick_ratio() >= NEAR_EQUAL and matcher.ratio() >= NEAR_EQUAL


def _same_arrivals(source: str, history: History) -> Iterable[tuple[str, Recorded]]:
    """The same words twice are two messages where their ids differ; people should see both."""
    mine = _arrival(history.load(signal_key(source)))
    if mine is None or not mine.text or mine.channel_id is None:
        return
    for row in history.rows("signals", channel_id=str(mine.channel_id)):
        is_near = abs(float(row["last_at"] or 0.0) - mine.at) <= LIKE_SECONDS
        if row["source"] == source or not is_near:
            continue
        events = history.load(signal_key(str(row["source"])))
        other = _arrival(events)
        if other is not None and same_content(other.text, mine.text):
            yield "another message with the same words", events[-1]


def _arrival(events: Iterable[Recorded]) -> Arrival | None:
    for event in events:
        match event.body:
            case (
                s.SignalAccepted(arrival=arrival)
                | s.SignalSuppressed(arrival=arrival)
                | s.SignalRefused(arrival=arrival)
            ):
                return arrival
            case _:
                continue
    return None


def source_of(events: Iterable[Recorded]) -> str | None:
    """Return the source that an aggregate's events are about, if they name one."""
    for event in events:
        match event.body:
            case d.DeliveryOwed(source=source) | d.DeliveryPlanned(source=source):
                return source
            case _:
                continue
    arrival = _arrival(events)
    return None if arrival is None else arrival.source
