"""The ticket: `decide` answers a command, `evolve` folds an event."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from ov_es_domain.errors import CommandRefusedError
from ov_es_domain.identity import Identifier
from ov_es_domain.lifecycle import Aggregate, Lifecycle
from ov_es_domain.ticket import commands as c
from ov_es_domain.ticket import events as e
from ov_es_domain.ticket.machine import TICKET_TABLE, TicketState

TicketCommand: TypeAlias = (
    c.SeeTicket
    | c.QueueTicket
    | c.StartTicket
    | c.RequeueTicket
    | c.ReportTicket
    | c.BlockTicket
    | c.PauseTicket
    | c.NoteTicketRevision
    | c.ReleaseTicket
    | c.HandOverTicket
)
TicketEvent: TypeAlias = (
    e.TicketSeen
    | e.TicketQueued
    | e.TicketStarted
    | e.TicketRequeued
    | e.TicketReported
    | e.TicketBlocked
    | e.TicketPaused
    | e.TicketRevisionNoted
    | e.TicketReleased
    | e.TicketHandedOver
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket(Aggregate):
    """One unit of work, as one agent identity knows it."""

    state: str = TicketState.UNKNOWN
    project_id: Identifier = 0
    ticket_id: Identifier = 0
    slug: str = ""
    title: str = ""
    revision: str = ""
    """The last revision that we took notice of or made ourselves."""
    turn: str | None = None
    """The turn that holds it now; None: none does."""
    report: str | None = None
    """The slot of the completion report that its last turn owes."""
    paused_revision: str | None = None
    """The revision that failed; None while it's pending (TK-18)."""
    root: str | None = None
    """The repository that a block waits for."""

    @property
    def label(self) -> str:
        """What people call it: its slug, else its title, never its ids (TK-29)."""
        return self.slug or self.title or "the ticket"


def decide(ticket: Ticket, command: TicketCommand) -> Sequence[TicketEvent]:
    """Return what happens; raise CommandRefusedError where a rule says no."""
    match command:
        case c.SeeTicket():
            return [
                e.TicketSeen(
                    project_id=command.project_id,
                    ticket_id=command.ticket_id,
                    slug=command.slug,
                    title=command.title,
                    revision=command.revision,
                    reason=command.reason,
                )
            ]
        case c.QueueTicket(turn=turn, report=report):
            return [e.TicketQueued(turn=turn, report=report)]
        case c.StartTicket(turn=turn, execution=execution):
            _must_hold(ticket, turn)
            return [e.TicketStarted(turn=turn, execution=execution)]
        case c.RequeueTicket(turn=turn, reason=reason):
            _must_hold(ticket, turn)
            return [e.TicketRequeued(turn=turn, reason=reason)]
        case c.ReportTicket(turn=turn, revision=revision):
            _must_hold(ticket, turn)
            return [e.TicketReported(turn=turn, revision=revision)]
        case c.BlockTicket(reason=reason, root=root):
            return [e.TicketBlocked(reason=reason, root=root)]
        case c.PauseTicket(reason=reason, revision=revision):
            return [e.TicketPaused(reason=reason, revision=revision)]
        case c.NoteTicketRevision(revision=revision):
            known = (
                ticket.paused_revision if ticket.state == TicketState.PAUSED else ticket.revision
            )
            return [] if known == revision else [e.TicketRevisionNoted(revision=revision)]
        case c.ReleaseTicket(reason=reason):
            is_there = ticket.state == TicketState.RELEASED
            return [] if is_there else [e.TicketReleased(reason=reason)]
        case c.HandOverTicket(to=to):
            is_there = ticket.state == TicketState.HANDED_OVER
            return [] if is_there else [e.TicketHandedOver(to=to)]
    assert_never(command)


def _must_hold(ticket: Ticket, turn: str) -> None:
    if ticket.turn != turn:
        raise CommandRefusedError(
            f"{turn} doesn't hold the ticket; {ticket.turn or 'no turn'} does"
        )


def evolve(ticket: Ticket, event: TicketEvent) -> Ticket:
    """Fold the fields of `event`; the state itself is `lifecycle.step`'s business."""
    match event:
        case e.TicketSeen():
            return replace(
                ticket,
                project_id=event.project_id,
                ticket_id=event.ticket_id,
                slug=event.slug,
                title=event.title,
                revision=event.revision,
                turn=None,
                report=None,
                paused_revision=None,
                root=None,
            )
        case e.TicketQueued(turn=turn, report=report):
            return replace(ticket, turn=turn, report=report)
        case e.TicketStarted() | e.TicketRequeued():
            return ticket
        case e.TicketReported(revision=revision):
            return replace(ticket, revision=revision, turn=None)
        case e.TicketBlocked(root=root):
            return replace(ticket, root=root, turn=None)
        case e.TicketPaused(revision=revision):
            return replace(ticket, paused_revision=revision, turn=None)
        case e.TicketRevisionNoted(revision=revision):
            return replace(ticket, paused_revision=revision, revision=revision)
        case e.TicketReleased():
            return replace(ticket, turn=None)
        case e.TicketHandedOver():
            return replace(ticket, turn=None, report=None, root=None)
    assert_never(event)


TICKET = Lifecycle(
    name="ticket",
    table=TICKET_TABLE,
    initial=Ticket(),
    decide=decide,
    evolve=evolve,
    topics=(
        e.TicketSeen.TOPIC,
        e.TicketQueued.TOPIC,
        e.TicketStarted.TOPIC,
        e.TicketRequeued.TOPIC,
        e.TicketReported.TOPIC,
        e.TicketBlocked.TOPIC,
        e.TicketPaused.TOPIC,
        e.TicketRevisionNoted.TOPIC,
        e.TicketReleased.TOPIC,
        e.TicketHandedOver.TOPIC,
    ),
)
