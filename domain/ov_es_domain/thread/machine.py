"""The legal lives of a thread, and nothing else."""

from enum import StrEnum

from statemachine import StateMachine
from statemachine.states import States

from ov_es_domain.transitions import compile_table


class ThreadState(StrEnum):
    """Whether the agent is wanted in a conversation."""

    ACTIVE = "active"
    STOOD_DOWN = "stood_down"
    REDIRECTED = "redirected"


class ThreadMachine(StateMachine):
    """Active, until a stand-down or a redirect; a newer request wakes it."""

    states = States.from_enum(ThreadState, initial=ThreadState.ACTIVE, use_enum_instance=True)

    note_turn = states.ACTIVE.to(states.ACTIVE)
    hear = (
        states.ACTIVE.to(states.ACTIVE)
        | states.STOOD_DOWN.to(states.STOOD_DOWN)
        | states.REDIRECTED.to(states.REDIRECTED)
    )
    pause = states.ACTIVE.to(states.ACTIVE)
    stand_down = (
        states.ACTIVE.to(states.STOOD_DOWN)
        | states.REDIRECTED.to(states.STOOD_DOWN)
        | states.STOOD_DOWN.to(states.STOOD_DOWN)
    )
    redirect = (
        states.ACTIVE.to(states.REDIRECTED)
        | states.STOOD_DOWN.to(states.REDIRECTED)
        | states.REDIRECTED.to(states.REDIRECTED)
    )
    wake = states.STOOD_DOWN.to(states.ACTIVE) | states.REDIRECTED.to(states.ACTIVE)


THREAD_TABLE = compile_table(ThreadMachine, name="thread")
