"""A team in memory, as its tools show it, with everything that its agents wrote down.

There is no I/O here, and no clock: the time comes in as `now`, in seconds since the world's start.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TypedDict, TypeVar, cast

from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.errors import BadInputError, CallRefusedError
from ov_es_adapters.runtimes.strict_fields import Fields, is_object
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
from ov_es_adapters.team.tools import TOOLS, check_arguments
from ov_es_domain.identity import Identifier, identifier
from ov_es_domain.policy.addressing import Audience, address

STARTS_AT = 1_767_225_600.0
"""2026-01-01T00:00:00Z: a scenario's second 0."""

_LISTS = ("people", "agents", "projects", "channels", "tickets", "messages")
_OWN_IDS_FROM = 1_000_001
"""Scenarios have ids for what is said later; what is posted meanwhile keeps clear of them."""
_ACTIVITY_MAX = 50
_TASK_TYPES = ("todo", "in_progress", "in_review", "done", "cancelled")

R = TypeVar("R", bound=Record)


class PostRecord(TypedDict):
    """A message that an agent posted with the tools."""

    at: float
    id: Identifier
    channel_id: Identifier
    parent_id: Identifier | None
    content: str
    by: str


class UpdateRecord(TypedDict):
    """A change of a ticket that was made with the tools."""

    at: float
    project_id: Identifier
    ticket_id: Identifier
    fields: Mapping[str, object]
    by: str


class CommentRecord(TypedDict):
    """A note on a ticket that was made with the tools."""

    at: float
    project_id: Identifier
    ticket_id: Identifier
    content: str
    by: str


class ReactionRecord(TypedDict):
    """A reaction to a message that was made with the tools."""

    at: float
    message_id: Identifier
    emoji: str
    by: str


class TeamWorld:
    """The team's state: people change it with `merge` and `say`, agents with `call`."""

    def __init__(
        self,
        team: Mapping[str, object],
        agent: AgentIdentity,
        *,
        starts_at: float = STARTS_AT,
        own_ids_from: int = _OWN_IDS_FROM,
    ) -> None:
        """Read a `team` object as scenarios have it; `agent` belongs to the team in any case.

        Args:
            team: The lists, each of which may be absent.
            agent: Who calls where a call doesn't say.
            starts_at: What `now` counts from, in seconds since the epoch.
            own_ids_from: The least id of a message that is posted here.

        Raises: BadInputError that names the field and its place.
        """
        self._starts_at = starts_at
        self._own_ids_from = own_ids_from
        self._people: dict[Identifier, Person] = {}
        self._agents: dict[Identifier, Agent] = {}
        self._projects: dict[Identifier, Project] = {}
        self._channels: dict[Identifier, Channel] = {}
        self._tickets: dict[Identifier, Ticket] = {}
        self._messages: dict[Identifier, Message] = {}
        self._posts: list[PostRecord] = []
        self._updates: list[UpdateRecord] = []
        self._comments: list[CommentRecord] = []
        self._reactions: list[ReactionRecord] = []
        self._tools: Mapping[str, _Handler] = MappingProxyType(
            {
                "list_agents": self._list_agents,
                "list_projects": self._list_projects,
                "list_tasks": self._list_tasks,
                "list_task_types": self._list_task_types,
                "get_ticket": self._get_ticket,
                "update_ticket": self._update_ticket,
                "comment_ticket": self._comment_ticket,
                "post_message": self._post_message,
                "list_message_thread": self._list_message_thread,
                "list_channels": self._list_channels,
                "list_activity": self._list_activity,
                "react_message": self._react_message,
            }
        )
        self.merge(team, is_start=True)
        self._own_id = self._join(agent)
        self._check_agents()

    # --- people --------------------------------------------------------------------------------

    def merge(
        self, partial: Mapping[str, object], *, now: float = 0.0, is_start: bool = False
    ) -> None:
        """Let people change something: a partial object per list, merged by id.

        All of it is done, or nothing. A ticket that changes without saying when gets a later
        `updated_at`, as a backend would give it.

        Raises: BadInputError.
        """
        Fields(partial, "team", _LISTS, "the team")
        people = _merged(partial, "people", self._people, parse_person)
        agents = _merged(partial, "agents", self._agents, parse_agent)
        projects = _merged(partial, "projects", self._projects, parse_project)
        channels = _merged(partial, "channels", self._channels, parse_channel)
        tickets = _merged(partial, "tickets", self._tickets, parse_ticket)
        messages = _merged(partial, "messages", self._messages, parse_message)
        for key, message in messages.items():
            before = self._messages.get(key)
            if before and (before.person, before.agent) != (message.person, message.agent):
                raise BadInputError(
                    f"team.messages: there is a message {key} of somebody else already"
                )
        for key, ticket in tickets.items():
            before_it = self._tickets.get(key)
            if ticket.updated_at is None:
                tickets[key] = replace(ticket, updated_at=iso_time(self._starts_at + now))
            elif before_it and ticket != before_it and ticket.updated_at == before_it.updated_at:
                tickets[key] = self._touched(ticket, now)
        self._people, self._projects, self._channels = people, projects, channels
        self._tickets, self._messages = tickets, messages
        self._agents = agents
        if not is_start:
            self._check_agents()

    def say(
        self,
        content: str,
        *,
        person: Identifier,
        channel_id: Identifier,
        parent_id: Identifier | None = None,
        now: float,
    ) -> Identifier:
        """Let a person post a message, and return its id.

        Raises: BadInputError where there is no such person, channel or thread.
        """
        if person not in self._people:
            raise BadInputError(f"there is no person {person}")
        try:
            message = self._write(
                "say", channel_id, parent_id, content, person=person, agent=None, now=now
            )
        except CallRefusedError as error:
            raise BadInputError(error.reason) from error
        return message.id

    # --- agents --------------------------------------------------------------------------------

    @property
    def tools(self) -> frozenset[str]:
        """Return the names of all tools."""
        return frozenset(TOOLS)

    @property
    def agents(self) -> Sequence[Agent]:
        """Return the team's agents."""
        return tuple(self._agents.values())

    @property
    def people(self) -> Sequence[Person]:
        """Return the people."""
        return tuple(self._people.values())

    @property
    def channels(self) -> Sequence[Channel]:
        """Return the channels."""
        return tuple(self._channels.values())

    @property
    def own_id(self) -> Identifier:
        """Return the id of the agent that this world was made for."""
        return self._own_id

    def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        *,
        agent: Identifier | None,
        now: float,
        by: str,
    ) -> object:
        """Carry out one call of a tool, and return its answer.

        Args:
            tool: The tool's name.
            arguments: Its arguments.
            agent: Who calls; None is the agent that this world was made for.
            now: Seconds since the world's start.
            by: What the record shall say about where the call came from.

        Raises: CallRefusedError, and nothing was changed then.
        """
        check_arguments(tool, arguments)
        caller = self._agents.get(self._own_id if agent is None else agent)
        if caller is None:
            raise CallRefusedError(tool, f"there is no agent {agent}")
        return self._tools[tool](_Call(tool, arguments, caller, now, by))

    @property
    def posts(self) -> Sequence[PostRecord]:
        """Return what agents posted, in the order of its happening."""
        return tuple(self._posts)

    @property
    def updates(self) -> Sequence[UpdateRecord]:
        """Return what agents changed of tickets."""
        return tuple(self._updates)

    @property
    def comments(self) -> Sequence[CommentRecord]:
        """Return the notes that agents made on tickets."""
        return tuple(self._comments)

    @property
    def reactions(self) -> Sequence[ReactionRecord]:
        """Return the reactions of agents to messages."""
        return tuple(self._reactions)

    # --- as the tools show it ------------------------------------------------------------------

    def message(self, message_id: Identifier) -> dict[str, object]:
        """Return a message as the tools show it. Raises: BadInputError."""
        found = self._messages.get(message_id)
        if found is None:
            raise BadInputError(f"there is no message {message_id}")
        return self._shown_message(found)

    def ticket(self, ticket_id: Identifier) -> dict[str, object]:
        """Return a ticket as the tools show it. Raises: BadInputError."""
        found = self._tickets.get(ticket_id)
        if found is None:
            raise BadInputError(f"there is no ticket {ticket_id}")
        return self._shown_ticket(found)

    def mentioned(self, message_id: Identifier) -> Sequence[Agent]:
        """Return the agents that a message mentions, without its author."""
        message = self._messages[message_id]
        return tuple(agent for agent in self._agents.values() if _mentions(message, agent))

    def snapshot(self) -> dict[str, object]:
        """Return the team, and what was written, as JSON can hold it; see `restored`."""
        team: dict[str, object] = {
            "people": [asdict(each) for each in self._people.values()],
            "agents": [asdict(each) for each in self._agents.values()],
            "projects": [asdict(each) for each in self._projects.values()],
            "channels": [asdict(each) for each in self._channels.values()],
            "tickets": [asdict(each) for each in self._tickets.values()],
            "messages": [asdict(each) for each in self._messages.values()],
        }
        return {
            "team": team,
            "posts": list(self._posts),
            "updates": list(self._updates),
            "comments": list(self._comments),
            "reactions": list(self._reactions),
        }

    def restore_records(self, snapshot: Mapping[str, object]) -> None:
        """Take over what was written, from a snapshot that this class made."""
        self._posts = cast("list[PostRecord]", list(_list(snapshot, "posts")))
        self._updates = cast("list[UpdateRecord]", list(_list(snapshot, "updates")))
        self._comments = cast("list[CommentRecord]", list(_list(snapshot, "comments")))
        self._reactions = cast("list[ReactionRecord]", list(_list(snapshot, "reactions")))

    def _shown_message(self, message: Message) -> dict[str, object]:
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
            agent = self._agents.get(message.agent)
            return {
                "id": message.agent,
                "name": agent.name if agent else f"Agent {message.agent}",
                "kind": "agent",
                "identifier": agent.identifier if agent else "",
            }
        person = self._people.get(cast("Identifier", message.person))
        name = person.name if person else f"Person {message.person}"
        return {"id": message.person, "name": name, "kind": "person", "identifier": ""}

    def _shown_ticket(self, ticket: Ticket) -> dict[str, object]:
        agent = None if ticket.agent_id is None else self._agents.get(ticket.agent_id)
        further = {
            name: value
            for update in self._updates
            if (update["project_id"], update["ticket_id"]) == (ticket.project_id, ticket.id)
            for name, value in update["fields"].items()
            if name not in TICKET_FIELDS
        }
        return {
            **further,
            "id": ticket.id,
            "project_id": ticket.project_id,
            "slug": ticket.slug,
            "title": ticket.title,
            "description": ticket.description,
            "status": ticket.status,
            "priority": ticket.priority,
            "agent_id": ticket.agent_id,
            "agent": {"id": agent.id, "identifier": agent.identifier} if agent else None,
            "updated_at": ticket.updated_at,
        }

    # --- the tools -----------------------------------------------------------------------------

    def _list_agents(self, call: "_Call") -> object:
        del call
        return {"agents": [asdict(agent) for agent in self._agents.values()]}

    def _list_projects(self, call: "_Call") -> object:
        del call
        return {"projects": [asdict(project) for project in self._projects.values()]}

    def _list_channels(self, call: "_Call") -> object:
        del call
        return {"channels": [asdict(channel) for channel in self._channels.values()]}

    def _list_task_types(self, call: "_Call") -> object:
        del call
        return {"task_types": [{"name": name} for name in _TASK_TYPES]}

    def _list_tasks(self, call: "_Call") -> object:
        project_id = call.id("project_id")
        tickets = [each for each in self._tickets.values() if each.project_id == project_id]
        if not tickets and project_id not in self._projects:
            raise CallRefusedError(call.tool, "project not found")
        return {"tasks": [self._shown_ticket(ticket) for ticket in tickets]}

    def _get_ticket(self, call: "_Call") -> object:
        return {"ticket": self._shown_ticket(self._ticket(call))}

    def _update_ticket(self, call: "_Call") -> object:
        ticket = self._ticket(call)
        names = ("project_id", "ticket_id")
        fields = {name: value for name, value in call.arguments.items() if name not in names}
        if not fields:
            raise CallRefusedError(call.tool, "there is no field to change")
        if forbidden := [name for name in ("id", "updated_at") if name in fields]:
            raise CallRefusedError(call.tool, f"{forbidden[0]} can't be set")
        own = {name: value for name, value in fields.items() if name in TICKET_FIELDS}
        try:
            changed = parse_ticket({**asdict(ticket), **own}, "the ticket")
        except BadInputError as error:
            raise CallRefusedError(call.tool, str(error)) from error
        if changed.agent_id is not None and changed.agent_id not in self._agents:
            raise CallRefusedError(call.tool, f"there is no agent {changed.agent_id}")
        self._tickets[ticket.id] = self._touched(changed, call.now)
        self._updates.append(
            UpdateRecord(
                at=call.now,
                project_id=ticket.project_id,
                ticket_id=ticket.id,
                fields=fields,
                by=call.by,
            )
        )
        return {"ticket": self._shown_ticket(self._tickets[ticket.id])}

    def _comment_ticket(self, call: "_Call") -> object:
        ticket = self._ticket(call)
        self._comments.append(
            CommentRecord(
                at=call.now,
                project_id=ticket.project_id,
                ticket_id=ticket.id,
                content=call.text("content"),
                by=call.by,
            )
        )
        return {"comment": {"id": len(self._comments), "content": call.text("content")}}

    def _post_message(self, call: "_Call") -> object:
        message = self._write(
            call.tool,
            cast("Identifier", call.id("channel_id")),
            call.id("parent_id"),
            call.text("content"),
            person=None,
            agent=call.caller.id,
            now=call.now,
        )
        self._posts.append(
            PostRecord(
                at=call.now,
                id=message.id,
                channel_id=message.channel_id,
                parent_id=message.parent_id,
                content=message.content,
                by=call.by,
            )
        )
        return {"message": self._shown_message(message)}

    def _list_message_thread(self, call: "_Call") -> object:
        channel_id, parent_id = cast("Identifier", call.id("channel_id")), call.id("parent_id")
        root = self._root(call.tool, channel_id, parent_id)
        return {
            "messages": [
                self._shown_message(message)
                for message in self._oldest_first()
                if message.channel_id == channel_id
                and (message.parent_id == root or (root is not None and message.id == root))
            ]
        }

    def _list_activity(self, call: "_Call") -> object:
        found = [each for each in self._oldest_first() if _mentions(each, call.caller)]
        return {
            "activity": [
                {
                    "id": message.id,
                    "kind": "mention",
                    "channel_id": message.channel_id,
                    "message": self._shown_message(message),
                }
                for message in found[-_ACTIVITY_MAX:]
            ]
        }

    def _react_message(self, call: "_Call") -> object:
        message = self._messages.get(cast("Identifier", call.id("message_id")))
        if message is None or call.id("channel_id") not in {None, message.channel_id}:
            raise CallRefusedError(call.tool, "message not found")
        emoji = call.text("emoji")
        self._reactions.append(
            ReactionRecord(at=call.now, message_id=message.id, emoji=emoji, by=call.by)
        )
        return {"reaction": {"message_id": message.id, "emoji": emoji}}

    # --- inside --------------------------------------------------------------------------------

    def _join(self, agent: AgentIdentity) -> Identifier:
        """Let the agent that the world is for be one of the team, and return its id."""
        named = [each for each in self._agents.values() if each.identifier == agent.identifier]
        if named:
            if agent.id not in {None, named[0].id}:
                raise BadInputError(
                    f"team.agents: {agent.identifier} has the id {named[0].id}, not {agent.id}"
                )
            return named[0].id
        own_id = _following(self._agents) if agent.id is None else agent.id
        if own_id in self._agents:
            raise BadInputError(
                f"team.agents: the id {own_id} is {self._agents[own_id].identifier}'s, and"
                f" {agent.identifier} has it too"
            )
        name = agent.name or agent.identifier
        self._agents[own_id] = Agent(id=own_id, identifier=agent.identifier, name=name)
        return own_id

    def _check_agents(self) -> None:
        """Refuse two agents of one identifier: nobody could tell who is meant."""
        seen: set[str] = set()
        for agent in self._agents.values():
            if agent.identifier in seen:
                raise BadInputError(f"team.agents: two of them are {agent.identifier!r}")
            seen.add(agent.identifier)

    def _ticket(self, call: "_Call") -> Ticket:
        found = self._tickets.get(cast("Identifier", call.id("ticket_id")))
        if found is None or found.project_id != call.id("project_id"):
            raise CallRefusedError(call.tool, "ticket not found")
        return found

    def _touched(self, ticket: Ticket, now: float) -> Ticket:
        """Give a ticket a later time of change than it had, whatever the clock says."""
        at = self._starts_at + now
        if ticket.updated_at is not None:
            at = max(at, seconds_of(ticket.updated_at) + 0.001)
        return replace(ticket, updated_at=iso_time(at))

    def _root(
        self, tool: str, channel_id: Identifier, parent_id: Identifier | None
    ) -> Identifier | None:
        """Return the root of the thread that a message or its root names (WS-11)."""
        if channel_id not in self._known_channels():
            raise CallRefusedError(tool, "channel not found")
        if parent_id is None:
            return None
        for message in self._messages.values():
            if message.channel_id == channel_id and parent_id in {message.id, message.parent_id}:
                is_reply = message.id == parent_id and message.parent_id is not None
                return message.parent_id if is_reply else parent_id
        raise CallRefusedError(tool, "thread not found")

    def _known_channels(self) -> set[Identifier | None]:
        """Return the listed channels, and those that projects or messages are in."""
        named = {project.channel_id for project in self._projects.values()}
        return {*self._channels, *named, *(m.channel_id for m in self._messages.values())} - {None}

    def _write(  # noqa: PLR0913 - the fields of a message
        self,
        tool: str,
        channel_id: Identifier,
        parent_id: Identifier | None,
        content: str,
        *,
        person: Identifier | None,
        agent: Identifier | None,
        now: float,
    ) -> Message:
        root = self._root(tool, channel_id, parent_id)
        message = Message(
            id=_following(self._messages, self._own_ids_from),
            channel_id=channel_id,
            parent_id=root,
            person=person,
            agent=agent,
            content=content,
            created_at=iso_time(self._starts_at + now),
        )
        self._messages[message.id] = message
        return message

    def _oldest_first(self) -> list[Message]:
        """Return the messages by their times, or as they came where some have none."""
        messages = list(self._messages.values())
        times = [m.created_at for m in messages if m.created_at is not None]
        if len(times) < len(messages):
            return messages
        return sorted(messages, key=lambda m: seconds_of(m.created_at or ""))


class _Call:
    """One call of a tool, after its arguments were held to the table."""

    def __init__(
        self, tool: str, arguments: Mapping[str, object], caller: Agent, now: float, by: str
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.caller = caller
        self.now = now
        self.by = by

    def id(self, name: str) -> Identifier | None:
        """Return an argument that is an id."""
        return identifier(self.arguments.get(name))

    def text(self, name: str) -> str:
        """Return an argument that is a text."""
        return str(self.arguments[name])


_Handler = Callable[[_Call], object]


def _merged(
    partial: Mapping[str, object],
    name: str,
    known: Mapping[Identifier, R],
    parse: Callable[[object, str], R],
) -> dict[Identifier, R]:
    merged = dict(known)
    seen: set[Identifier] = set()
    for at, value in enumerate(_list(partial, name)):
        where = f"team.{name}[{at}]"
        if not is_object(value):
            merged.update({record.id: record for record in (parse(value, where),)})
            continue
        key = record_id(value, where)
        if key in seen:
            raise BadInputError(f"{where}.id: {key} is there twice")
        seen.add(key)
        before = known.get(key)
        merged[key] = parse(value if before is None else {**asdict(before), **value}, where)
    return merged


def _list(value: Mapping[str, object], name: str) -> Sequence[object]:
    return Fields(value, "team", tuple(value), "the team").list(name)


def _mentions(message: Message, agent: Agent) -> bool:
    if message.agent == agent.id:
        return False
    aliases = [name for name in (agent.identifier, agent.name) if name]
    found = address(message.content, aliases=aliases, own_id=agent.id, mentions=None)
    return found.audience is Audience.US


def _following(known: Mapping[Identifier, object], least: int = 1) -> int:
    """Return an id that is greater than all numbers among the known ones."""
    return max([least - 1, *(each for each in known if isinstance(each, int))]) + 1
