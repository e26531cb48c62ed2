"""What can have happened to a turn. Append-only: add an @2, never edit an @1."""

from ov_es_domain.delivery.target import Target
from ov_es_domain.lifecycle import Event, event
from ov_es_domain.observation import RunReport
from ov_es_domain.turn.kinds import StopReason, TurnKind


@event("turn.queued@1", transition="queue")
class TurnQueued(Event):
    """A cycle of work is promised."""

    source: str
    generation: int
    kind: TurnKind
    group: str
    ticket: str | None
    thread: str | None
    target: Target | None
    slot: str | None
    title: str
    text: str
    sender: str
    by_agent: bool
    accepted_at: float


@event("turn.deferred@1", transition="defer")
class TurnDeferred(Event):
    """It may not start yet."""

    reason: str
    until: float


@event("turn.started@1", transition="start")
class TurnStarted(Event):
    """A run is about to be spawned for it."""

    execution: str
    attempt: int
    """Counts the runs of this turn from 1, recoveries and crashed ones included."""
    epoch: int
    runtime: str
    model: str | None
    directory: str | None
    group: str


@event("turn.spawned@1", transition="note_spawn")
class TurnSpawned(Event):
    """Its process exists."""

    execution: str
    pid: int
    started: str
    marker: str


@event("turn.recovering@1", transition="recover")
class TurnRecovering(Event):
    """The first run was good but couldn't show everything; one more is about to be spawned."""

    report: RunReport
    missing: tuple[str, ...]
    execution: str
    """The execution id of the recovery run."""
    attempt: int


@event("turn.stop_requested@1", transition="request_stop")
class TurnStopRequested(Event):
    """Its run is being stopped."""

    reason: StopReason
    by: str


@event("turn.retried@1", transition="retry")
class TurnRetried(Event):
    """The run brought nothing that can be used; it waits for one more."""

    report: RunReport
    reason: str
    not_before: float


@event("turn.interrupted@1", transition="interrupt")
class TurnInterrupted(Event):
    """Its run was cut short."""

    reason: StopReason
    report: RunReport | None
    """What was seen until then; None: nobody saw the end."""


@event("turn.requeued@1", transition="requeue")
class TurnRequeued(Event):
    """It waits again."""

    reason: str
    not_before: float


@event("turn.succeeded@1", transition="succeed")
class TurnSucceeded(Event):
    """Its run ended well, and can show what the rules ask for."""

    execution: str
    attempt: int
    report: RunReport


@event("turn.failed@1", transition="fail")
class TurnFailed(Event):
    """It's over without success."""

    reason: str
    missing: tuple[str, ...]
    """What couldn't be shown, as phrases for people."""
    report: RunReport | None
    """None: it failed without a run."""


@event("turn.timed_out@1", transition="time_out")
class TurnTimedOut(Event):
    """Its run reached the time limit."""

    report: RunReport


@event("turn.blocked@1", transition="block")
class TurnBlocked(Event):
    """A person's authorization is needed first (BL-11)."""

    reason: str
    report: RunReport


@event("turn.cancelled@1", transition="cancel")
class TurnCancelled(Event):
    """It's over, and nothing of it is published."""

    reason: StopReason
    by: str
    report: RunReport | None
    """None: it was cancelled before it ran."""


@event("turn.released@1", transition="release")
class TurnReleased(Event):
    """Nothing was to do any more when its turn came."""

    reason: str


@event("turn.result_refused@1", transition="refuse_result")
class TurnResultRefused(Event):
    """A result came from a run that doesn't hold the turn (fencing)."""

    execution: str
    attempt: int
    expected: str
    """The execution that holds the turn; "" for none."""
    verdict: str
