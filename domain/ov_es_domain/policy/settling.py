"""What a look at the world says about a promised message, before it's posted and after.

A rendered message proves at most one delivery, and only one whose source is older than it.
Source: design, "Where the old program's rules and the field disagree".
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ov_es_domain.delivery.aggregate import Delivery
from ov_es_domain.identity import Identifier
from ov_es_domain.policy.team_facts import RenderedMessage


class NextStep(StrEnum):
    """What is to be done about a delivery after a look."""

    POST = "post"
    ALREADY_OUT = "already-out"
    """An earlier attempt of ours is there."""
    SAME_CONTENT = "same-content"
    """The same words of ours are there, though we never tried: it isn't said twice (DL-6)."""
    LOOK_AGAIN = "look-again"
    TRY_AGAIN = "try-again"
    """Nothing late can arrive any more."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a look came to."""

    step: NextStep
    message_id: Identifier | None = None


def same_content(first: str, second: str) -> bool:
    r"""Compare two messages: white space doesn't count (DL-7).

    >>> same_content("It's  done.\n", "It's done.")
    True
    """
    return first.split() == second.split()


def find_rendered(
    delivery: Delivery,
    thread: Sequence[RenderedMessage],
    *,
    source_message: Identifier | None,
    is_ours: Collection[Identifier],
    bound: Collection[str],
) -> RenderedMessage | None:
    """Return the rendered message that can be this delivery, or None.

    Shapes: `thread` oldest first. `is_ours` are the ids of the messages that this agent wrote;
    `bound` the ids, as text, of those that prove other deliveries.
    """
    start = 0
    if source_message is not None:
        places = [n for n, m in enumerate(thread) if str(m.id) == str(source_message)]
        start = places[-1] + 1 if places else 0
    for message in thread[start:]:
        is_free = message.id in is_ours and str(message.id) not in bound
        if is_free and same_content(message.text, delivery.content):
            return message
    return None


def look(delivery: Delivery, rendered: RenderedMessage | None, *, now: float) -> Look:
    """Return what is to be done, for a planned delivery and for one that is unknown."""
    # What an operator wants out although its words are there already is said again.
    if rendered is not None and (delivery.was_unknown or not delivery.is_released):
        step = NextStep.ALREADY_OUT if delivery.was_unknown else NextStep.SAME_CONTENT
        return Look(step, rendered.id)
    if delivery.state == "unknown":
        return Look(NextStep.TRY_AGAIN if now >= delivery.repost_after else NextStep.LOOK_AGAIN)
    return Look(NextStep.POST)


def backoff(refusals: int, *, first: float, most: float) -> float:
    """Return the pause in seconds after this many refusals in a row.

    >>> [backoff(n, first=5.0, most=300.0) for n in (0, 1, 9)]
    [5.0, 10.0, 300.0]
    """
    return min(most, first * 2.0 ** min(refusals, 30))
