"""Which promised message each real post is: the world's posts beside the log's deliveries."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ov_es_adapters.simulation.truth import BY_WATCHER, Post
from ov_es_domain.delivery import events as e
from ov_es_domain.identity import Identifier
from ov_es_domain.policy.settling import same_content
from ov_es_domain.recorded import Recorded


@dataclass(slots=True, kw_only=True)
class ToldDelivery:
    """One promised message, by its events."""

    key: str
    planned: e.DeliveryPlanned
    attempts: list[int] = field(default_factory=list[int])
    """The positions at which the log says that a post is about to be made."""
    message_id: Identifier | None = None
    """The message that the log says it is."""
    delivered_at: int | None = None
    """The position at which the log says that it's out."""
    posts: list[Post] = field(default_factory=list[Post])
    """What really is there of it."""


def told_deliveries(events: Iterable[Recorded], posts: Sequence[Post]) -> list[ToldDelivery]:
    """Return the promised messages in the order of their promises, with the posts of each."""
    told: dict[str, ToldDelivery] = {}
    for event in events:
        match event.body:
            case e.DeliveryPlanned() as planned:
                told[event.key] = ToldDelivery(key=event.key, planned=planned)
            case e.DeliveryAttempted():
                told[event.key].attempts.append(event.position)
            case e.DeliveryDelivered(message_id=message_id):
                told[event.key].message_id = message_id
                told[event.key].delivered_at = event.position
            case _:
                pass
    _bind(list(told.values()), posts)
    return list(told.values())


def _bind(told: Sequence[ToldDelivery], posts: Sequence[Post]) -> None:
    """Give each post of the watcher to one delivery: to the one that names it, else by its words.

    A second post goes to a delivery that has none yet, if there is one with the same words.
    """
    by_message = {str(d.message_id): d for d in told if d.message_id is not None}
    for post in posts:
        if post.by != BY_WATCHER:
            continue
        owner = by_message.get(str(post.message_id))
        if owner is None:
            alike = [delivery for delivery in told if delivery.attempts and _fits(delivery, post)]
            free = [delivery for delivery in alike if not delivery.posts]
            owner = next(iter(free or alike), None)
        if owner is not None:
            owner.posts.append(post)


def _fits(delivery: ToldDelivery, post: Post) -> bool:
    target = delivery.planned.target
    return (
        str(target.channel_id) == str(post.channel_id)
        and str(target.parent_id) == str(post.parent_id)
        and same_content(delivery.planned.content, post.content)
    )
