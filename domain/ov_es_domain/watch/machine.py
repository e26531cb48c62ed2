"""The legal lives of an agent's watch, and nothing else."""

from enum import StrEnum

from statemachine import StateMachine
from statemachine.states import States

from ov_es_domain.transitions import compile_table


class WatchState(StrEnum):
    """Whether a watcher holds the agent's lease."""

    IDLE = "idle"
    HELD = "held"


class WatchMachine(StateMachine):
    """One holder at a time; a new one raises the fencing token."""

    states = States.from_enum(WatchState, initial=WatchState.IDLE, use_enum_instance=True)

    begin = states.IDLE.to(states.HELD) | states.HELD.to(states.HELD)
    end = states.HELD.to(states.IDLE)
    note_connection = states.HELD.to(states.HELD)
    note_outage = states.HELD.to(states.HELD)
    note_agent = states.HELD.to(states.HELD)
    note_clock = states.HELD.to(states.HELD)
    note_introduction = states.HELD.to(states.HELD)
    note_reconciliation = states.HELD.to(states.HELD)


WATCH_TABLE = compile_table(WatchMachine, name="watch")
