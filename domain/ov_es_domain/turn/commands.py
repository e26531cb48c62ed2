"""What a turn can be asked to do."""

from ov_es_domain.delivery.target import Target
from ov_es_domain.lifecycle import Command, command
from ov_es_domain.observation import RunReport
from ov_es_domain.turn.kinds import StopReason, TurnKind, Verdict


@command("queue_turn")
class QueueTurn(Command):
    """Promise a cycle of work for one source; what it's for never changes after this (Q-120)."""

    source: str
    generation: int
    kind: TurnKind
    group: str
    """Turns of one group never run together; "" means no exclusion (Q-112)."""
    ticket: str | None
    thread: str | None
    target: Target | None
    """Where its answer goes; None: it has no thread of its own."""
    slot: str | None
    """The delivery slot of its answer; None: a report slot on the ticket serves instead."""
    title: str
    text: str
    """The event's own words, for the run (WS-20)."""
    sender: str
    by_agent: bool
    accepted_at: float
    """When its source was accepted, in seconds since the epoch."""


@command("defer_turn")
class DeferTurn(Command):
    """Say why it may not start yet; costs no attempt."""

    reason: str
    until: float
    """Not to be looked at before this time, in seconds since the epoch."""


@command("start_turn")
class StartTurn(Command):
    """The intent to spawn: recorded before any process exists."""

    execution: str
    epoch: int
    """The fencing token of the watcher that starts it."""
    runtime: str
    model: str | None
    directory: str | None
    group: str
    """The group of the directory in which it really runs (Q-116)."""


@command("note_spawn")
class NoteSpawn(Command):
    """Remember the process, so that it's found again after a crash."""

    execution: str
    pid: int
    started: str
    marker: str


@command("recover_turn")
class RecoverTurn(Command):
    """Start the one recovery run, since evidence is missing (CY-15)."""

    execution: str
    attempt: int
    report: RunReport
    missing: tuple[str, ...]
    next_execution: str


@command("request_stop")
class RequestStop(Command):
    """Tell a running turn to stop; it keeps its group until its process is gone (Q-114)."""

    reason: StopReason
    by: str
    """Who or what asked for it."""


@command("settle_turn")
class SettleTurn(Command):
    """Bring the report of a run whose process is gone. A stale one is refused on the record."""

    execution: str
    attempt: int
    verdict: Verdict
    reason: str
    report: RunReport
    missing: tuple[str, ...]


@command("retry_turn")
class RetryTurn(Command):
    """Let it run once more after a failed or empty answer."""

    execution: str
    attempt: int
    report: RunReport
    reason: str
    not_before: float


@command("interrupt_turn")
class InterruptTurn(Command):
    """Record that its run is gone without a report: a crash, or another watcher's end."""

    reason: StopReason


@command("requeue_turn")
class RequeueTurn(Command):
    """Let an interrupted turn wait again."""

    reason: str
    not_before: float


@command("fail_turn")
class FailTurn(Command):
    """End it without a run: our own side failed, or too many crashes (Q-109)."""

    reason: str


@command("cancel_turn")
class CancelTurn(Command):
    """End it without publishing anything (CY-11)."""

    reason: StopReason
    by: str


@command("release_turn")
class ReleaseTurn(Command):
    """Let it go before any model starts: the second look says that nothing is to do (TK-22)."""

    reason: str
