"""What can have happened to a ticket. Append-only: add an @2, never edit an @1."""

from ov_es_domain.identity import Identifier
from ov_es_domain.lifecycle import Event, event


@event("ticket.seen@1", transition="see")
class TicketSeen(Event):
    """It's ours, in this revision."""

    project_id: Identifier
    ticket_id: Identifier
    slug: str
    title: str
    revision: str
    reason: str


@event("ticket.queued@1", transition="queue")
class TicketQueued(Event):
    """A turn waits for it, and a report may be owed."""

    turn: str
    report: str | None


@event("ticket.started@1", transition="start")
class TicketStarted(Event):
    """A run holds it."""

    turn: str
    execution: str


@event("ticket.requeued@1", transition="requeue")
class TicketRequeued(Event):
    """Its run was cut short by us; its turn waits again."""

    turn: str
    reason: str


@event("ticket.reported@1", transition="report")
class TicketReported(Event):
    """Its work is done; `revision` is the one that our own changes led to."""

    turn: str
    revision: str


@event("ticket.blocked@1", transition="block")
class TicketBlocked(Event):
    """It waits for a person."""

    reason: str
    root: str | None


@event("ticket.paused@1", transition="pause")
class TicketPaused(Event):
    """It's left alone until its revision differs from this one."""

    reason: str
    revision: str | None


@event("ticket.revision_noted@1", transition="note_revision")
class TicketRevisionNoted(Event):
    """This revision is our own doing, or the one that failed."""

    revision: str


@event("ticket.released@1", transition="release")
class TicketReleased(Event):
    """Nothing of it is left to do now."""

    reason: str


@event("ticket.handed_over@1", transition="hand_over")
class TicketHandedOver(Event):
    """It isn't ours any more."""

    to: str
