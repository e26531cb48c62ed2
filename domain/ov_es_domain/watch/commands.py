"""What a watch can be asked to do."""

from ov_es_domain.identity import Identifier
from ov_es_domain.lifecycle import Command, command


@command("begin_watch")
class BeginWatch(Command):
    """Take the lease; whoever held it before is fenced off."""

    agent: str
    host: str
    pid: int
    program: str
    """Name and version of the program that writes from now on."""


@command("end_watch")
class EndWatch(Command):
    """Give the lease back after an orderly stop."""

    epoch: int
    reason: str


@command("note_connection")
class NoteConnection(Command):
    """The socket is open."""

    number: int


@command("note_outage")
class NoteOutage(Command):
    """The socket is gone."""

    number: int
    reason: str


@command("note_agent")
class NoteAgent(Command):
    """Remember the agent's own numeric id, as the team tells it (TK-9)."""

    agent_id: Identifier


@command("note_clock")
class NoteClock(Command):
    """Remember by how much the team's clock is ahead of ours: people's times are its (OWN-06)."""

    offset_seconds: float
    """Negative where it is behind."""


@command("note_introduction")
class NoteIntroduction(Command):
    """Remember that the agent introduces itself: once, whatever becomes of it (WS-22)."""

    turn: str


@command("note_reconciliation")
class NoteReconciliation(Command):
    """A look at the whole team is done."""

    reason: str
    tickets: int
    mentions: int
    problem: str
    """"" when all of it could be read."""
