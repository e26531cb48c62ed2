"""The legal lives of a turn, and nothing else."""

from enum import StrEnum

from statemachine import StateMachine
from statemachine.states import States

from ov_es_domain.transitions import compile_table


class TurnState(StrEnum):
    """Where a turn stands."""

    UNQUEUED = "unqueued"
    QUEUED = "queued"
    RUNNING = "running"
    RECOVERING = "recovering"
    INTERRUPTED = "interrupted"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"
    RELEASED = "released"


class TurnMachine(StateMachine):
    """Queued, running, perhaps recovering once; a settled turn only refuses what comes late."""

    states = States.from_enum(TurnState, initial=TurnState.UNQUEUED, use_enum_instance=True)

    queue = states.UNQUEUED.to(states.QUEUED)
    defer = states.QUEUED.to(states.QUEUED)
    start = states.QUEUED.to(states.RUNNING)
    note_spawn = states.RUNNING.to(states.RUNNING) | states.RECOVERING.to(states.RECOVERING)
    recover = states.RUNNING.to(states.RECOVERING)
    request_stop = states.RUNNING.to(states.RUNNING) | states.RECOVERING.to(states.RECOVERING)
    retry = states.RUNNING.to(states.QUEUED) | states.RECOVERING.to(states.QUEUED)
    interrupt = states.RUNNING.to(states.INTERRUPTED) | states.RECOVERING.to(states.INTERRUPTED)
    requeue = states.INTERRUPTED.to(states.QUEUED)
    succeed = states.RUNNING.to(states.SUCCEEDED) | states.RECOVERING.to(states.SUCCEEDED)
    fail = (
        states.RUNNING.to(states.FAILED)
        | states.RECOVERING.to(states.FAILED)
        | states.QUEUED.to(states.FAILED)
        | states.INTERRUPTED.to(states.FAILED)
    )
    time_out = states.RUNNING.to(states.TIMED_OUT) | states.RECOVERING.to(states.TIMED_OUT)
    block = states.RUNNING.to(states.BLOCKED) | states.RECOVERING.to(states.BLOCKED)
    cancel = (
        states.QUEUED.to(states.CANCELLED)
        | states.RUNNING.to(states.CANCELLED)
        | states.RECOVERING.to(states.CANCELLED)
        | states.INTERRUPTED.to(states.CANCELLED)
    )
    release = states.QUEUED.to(states.RELEASED) | states.INTERRUPTED.to(states.RELEASED)
    refuse_result = (
        states.QUEUED.to(states.QUEUED)
        | states.RUNNING.to(states.RUNNING)
        | states.RECOVERING.to(states.RECOVERING)
        | states.INTERRUPTED.to(states.INTERRUPTED)
        | states.SUCCEEDED.to(states.SUCCEEDED)
        | states.FAILED.to(states.FAILED)
        | states.TIMED_OUT.to(states.TIMED_OUT)
        | states.CANCELLED.to(states.CANCELLED)
        | states.BLOCKED.to(states.BLOCKED)
        | states.RELEASED.to(states.RELEASED)
    )


TURN_TABLE = compile_table(TurnMachine, name="turn")

OPEN_STATES = frozenset(
    {TurnState.QUEUED, TurnState.RUNNING, TurnState.RECOVERING, TurnState.INTERRUPTED}
)
"""The states from which something is still to come."""
