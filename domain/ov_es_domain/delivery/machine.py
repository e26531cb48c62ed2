"""The legal lives of a delivery, and nothing else."""

from enum import StrEnum

from statemachine import StateMachine
from statemachine.states import States

from ov_es_domain.transitions import compile_table


class DeliveryState(StrEnum):
    """Where a promised message stands."""

    UNPLANNED = "unplanned"
    OWED = "owed"
    PLANNED = "planned"
    ATTEMPTING = "attempting"
    UNKNOWN = "unknown"
    DELIVERED = "delivered"
    SUPPRESSED = "suppressed"
    ABANDONED = "abandoned"


class DeliveryMachine(StateMachine):
    """An attempt ends as delivered, refused or unknown; unknown is settled by looking."""

    states = States.from_enum(
        DeliveryState,
        initial=DeliveryState.UNPLANNED,
        final=DeliveryState.DELIVERED,
        use_enum_instance=True,
    )

    owe = states.UNPLANNED.to(states.OWED)
    plan = states.UNPLANNED.to(states.PLANNED) | states.OWED.to(states.PLANNED)
    defer = states.PLANNED.to(states.PLANNED)
    attempt = states.PLANNED.to(states.ATTEMPTING)
    deliver = (
        states.ATTEMPTING.to(states.DELIVERED)
        | states.UNKNOWN.to(states.DELIVERED)
        | states.PLANNED.to(states.DELIVERED)
        | states.ABANDONED.to(states.DELIVERED)
    )
    refuse = states.ATTEMPTING.to(states.PLANNED)
    lose = states.ATTEMPTING.to(states.UNKNOWN)
    look = states.UNKNOWN.to(states.UNKNOWN)
    replan = (
        states.UNKNOWN.to(states.PLANNED)
        | states.ABANDONED.to(states.PLANNED)
        | states.SUPPRESSED.to(states.PLANNED)
    )
    suppress = (
        states.UNPLANNED.to(states.SUPPRESSED)
        | states.OWED.to(states.SUPPRESSED)
        | states.PLANNED.to(states.SUPPRESSED)
    )
    abandon = (
        states.OWED.to(states.ABANDONED)
        | states.PLANNED.to(states.ABANDONED)
        | states.ATTEMPTING.to(states.ABANDONED)
        | states.UNKNOWN.to(states.ABANDONED)
    )


DELIVERY_TABLE = compile_table(DeliveryMachine, name="delivery")

OPEN_STATES = frozenset(
    {
        DeliveryState.OWED,
        DeliveryState.PLANNED,
        DeliveryState.ATTEMPTING,
        DeliveryState.UNKNOWN,
    }
)
"""The states from which something is still to come."""
