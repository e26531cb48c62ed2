"""What can have happened to a watch. Append-only: add an @2, never edit an @1."""

from ov_es_domain.identity import Identifier
from ov_es_domain.lifecycle import Event, event


@event("watch.begun@1", transition="begin")
class WatchBegun(Event):
    """A watcher holds the lease."""

    agent: str
    host: str
    pid: int
    program: str
    epoch: int
    """The fencing token: what carries an older one is refused."""


@event("watch.ended@1", transition="end")
class WatchEnded(Event):
    """The watcher stopped in good order."""

    epoch: int
    reason: str


@event("watch.connected@1", transition="note_connection")
class WatchConnected(Event):
    """The socket is open; an outage, if there was one, is over."""

    number: int


@event("watch.disconnected@1", transition="note_outage")
class WatchDisconnected(Event):
    """The socket is gone: an outage begins."""

    number: int
    reason: str


@event("watch.agent_noted@1", transition="note_agent")
class WatchAgentNoted(Event):
    """The team knows the agent by this numeric id."""

    agent_id: Identifier


@event("watch.clock_noted@1", transition="note_clock")
class WatchClockNoted(Event):
    """The team's clock differs from ours by this much; nothing is decided by it."""

    offset_seconds: float


@event("watch.introduced@1", transition="note_introduction")
class WatchIntroduced(Event):
    """The agent's introduction is a turn now, and never will be again."""

    turn: str


@event("watch.reconciled@1", transition="note_reconciliation")
class WatchReconciled(Event):
    """The whole team was looked at."""

    reason: str
    tickets: int
    mentions: int
    problem: str
