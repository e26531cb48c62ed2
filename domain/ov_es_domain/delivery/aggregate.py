"""The delivery: `decide` answers a command, `evolve` folds an event."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from ov_es_domain.delivery import commands as c
from ov_es_domain.delivery import events as e
from ov_es_domain.delivery.machine import DELIVERY_TABLE, OPEN_STATES, DeliveryState
from ov_es_domain.delivery.target import NOWHERE, Purpose, Target
from ov_es_domain.errors import CommandRefusedError
from ov_es_domain.identity import Identifier, delivery_key, part_slot
from ov_es_domain.lifecycle import Aggregate, Lifecycle

DeliveryCommand: TypeAlias = (
    c.OweDelivery
    | c.PlanDelivery
    | c.DeferDelivery
    | c.AttemptDelivery
    | c.ConfirmDelivery
    | c.RefuseDelivery
    | c.LoseDelivery
    | c.LookForDelivery
    | c.ReplanDelivery
    | c.SuppressDelivery
    | c.AbandonDelivery
)
DeliveryEvent: TypeAlias = (
    e.DeliveryOwed
    | e.DeliveryPlanned
    | e.DeliveryDeferred
    | e.DeliveryAttempted
    | e.DeliveryDelivered
    | e.DeliveryRefused
    | e.DeliveryLeftUnknown
    | e.DeliveryLooked
    | e.DeliveryReplanned
    | e.DeliverySuppressed
    | e.DeliveryAbandoned
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(Aggregate):
    """One promised message."""

    state: str = DeliveryState.UNPLANNED
    slot: str = ""
    purpose: Purpose = Purpose.REPLY
    target: Target = NOWHERE
    content: str = ""
    source: str = ""
    source_at: float = 0.0
    turn: str | None = None
    ticket: str | None = None
    thread: str | None = None
    attempts: int = 0
    """How often a post was really tried; the count survives restarts."""
    refusals: int = 0
    """Refused attempts and looks in vain, in a row: the back-off grows with them."""
    due: float = 0.0
    """When it's to be looked at again."""
    repost_after: float = 0.0
    was_unknown: bool = False
    """Whether an attempt was ever left unknown: then a rendered copy may be that attempt's."""
    message_id: Identifier | None = None
    part: int = 1
    is_released: bool = False
    """Whether an operator wants it out although it was withheld: only a stand-down stops it."""

    @property
    def previous(self) -> str | None:
        """The key of the part that has to be out before this one; None: it's the first."""
        if self.part == 1:
            return None
        whole = self.slot.removesuffix(f"#{self.part}")
        return delivery_key(part_slot(whole, self.part - 1))

    @property
    def is_open(self) -> bool:
        """Whether something of it is still to come."""
        return self.state in OPEN_STATES


def decide(delivery: Delivery, command: DeliveryCommand) -> Sequence[DeliveryEvent]:
    """Return what happens; raise CommandRefusedError where a rule says no."""
    match command:
        case c.OweDelivery():
            if delivery.state != DeliveryState.UNPLANNED:
                return []
            return [
                e.DeliveryOwed(
                    slot=command.slot,
                    purpose=command.purpose,
                    target=command.target,
                    source=command.source,
                    source_at=command.source_at,
                    ticket=command.ticket,
                )
            ]
        case c.PlanDelivery():
            return _plan(delivery, command)
        case c.DeferDelivery(reason=reason, until=until):
            return [e.DeliveryDeferred(reason=reason, until=until)]
        case c.AttemptDelivery(epoch=epoch, rendered=rendered):
            return [
                e.DeliveryAttempted(attempt=delivery.attempts + 1, epoch=epoch, rendered=rendered)
            ]
        case c.ConfirmDelivery(message_id=message_id, proof=proof, reason=reason):
            if delivery.state == DeliveryState.DELIVERED:
                return []
            return [e.DeliveryDelivered(message_id=message_id, proof=proof, reason=reason)]
        case c.RefuseDelivery(reason=reason, until=until):
            return [e.DeliveryRefused(reason=reason, until=until)]
        case c.LoseDelivery(reason=reason, look_at=look_at, repost_after=repost_after):
            return [
                e.DeliveryLeftUnknown(reason=reason, look_at=look_at, repost_after=repost_after)
            ]
        case c.LookForDelivery(reason=reason, look_at=look_at):
            return [e.DeliveryLooked(reason=reason, look_at=look_at)]
        case c.ReplanDelivery(reason=reason, until=until):
            if not delivery.content:
                # A report that was only owed is made from its ticket, and never by itself.
                raise CommandRefusedError("it never had any words that could be posted")
            return [e.DeliveryReplanned(reason=reason, until=until)]
        case c.SuppressDelivery(reason=reason, rule=rule, message_id=message_id):
            if delivery.state == DeliveryState.SUPPRESSED:
                return []
            return [e.DeliverySuppressed(reason=reason, rule=rule, message_id=message_id)]
        case c.AbandonDelivery(reason=reason, by=by):
            if delivery.state == DeliveryState.ABANDONED:
                return []
            return [e.DeliveryAbandoned(reason=reason, by=by)]
    assert_never(command)


def _plan(delivery: Delivery, command: c.PlanDelivery) -> Sequence[DeliveryEvent]:
    """A slot is used once, whatever the words are the second time (DL-10)."""
    if delivery.state not in {DeliveryState.UNPLANNED, DeliveryState.OWED}:
        return []
    return [
        e.DeliveryPlanned(
            slot=command.slot,
            purpose=command.purpose,
            target=command.target,
            content=command.content,
            source=command.source,
            source_at=command.source_at,
            turn=command.turn,
            ticket=command.ticket,
            thread=command.thread,
            part=command.part,
        )
    ]


def evolve(delivery: Delivery, event: DeliveryEvent) -> Delivery:
    """Fold the fields of `event`; the state itself is `lifecycle.step`'s business."""
    match event:
        case e.DeliveryOwed():
            return replace(
                delivery,
                slot=event.slot,
                purpose=event.purpose,
                target=event.target,
                source=event.source,
                source_at=event.source_at,
                ticket=event.ticket,
            )
        case e.DeliveryPlanned():
            return replace(
                delivery,
                slot=event.slot,
                purpose=event.purpose,
                target=event.target,
                content=event.content,
                source=event.source,
                source_at=event.source_at,
                turn=event.turn,
                ticket=event.ticket,
                thread=event.thread,
                part=event.part,
            )
        case e.DeliveryDeferred(until=until) | e.DeliveryRefused(until=until):
            return replace(delivery, due=until, refusals=delivery.refusals + 1)
        case e.DeliveryAttempted(attempt=attempt):
            return replace(delivery, attempts=attempt)
        case e.DeliveryLeftUnknown(look_at=look_at, repost_after=repost_after):
            return replace(delivery, due=look_at, repost_after=repost_after, was_unknown=True)
        case e.DeliveryLooked(look_at=look_at):
            return replace(delivery, due=look_at, refusals=delivery.refusals + 1)
        case e.DeliveryReplanned(until=until):
            was_withheld = delivery.state in {DeliveryState.SUPPRESSED, DeliveryState.ABANDONED}
            return replace(
                delivery,
                due=until,
                refusals=0,
                is_released=delivery.is_released or was_withheld,
            )
        case (
            e.DeliveryDelivered(message_id=message_id)
            | e.DeliverySuppressed(message_id=message_id)
        ):
            return replace(delivery, message_id=message_id)
        case e.DeliveryAbandoned():
            return delivery
    assert_never(event)


DELIVERY = Lifecycle(
    name="delivery",
    table=DELIVERY_TABLE,
    initial=Delivery(),
    decide=decide,
    evolve=evolve,
    topics=(
        e.DeliveryOwed.TOPIC,
        e.DeliveryPlanned.TOPIC,
        e.DeliveryDeferred.TOPIC,
        e.DeliveryAttempted.TOPIC,
        e.DeliveryDelivered.TOPIC,
        e.DeliveryRefused.TOPIC,
        e.DeliveryLeftUnknown.TOPIC,
        e.DeliveryLooked.TOPIC,
        e.DeliveryReplanned.TOPIC,
        e.DeliverySuppressed.TOPIC,
        e.DeliveryAbandoned.TOPIC,
    ),
)
