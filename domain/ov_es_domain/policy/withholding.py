"""Why a promised message isn't posted now, or not at all, although nobody has stood it down.

Everything here is asked at the one exit, right before the intent to post is recorded.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ov_es_domain.delivery.aggregate import Delivery
from ov_es_domain.delivery.target import Purpose
from ov_es_domain.identity import Identifier, is_older
from ov_es_domain.policy.admission import Ourselves, is_ours
from ov_es_domain.policy.settling import same_content
from ov_es_domain.policy.team_facts import RenderedMessage, TicketFacts

SOMEONE_ELSE = "someone-else-posts-as-us"
SOURCE_DELETED = "source-deleted"
RATE_SECONDS = 60.0
"""The time over which posts into one place are counted."""
_ANSWERS = frozenset({Purpose.REPLY, Purpose.BLOCKER})


@dataclass(frozen=True, slots=True)
class Withheld:
    """Why it isn't posted."""

    reason: str
    rule: str
    message_id: Identifier | None = None
    """The message that stands against it, if one does."""


def ticket_moved_on(
    delivery: Delivery, facts: TicketFacts, ourselves: Ourselves
) -> Withheld | None:
    """Return why news of a ticket isn't told any more, as the ticket is right now (STP-07)."""
    if not is_ours(facts, ourselves):
        return Withheld("handed-over", "STP-07")
    is_done = facts.is_completed or facts.is_in_review
    if delivery.purpose is Purpose.REPORT and not is_done:
        return Withheld("superseded", "STP-07")
    return None


def source_is_gone(
    thread: Sequence[RenderedMessage],
    *,
    source: Identifier,
    root: Identifier | None,
    lists_roots: bool,
) -> bool:
    """Tell whether the message that is answered was verifiably taken back (DUP-14).

    Shapes: `thread` is what was really read. A list that shows nothing proves nothing, nor does
    one that may begin after the source.

    Args:
        thread: The messages of its thread, oldest first.
        source: The id of the message that is answered.
        root: The thread's root.
        lists_roots: Whether this server is known to show a thread's root.
    """
    there = [message for message in thread if str(message.id) == str(source)]
    if there:
        # Some backends keep the place of a message that was taken back, without its words.
        return not there[-1].text.strip()
    if str(source) == str(root):
        return bool(thread) and lists_roots
    return any(str(m.id) == str(root) or is_older(m.id, source) for m in thread)


def posted_by_someone_else(  # noqa: PLR0913 - all facts are named
    delivery: Delivery,
    thread: Sequence[RenderedMessage],
    *,
    source: Identifier | None,
    own: Collection[Identifier],
    bound: Collection[str],
    unproven: Iterable[Delivery],
) -> RenderedMessage | None:
    """Return a message as us that answers the same source and that this log knows nothing of.

    Args:
        delivery: What is about to be posted; only answers are held against others' (OWN-04).
        thread: The messages of its thread, oldest first.
        source: The id of the message that is answered.
        own: The ids of the messages that this agent identity wrote.
        bound: The ids, as text, of those that prove deliveries of this log.
        unproven: Deliveries of this log in this place that were tried, and that no message id
            proves: a message with their words is ours.
    """
    if delivery.purpose not in _ANSWERS or source is None:
        return None
    places = [n for n, m in enumerate(thread) if str(m.id) == str(source)]
    if not places:
        return None
    tried = [each.content for each in unproven]
    for message in thread[places[-1] + 1 :]:
        is_unknown = message.id in own and str(message.id) not in bound
        if is_unknown and not any(same_content(message.text, said) for said in tried):
            return message
    return None


def held_until(attempts: Iterable[float], *, most: int, now: float) -> float | None:
    """Return when one more post into a place may go out; None: now (LUP-05).

    Shapes: `attempts` are the times of the posts into this place, in any order.

    >>> held_until([0.0, 10.0], most=2, now=30.0), held_until([0.0, 10.0], most=3, now=30.0)
    (60.0, None)
    """
    recent = sorted(at for at in attempts if 0 <= now - at < RATE_SECONDS)
    if len(recent) < most:
        return None
    return recent[len(recent) - most] + RATE_SECONDS


def is_expired(delivery: Delivery, *, now: float, most_seconds: float) -> bool:
    """Tell whether it's too old to be said without a person's word (OUT-14)."""
    # An operator's word, or a look that ended in another try, makes it young again.
    age = now - max(delivery.source_at, delivery.due)
    return delivery.attempts == 0 and not delivery.is_released and age > most_seconds
