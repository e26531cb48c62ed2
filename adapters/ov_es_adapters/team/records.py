"""The people, agents, projects, channels, tickets and messages of a team, read strictly.

Each has the fields that a scenario's `team` object gives it, and no others: an unknown field is
an error that names it and its place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.strict_fields import Fields, is_object
from ov_es_domain.identity import Identifier, identifier

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who writes messages and isn't an agent."""

    id: Identifier
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent of the team."""

    id: Identifier
    identifier: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project, with the channel that its news go to."""

    id: Identifier
    name: str
    channel_id: Identifier | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A channel; it may belong to no project."""

    id: Identifier
    project_id: Identifier | None
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A ticket of a project."""

    id: Identifier
    project_id: Identifier
    slug: str
    title: str
    description: str
    status: str
    agent_id: Identifier | None
    priority: str
    updated_at: str | None
    """As it was stated; None where nobody stated it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of exactly one author."""

    id: Identifier
    channel_id: Identifier
    parent_id: Identifier | None
    """The thread's root; None for a message at the top of its channel."""
    person: Identifier | None
    agent: Identifier | None
    content: str
    created_at: str | None


Record: TypeAlias = Person | Agent | Project | Channel | Ticket | Message

PERSON_FIELDS = ("id", "name")
AGENT_FIELDS = ("id", "identifier", "name")
PROJECT_FIELDS = ("id", "name", "channel_id")
CHANNEL_FIELDS = ("id", "project_id", "name")
TICKET_FIELDS = (
    "id",
    "project_id",
    "slug",
    "title",
    "description",
    "status",
    "agent_id",
    "priority",
    "updated_at",
)
MESSAGE_FIELDS = ("id", "channel_id", "parent_id", "person", "agent", "content", "created_at")


def parse_person(value: object, where: str) -> Person:
    """Read a person. Raises: BadInputError."""
    fields = Fields(value, where, PERSON_FIELDS, "a person")
    return Person(id=_id(value, where, "id"), name=_name(fields))


def parse_agent(value: object, where: str) -> Agent:
    """Read an agent. Raises: BadInputError."""
    fields = Fields(value, where, AGENT_FIELDS, "an agent")
    return Agent(
        id=_id(value, where, "id"), identifier=fields.text("identifier"), name=_name(fields)
    )


def parse_project(value: object, where: str) -> Project:
    """Read a project. Raises: BadInputError."""
    fields = Fields(value, where, PROJECT_FIELDS, "a project")
    return Project(
        id=_id(value, where, "id"),
        name=_name(fields),
        channel_id=_optional_id(value, where, "channel_id"),
    )


def parse_channel(value: object, where: str) -> Channel:
    """Read a channel. Raises: BadInputError."""
    fields = Fields(value, where, CHANNEL_FIELDS, "a channel")
    return Channel(
        id=_id(value, where, "id"),
        project_id=_optional_id(value, where, "project_id"),
        name=_name(fields),
    )


def parse_ticket(value: object, where: str) -> Ticket:
    """Read a ticket. Raises: BadInputError."""
    fields = Fields(value, where, TICKET_FIELDS, "a ticket")
    return Ticket(
        id=_id(value, where, "id"),
        project_id=_id(value, where, "project_id"),
        slug=fields.text("slug", default="", may_be_empty=True),
        title=fields.text("title", default="", may_be_empty=True),
        description=fields.text("description", default="", may_be_empty=True),
        status=fields.text("status", default="todo"),
        agent_id=_optional_id(value, where, "agent_id"),
        priority=fields.text("priority", default="medium", may_be_empty=True),
        updated_at=_time(value, where, "updated_at"),
    )


def parse_message(value: object, where: str) -> Message:
    """Read a message: its author is a person or an agent.

    Raises: BadInputError.

    >>> parse_message({"id": 1, "channel_id": 10, "content": "Hi"}, "messages[0]")
    Traceback (most recent call last):
    ov_es_adapters.errors.BadInputError: messages[0]: a message has exactly one of person and agent
    """
    fields = Fields(value, where, MESSAGE_FIELDS, "a message")
    person = _optional_id(value, where, "person")
    agent = _optional_id(value, where, "agent")
    if (person is None) == (agent is None):
        raise BadInputError(f"{where}: a message has exactly one of person and agent")
    return Message(
        id=_id(value, where, "id"),
        channel_id=_id(value, where, "channel_id"),
        parent_id=_optional_id(value, where, "parent_id"),
        person=person,
        agent=agent,
        content=fields.text("content", may_be_empty=True),
        created_at=_time(value, where, "created_at"),
    )


def record_id(value: object, where: str) -> tuple[Identifier, Mapping[str, object]]:
    """Return the id of a record, which has to be there, and its fields. Raises: BadInputError."""
    if not is_object(value):
        raise BadInputError(f"{where}: must be an object")
    return _id(value, where, "id"), value


def iso_time(seconds: float) -> str:
    """Return a time as the backend writes it.

    >>> iso_time(1767225600.25)
    '2026-01-01T00:00:00.250Z'
    """
    moment = _EPOCH + timedelta(milliseconds=round(seconds * 1000))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_of(time: str) -> float:
    """Return a time that was checked before as seconds since the epoch.

    >>> seconds_of("2026-01-01T00:00:00Z")
    1767225600.0
    """
    found = datetime.fromisoformat(time)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _name(fields: Fields) -> str:
    return fields.text("name", default="", may_be_empty=True)


def _id(value: object, where: str, name: str) -> Identifier:
    found = _optional_id(value, where, name)
    if found is None:
        raise BadInputError(f"{where}: the field {name!r} is missing; it is an id")
    return found


def _optional_id(value: object, where: str, name: str) -> Identifier | None:
    given = value.get(name) if is_object(value) else None
    found = identifier(given)
    if found is None and given is not None:
        raise BadInputError(f"{where}.{name}: must be an id, as the backend has it: a number")
    return found


def _time(value: object, where: str, name: str) -> str | None:
    given = value.get(name) if is_object(value) else None
    if given is None:
        return None
    try:
        if not isinstance(given, str):
            raise ValueError  # noqa: TRY004, TRY301 - both slips get the same words below
        seconds_of(given)
    except (ValueError, OverflowError) as error:
        raise BadInputError(f"{where}.{name}: must be a time, as 2026-01-01T00:00:00Z") from error
    return given
