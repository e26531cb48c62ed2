"""What can have happened to a delivery. Append-only: add an @2, never edit an @1."""

from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.identity import Identifier
from ov_es_domain.lifecycle import Event, event


@event("delivery.owed@1", transition="owe")
class DeliveryOwed(Event):
    """A report is promised; its text comes later."""

    slot: str
    purpose: Purpose
    target: Target
    source: str
    source_at: float
    ticket: str | None


@event("delivery.planned@1", transition="plan")
class DeliveryPlanned(Event):
    """This message is promised in this place."""

    slot: str
    purpose: Purpose
    target: Target
    content: str
    source: str
    source_at: float
    turn: str | None
    ticket: str | None
    thread: str | None
    part: int = 1
    """Which part it is of a message that is too long for one."""


@event("delivery.deferred@1", transition="defer")
class DeliveryDeferred(Event):
    """It waits; nothing was posted."""

    reason: str
    until: float


@event("delivery.attempted@1", transition="attempt")
class DeliveryAttempted(Event):
    """A post is about to be made."""

    attempt: int
    epoch: int
    rendered: int


@event("delivery.delivered@1", transition="deliver")
class DeliveryDelivered(Event):
    """It's out."""

    message_id: Identifier | None
    proof: str
    reason: str = ""
    """An operator's words; "" where the proof speaks for itself."""


@event("delivery.refused@1", transition="refuse")
class DeliveryRefused(Event):
    """The attempt had no effect, and that is proven."""

    reason: str
    until: float


@event("delivery.left_unknown@1", transition="lose")
class DeliveryLeftUnknown(Event):
    """The attempt may have had an effect."""

    reason: str
    look_at: float
    repost_after: float


@event("delivery.looked@1", transition="look")
class DeliveryLooked(Event):
    """A look at the thread didn't show it yet."""

    reason: str
    look_at: float


@event("delivery.replanned@1", transition="replan")
class DeliveryReplanned(Event):
    """It will be tried again."""

    reason: str
    until: float


@event("delivery.suppressed@1", transition="suppress")
class DeliverySuppressed(Event):
    """It isn't posted, and that is right."""

    reason: str
    rule: str
    message_id: Identifier | None


@event("delivery.abandoned@1", transition="abandon")
class DeliveryAbandoned(Event):
    """It isn't posted, and a person should know."""

    reason: str
    by: str
