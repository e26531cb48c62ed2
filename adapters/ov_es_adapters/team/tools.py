"""The team's tools: their names and arguments, in one table for checks and schemas alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from ov_es_adapters.errors import CallRefusedError
from ov_es_domain.identity import identifier


class Kind(StrEnum):
    """What an argument has to be."""

    ID = "an id"
    TEXT = "a text that isn't empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of a tool."""

    kind: Kind
    says: str
    is_required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """What callers have to know of a tool."""

    says: str
    arguments: Mapping[str, Argument] = field(default_factory=dict[str, Argument])
    takes_more: bool = False
    """Whether it takes arguments beyond those."""

    @property
    def schema(self) -> dict[str, object]:
        """Return the JSON schema of its arguments."""
        return {
            "type": "object",
            "properties": {name: _schema(each) for name, each in self.arguments.items()},
            "required": [name for name, each in self.arguments.items() if each.is_required],
            "additionalProperties": self.takes_more,
        }


_PROJECT = Argument(kind=Kind.ID, says="The project's id.")
_TICKET = Argument(kind=Kind.ID, says="The ticket's id.")
_CHANNEL = Argument(kind=Kind.ID, says="The channel's id.")

TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        "list_agents": Tool(says="List the agents of the team."),
        "list_projects": Tool(says="List the projects, each with the channel for its news."),
        "list_tasks": Tool(
            says="List the tickets of a project.", arguments={"project_id": _PROJECT}
        ),
        "list_task_types": Tool(says="List the states that a ticket can be in."),
        "get_ticket": Tool(
            says="Return a ticket as it is now.",
            arguments={"project_id": _PROJECT, "ticket_id": _TICKET},
        ),
        "update_ticket": Tool(
            says="Change fields of a ticket, such as its status.",
            arguments={"project_id": _PROJECT, "ticket_id": _TICKET}
            | {
                name: Argument(kind=Kind.TEXT, says=f"The ticket's new {name}.", is_required=False)
                for name in ("status", "title", "description", "priority")
            },
            takes_more=True,
        ),
        "comment_ticket": Tool(
            says="Put a note on a ticket.",
            arguments={
                "project_id": _PROJECT,
                "ticket_id": _TICKET,
                "content": Argument(kind=Kind.TEXT, says="The note."),
            },
        ),
        "post_message": Tool(
            says="Post a message to a channel, or to a thread in it.",
            arguments={
                "channel_id": _CHANNEL,
                "content": Argument(kind=Kind.TEXT, says="The message."),
                "parent_id": Argument(
                    kind=Kind.ID, says="The thread's root message.", is_required=False
                ),
            },
        ),
        "list_message_thread": Tool(
            says="List a thread's messages, root first; without a root the top of the channel.",
            arguments={
                "channel_id": _CHANNEL,
                "parent_id": Argument(
                    kind=Kind.ID, says="The thread's root message.", is_required=False
                ),
            },
        ),
        "list_channels": Tool(says="List the channels."),
        "list_activity": Tool(says="List the latest messages that mention you, newest last."),
        "react_message": Tool(
            says="React to a message.",
            arguments={
                "message_id": Argument(kind=Kind.ID, says="The message."),
                "emoji": Argument(kind=Kind.TEXT, says="The reaction, such as 👍."),
                "channel_id": Argument(kind=Kind.ID, says="Its channel.", is_required=False),
            },
        ),
    }
)
"""Every tool by its name, in the order in which a server lists them."""


def check_arguments(tool: str, arguments: Mapping[str, object]) -> None:
    """Hold a call to its tool's arguments; null is an argument that isn't there.

    Raises: CallRefusedError, also for a tool that doesn't exist.

    >>> check_arguments("get_ticket", {"project_id": 1})
    Traceback (most recent call last):
    ov_es_adapters.errors.CallRefusedError: get_ticket: the argument ticket_id is missing
    """
    known = TOOLS.get(tool)
    if known is None:
        raise CallRefusedError(tool, f"unknown tool: {tool}")
    for name, argument in known.arguments.items():
        value = arguments.get(name)
        if value is None:
            if argument.is_required:
                raise CallRefusedError(tool, f"the argument {name} is missing")
        elif not _fits(argument.kind, value):
            raise CallRefusedError(tool, f"the argument {name} must be {argument.kind}")
    further = [name for name in arguments if name not in known.arguments]
    if further and not known.takes_more:
        has = ", ".join(known.arguments) or "none"
        raise CallRefusedError(tool, f"unknown argument {further[0]!r}; it has {has}")


def _fits(kind: Kind, value: object) -> bool:
    match kind:
        case Kind.ID:
            return identifier(value) is not None
        case Kind.TEXT:
            return isinstance(value, str) and bool(value.strip())


def _schema(argument: Argument) -> dict[str, object]:
    match argument.kind:
        case Kind.ID:
            return {"type": ["integer", "string"], "description": argument.says}
        case Kind.TEXT:
            return {"type": "string", "minLength": 1, "description": argument.says}
