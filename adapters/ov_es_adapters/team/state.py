"""A team's lists, how they're merged with a change, and how the tools show what is in them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TypeVar, cast

from ov_es_adapters.errors import BadInputError, CallRefusedError
from ov_es_adapters.runtimes.strict_fields import Fields
from ov_es_adapters.team.records import (
    TICKET_FIELDS,
    Agent,
    Channel,
    Message,
    Person,
    Project,
    Record,
    Ticket,
    iso_time,
    parse_agent,
    parse_channel,
    parse_message,
    parse_person,
    parse_project,
    parse_ticket,
    record_id,
    seconds_of,
)
from ov_es_adapters.team.written import Written
from ov_es_domain.identity import Identifier
from ov_es_domain.policy.addressing import Audience, address

LISTS = ("people", "agents", "projects", "channels", "tickets", "messages")
_CHANGE_SECONDS = 0.001
"""The least time between two changes of one ticket, so that each gives it a new revision."""

R = TypeVar("R", bound=Record)


class TeamState:
    """The lists, by id; every time in here is in seconds since the epoch."""

    def __init__(self, *, own_ids_from: int) -> None:
        """Start without anybody; `own_ids_from` is the least id of a message written here."""
        self.people: dict[Identifier, Person] = {}
        self.agents: dict[Identifier, Agent] = {}
        self.projects: dict[Identifier, Project] = {}
        self.channels: dict[Identifier, Channel] = {}
        self.tickets: dict[Identifier, Ticket] = {}
        self.messages: dict[Identifier, Message] = {}
        self.written = Written()
        self._own_ids_from = own_ids_from

    def lists(self) -> dict[str, object]:
        """Return the lists as a `team` object has them."""
        kept: Sequence[Mapping[Identifier, Record]] = (
            self.people,
            self.agents,
            self.projects,
            self.channels,
            self.tickets,
            self.messages,
        )
        return {
            name: [asdict(record) for record in records.values()]
            for name, records in zip(LISTS, kept, strict=True)
        }

    # --- changes -------------------------------------------------------------------------------

    def merge(self, partial: Mapping[str, object], *, at: float) -> None:
        """Merge a partial object per list by id: all of it, or nothing.

        Raises: BadInputError.
        """
        fields = Fields(partial, "team", LISTS, "the team")
        people = _merged(fields, "people", self.people, parse_person)
        agents = _merged(fields, "agents", self.agents, parse_agent)
        projects = _merged(fields, "projects", self.projects, parse_project)
        channels = _merged(fields, "channels", self.channels, parse_channel)
        tickets = _merged(fields, "tickets", self.tickets, parse_ticket)
        messages = _merged(fields, "messages", self.messages, parse_message)
        _check_agents(agents)
        self._check_authors(messages)
        for key, ticket in tickets.items():
            tickets[key] = self._dated(ticket, at)
        self.people, self.agents, self.projects = people, agents, projects
        self.channels, self.tickets, self.messages = channels, tickets, messages

    def _check_authors(self, messages: Mapping[Identifier, Message]) -> None:
        for key, message in messages.items():
            before = self.messages.get(key, message)
            if (before.person, before.agent) != (message.person, message.agent):
                raise BadInputError(f"team.messages: {key} is a message of somebody else already")

    def _dated(self, ticket: Ticket, at: float) -> Ticket:
        """Say when a ticket was changed, where the change doesn't."""
        if ticket.updated_at is None:
            return replace(ticket, updated_at=iso_time(at))
        before = self.tickets.get(ticket.id, ticket)
        is_silent = ticket != before and ticket.updated_at == before.updated_at
        return touched(ticket, at) if is_silent else ticket

    def write(  # noqa: PLR0913 - the fields of a message
        self,
        content: str,
        *,
        channel_id: Identifier,
        parent_id: Identifier | None,
        person: Identifier | None = None,
        agent: Identifier | None = None,
        at: float,
    ) -> Message:
        """Add a message with an id that follows all others. Raises: LookupError."""
        root = self.root(channel_id, parent_id)
        message = Message(
            id=following(self.messages, self._own_ids_from),
            channel_id=channel_id,
            parent_id=root,
            person=person,
            agent=agent,
            content=content,
            created_at=iso_time(at),
        )
        self.messages[message.id] = message
        return message

    # --- looking up ----------------------------------------------------------------------------

    def ticket(
        self, project_id: Identifier | None, ticket_id: Identifier | None, tool: str
    ) -> Ticket:
        """Return a ticket of a project. Raises: CallRefusedError."""
        found = None if ticket_id is None else self.tickets.get(ticket_id)
        if found is None or found.project_id != project_id:
            raise CallRefusedError(tool, "ticket not found")
        return found

    def root(self, channel_id: Identifier, parent_id: Identifier | None) -> Identifier | None:
        """Return the root of the thread that one of its messages names; None: no thread.

        Raises: LookupError that says what isn't there.
        """
        named = {project.channel_id for project in self.projects.values()}
        used = {message.channel_id for message in self.messages.values()}
        if channel_id not in {*self.channels, *named, *used}:
            raise LookupError("channel not found")
        if parent_id is None:
            return None
        parent = self.messages.get(parent_id)
        if parent is not None and parent.channel_id == channel_id:
            return parent_id if parent.parent_id is None else parent.parent_id
        # A thread outlives its root: people see the answers to a message that was deleted.
        if any((m.channel_id, m.parent_id) == (channel_id, parent_id) for m in self._all):
            return parent_id
        raise LookupError("thread not found")

    @property
    def _all(self) -> Sequence[Message]:
        return tuple(self.messages.values())

    def thread(self, channel_id: Identifier, parent_id: Identifier | None) -> Sequence[Message]:
        """Return a thread with its root, or the top of a channel, oldest first.

        Raises: LookupError that says what isn't there.
        """
        root = self.root(channel_id, parent_id)
        return [
            message
            for message in self._oldest_first()
            if message.channel_id == channel_id
            and (message.parent_id == root or (root is not None and message.id == root))
        ]

    def mentions_of(self, agent: Agent) -> Sequence[Message]:
        """Return the messages of others that mention an agent, oldest first."""
        return [message for message in self._oldest_first() if mentions(message, agent)]

    def _oldest_first(self) -> Sequence[Message]:
        """Sort by time; what people wrote before the start, without a time, comes first."""
        times = {
            m.id: 0.0 if m.created_at is None else seconds_of(m.created_at) for m in self._all
        }
        return sorted(self._all, key=lambda message: times[message.id])

    # --- as the tools show it ------------------------------------------------------------------

    def shown_message(self, message: Message) -> dict[str, object]:
        """Return a message as the tools have it."""
        shown: dict[str, object] = {
            "id": message.id,
            "channel_id": message.channel_id,
            "parent_id": message.parent_id,
            "content": message.content,
            "sender": self._sender(message),
        }
        if message.created_at is not None:
            shown["created_at"] = message.created_at
        return shown

    def _sender(self, message: Message) -> dict[str, object]:
        if message.agent is not None:
            agent = self.agents.get(message.agent)
            return {
                "id": message.agent,
                "name": agent.name if agent else f"Agent {message.agent}",
                "kind": "agent",
                "identifier": agent.identifier if agent else "",
            }
        # Whoever wrote something without being on the list of people is still a person.
        person = self.people.get(cast("Identifier", message.person))
        name = person.name if person else f"Person {message.person}"
        return {"id": message.person, "name": name, "kind": "person", "identifier": ""}

    def shown_ticket(self, ticket: Ticket) -> dict[str, object]:
        """Return a ticket as the tools have it, with what was added to it beyond its fields."""
        agent = None if ticket.agent_id is None else self.agents.get(ticket.agent_id)
        further = {
            name: value
            for update in self.written.updates
            if (update["project_id"], update["ticket_id"]) == (ticket.project_id, ticket.id)
            for name, value in update["fields"].items()
            if name not in TICKET_FIELDS
        }
        shown = asdict(ticket)
        shown["agent"] = {"id": agent.id, "identifier": agent.identifier} if agent else None
        return {**further, **shown}


def touched(ticket: Ticket, at: float) -> Ticket:
    """Give a ticket a later time of change than it had, whatever the clock says."""
    if ticket.updated_at is not None:
        at = max(at, seconds_of(ticket.updated_at) + _CHANGE_SECONDS)
    return replace(ticket, updated_at=iso_time(at))


def mentions(message: Message, agent: Agent) -> bool:
    """Tell whether a message mentions an agent who didn't write it."""
    if message.agent == agent.id:
        return False
    aliases = [name for name in (agent.identifier, agent.name) if name]
    found = address(message.content, aliases=aliases, own_id=agent.id, mentions=None)
    return found.audience is Audience.US


def following(known: Mapping[Identifier, object], least: int = 1) -> int:
    """Return an id that is greater than all numbers among the known ones."""
    return max([least - 1, *(each for each in known if isinstance(each, int))]) + 1


def _merged(
    fields: Fields,
    name: str,
    known: Mapping[Identifier, R],
    parse: Callable[[object, str], R],
) -> dict[Identifier, R]:
    merged = dict(known)
    seen: set[Identifier] = set()
    for at, value in enumerate(fields.list(name)):
        where = f"team.{name}[{at}]"
        key, changes = record_id(value, where)
        if key in seen:
            raise BadInputError(f"{where}.id: {key} is there twice")
        seen.add(key)
        before = known.get(key)
        merged[key] = parse({**({} if before is None else asdict(before)), **changes}, where)
    return merged


def _check_agents(agents: Mapping[Identifier, Agent]) -> None:
    """Refuse two agents of one identifier: nobody could tell who is meant."""
    seen: set[str] = set()
    for agent in agents.values():
        if agent.identifier in seen:
            raise BadInputError(f"team.agents: two of them are {agent.identifier!r}")
        seen.add(agent.identifier)
