"""What a delivery can be asked to do."""

from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.identity import Identifier
from ov_es_domain.lifecycle import Command, command


@command("owe_delivery")
class OweDelivery(Command):
    """Promise a report whose text isn't known yet (DL-16)."""

    slot: str
    purpose: Purpose
    target: Target
    source: str
    source_at: float
    ticket: str | None


@command("plan_delivery")
class PlanDelivery(Command):
    """Promise this message in this place."""

    slot: str
    purpose: Purpose
    target: Target
    content: str
    source: str
    source_at: float
    """When its source was accepted: only a message that is younger can be this delivery."""
    turn: str | None
    ticket: str | None
    thread: str | None
    part: int = 1
    """Which part it is of a message that is too long for one (OUT-10)."""


@command("defer_delivery")
class DeferDelivery(Command):
    """Wait: the thread can't be read, or the server asks for patience."""

    reason: str
    until: float


@command("attempt_delivery")
class AttemptDelivery(Command):
    """The intent to post: recorded before the call, with what the look showed."""

    epoch: int
    rendered: int
    """How many messages the look at the thread showed."""


@command("confirm_delivery")
class ConfirmDelivery(Command):
    """It's out, and this message proves it."""

    message_id: Identifier | None
    """None: the server's answer named none, or an operator vouches for it."""
    proof: str
    """`answered`, `rendered`, `late-answer` or `operator`."""
    reason: str = ""
    """An operator's words; "" where the proof speaks for itself."""


@command("refuse_delivery")
class RefuseDelivery(Command):
    """The attempt is proven to have had no effect; try again later."""

    reason: str
    until: float


@command("lose_delivery")
class LoseDelivery(Command):
    """Nobody knows whether the attempt had an effect; look before anything else."""

    reason: str
    look_at: float
    """When to look, in seconds since the epoch."""
    repost_after: float
    """Not to be posted again before this time: a late one may still arrive."""


@command("look_for_delivery")
class LookForDelivery(Command):
    """The look didn't show it, and it's too early to say that it's lost."""

    reason: str
    look_at: float


@command("replan_delivery")
class ReplanDelivery(Command):
    """It isn't there, and nothing late can arrive any more; or an operator wants it tried."""

    reason: str
    until: float


@command("suppress_delivery")
class SuppressDelivery(Command):
    """It must not, or need not, be posted."""

    reason: str
    rule: str
    message_id: Identifier | None
    """The message that says the same already, if that's why."""


@command("abandon_delivery")
class AbandonDelivery(Command):
    """It can't be posted, or an operator gives it up."""

    reason: str
    by: str
