"""The legal lives of a ticket, and nothing else."""

from enum import StrEnum

from statemachine import StateMachine
from statemachine.states import States

from ov_es_domain.transitions import compile_table


class TicketState(StrEnum):
    """Where a ticket stands for one agent identity."""

    UNKNOWN = "unknown"
    SEEN = "seen"
    QUEUED = "queued"
    WORKING = "working"
    REPORTED = "reported"
    BLOCKED = "blocked"
    PAUSED = "paused"
    RELEASED = "released"
    HANDED_OVER = "handed_over"


class TicketMachine(StateMachine):
    """Seen, queued and worked on; from anywhere it can be handed over, and seen again."""

    states = States.from_enum(TicketState, initial=TicketState.UNKNOWN, use_enum_instance=True)

    see = (
        states.UNKNOWN.to(states.SEEN)
        | states.RELEASED.to(states.SEEN)
        | states.HANDED_OVER.to(states.SEEN)
        | states.REPORTED.to(states.SEEN)
        | states.PAUSED.to(states.SEEN)
        | states.BLOCKED.to(states.SEEN)
    )
    queue = states.SEEN.to(states.QUEUED)
    start = states.QUEUED.to(states.WORKING)
    requeue = states.WORKING.to(states.QUEUED)
    report = states.WORKING.to(states.REPORTED)
    block = (
        states.WORKING.to(states.BLOCKED)
        | states.QUEUED.to(states.BLOCKED)
        | states.SEEN.to(states.BLOCKED)
    )
    pause = states.WORKING.to(states.PAUSED) | states.QUEUED.to(states.PAUSED)
    note_revision = states.PAUSED.to(states.PAUSED) | states.REPORTED.to(states.REPORTED)
    release = (
        states.SEEN.to(states.RELEASED)
        | states.QUEUED.to(states.RELEASED)
        | states.WORKING.to(states.RELEASED)
        | states.PAUSED.to(states.RELEASED)
        | states.BLOCKED.to(states.RELEASED)
    )
    hand_over = (
        states.SEEN.to(states.HANDED_OVER)
        | states.QUEUED.to(states.HANDED_OVER)
        | states.WORKING.to(states.HANDED_OVER)
        | states.REPORTED.to(states.HANDED_OVER)
        | states.BLOCKED.to(states.HANDED_OVER)
        | states.PAUSED.to(states.HANDED_OVER)
        | states.RELEASED.to(states.HANDED_OVER)
    )


TICKET_TABLE = compile_table(TicketMachine, name="ticket")
