"""What a ticket can be asked to do."""

from ov_es_domain.identity import Identifier
from ov_es_domain.lifecycle import Command, command


@command("see_ticket")
class SeeTicket(Command):
    """Take notice of a ticket that `get_ticket` says is ours."""

    project_id: Identifier
    ticket_id: Identifier
    slug: str
    title: str
    revision: str
    reason: str
    """Why it's looked at: `assigned`, `revision-changed`, `repository-authorized`, …."""


@command("queue_ticket")
class QueueTicket(Command):
    """Promise a turn for it."""

    turn: str
    report: str | None
    """The slot of the completion report that is owed from now on (DL-16); None: none is."""


@command("start_ticket")
class StartTicket(Command):
    """Give it to a run."""

    turn: str
    execution: str


@command("requeue_ticket")
class RequeueTicket(Command):
    """Let its turn wait again, after a crash or an orderly stop."""

    turn: str
    reason: str


@command("report_ticket")
class ReportTicket(Command):
    """Say that its work is done and can be shown."""

    turn: str
    revision: str


@command("block_ticket")
class BlockTicket(Command):
    """Wait for a person's authorization or setting; nothing in the ticket can free it (TK-12)."""

    reason: str
    root: str | None
    """The repository that must be authorized; None: only an operator can free it."""


@command("pause_ticket")
class PauseTicket(Command):
    """Leave it alone until people change it (TK-18)."""

    reason: str
    revision: str | None
    """The revision that failed; None: not read yet, and pending counts as current."""


@command("note_ticket_revision")
class NoteTicketRevision(Command):
    """Fold our own change into the revision that we know: it's no news."""

    revision: str


@command("release_ticket")
class ReleaseTicket(Command):
    """Forget that it was seen, so that the next reconciliation looks at it again (TK-21)."""

    reason: str


@command("hand_over_ticket")
class HandOverTicket(Command):
    """It's somebody else's now (TK-5)."""

    to: str
    """The new owner's identifier or id as text; "" for nobody."""
