"""The legal lives of an inbound source, and nothing else."""

from enum import StrEnum

from statemachine import StateMachine
from statemachine.states import States

from ov_es_domain.transitions import compile_table


class SignalState(StrEnum):
    """What the last new arrival of a source came to."""

    UNSEEN = "unseen"
    ACCEPTED = "accepted"
    SUPPRESSED = "suppressed"
    REFUSED = "refused"


class SignalMachine(StateMachine):
    """Each arrival has one outcome; a source that was accepted stays so."""

    states = States.from_enum(SignalState, initial=SignalState.UNSEEN, use_enum_instance=True)

    accept = (
        states.UNSEEN.to(states.ACCEPTED)
        | states.REFUSED.to(states.ACCEPTED)
        | states.SUPPRESSED.to(states.ACCEPTED)
        | states.ACCEPTED.to(states.ACCEPTED)
    )
    suppress = (
        states.UNSEEN.to(states.SUPPRESSED)
        | states.SUPPRESSED.to(states.SUPPRESSED)
        | states.ACCEPTED.to(states.ACCEPTED)
        | states.REFUSED.to(states.REFUSED)
    )
    refuse = (
        states.UNSEEN.to(states.REFUSED)
        | states.REFUSED.to(states.REFUSED)
        | states.SUPPRESSED.to(states.SUPPRESSED)
        | states.ACCEPTED.to(states.ACCEPTED)
    )


SIGNAL_TABLE = compile_table(SignalMachine, name="signal")
