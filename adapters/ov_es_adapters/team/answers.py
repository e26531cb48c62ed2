"""What each tool does to a team, and what it answers."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TypeAlias, cast

from ov_es_adapters.errors import BadInputError, CallRefusedError
from ov_es_adapters.team.records import TICKET_FIELDS, Agent, parse_ticket
from ov_es_adapters.team.state import TeamState, touched
from ov_es_adapters.team.tools import check_arguments
from ov_es_adapters.team.written import CommentRecord, PostRecord, ReactionRecord, UpdateRecord
from ov_es_domain.identity import Identifier, identifier

ACTIVITY_MAX = 50
TASK_TYPES = ("todo", "in_progress", "in_review", "done", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool."""

    tool: str
    arguments: Mapping[str, object]
    caller: Agent
    now: float
    """For the records."""
    at: float
    """For what people see, in seconds since the epoch."""
    by: str

    def id(self, name: str) -> Identifier | None:
        """Return an argument that is an id; None where it isn't there."""
        return identifier(self.arguments.get(name))

    def own_id(self, name: str) -> Identifier:
        """Return an argument that is an id, and was held to the table to be there."""
        return cast("Identifier", self.id(name))

    def text(self, name: str) -> str:
        """Return an argument that is a text."""
        return str(self.arguments[name])


def answer(state: TeamState, call: Call) -> object:
    """Carry out a call, and return its answer. Raises: CallRefusedError; nothing changed then."""
    check_arguments(call.tool, call.arguments)
    try:
        return _ANSWERS[call.tool](state, call)
    except LookupError as error:
        raise CallRefusedError(call.tool, str(error.args[0])) from error


def _list_agents(state: TeamState, call: Call) -> object:
    del call
    return {"agents": [asdict(agent) for agent in state.agents.values()]}


def _list_projects(state: TeamState, call: Call) -> object:
    del call
    return {"projects": [asdict(project) for project in state.projects.values()]}


def _list_channels(state: TeamState, call: Call) -> object:
    del call
    return {"channels": [asdict(channel) for channel in state.channels.values()]}


def _list_task_types(state: TeamState, call: Call) -> object:
    del state, call
    return {"task_types": [{"name": name} for name in TASK_TYPES]}


def _list_tasks(state: TeamState, call: Call) -> object:
    project_id = call.own_id("project_id")
    tickets = [each for each in state.tickets.values() if each.project_id == project_id]
    if not tickets and project_id not in state.projects:
        raise CallRefusedError(call.tool, "project not found")
    return {"tasks": [state.shown_ticket(ticket) for ticket in tickets]}


def _get_ticket(state: TeamState, call: Call) -> object:
    found = state.ticket(call.id("project_id"), call.id("ticket_id"), call.tool)
    return {"ticket": state.shown_ticket(found)}


def _update_ticket(state: TeamState, call: Call) -> object:
    ticket = state.ticket(call.id("project_id"), call.id("ticket_id"), call.tool)
    places = ("project_id", "ticket_id")
    fields = {name: value for name, value in call.arguments.items() if name not in places}
    if not fields:
        raise CallRefusedError(call.tool, "there is no field to change")
    for name in ("id", "updated_at"):
        if name in fields:
            raise CallRefusedError(call.tool, f"{name} can't be set")
    own = {name: value for name, value in fields.items() if name in TICKET_FIELDS}
    try:
        changed = parse_ticket({**asdict(ticket), **own}, "the ticket")
    except BadInputError as error:
        raise CallRefusedError(call.tool, str(error)) from error
    if changed.agent_id is not None and changed.agent_id not in state.agents:
        raise CallRefusedError(call.tool, f"there is no agent {changed.agent_id}")
    state.tickets[ticket.id] = touched(changed, call.at)
    state.written.updates.append(
        UpdateRecord(
            at=call.now,
            project_id=ticket.project_id,
            ticket_id=ticket.id,
            fields=fields,
            by=call.by,
        )
    )
    return {"ticket": state.shown_ticket(state.tickets[ticket.id])}


def _comment_ticket(state: TeamState, call: Call) -> object:
    ticket = state.ticket(call.id("project_id"), call.id("ticket_id"), call.tool)
    content = call.text("content")
    state.written.comments.append(
        CommentRecord(
            at=call.now,
            project_id=ticket.project_id,
            ticket_id=ticket.id,
            content=content,
            by=call.by,
        )
    )
    return {"comment": {"id": len(state.written.comments), "content": content}}


def _post_message(state: TeamState, call: Call) -> object:
    message = state.write(
        call.text("content"),
        channel_id=call.own_id("channel_id"),
        parent_id=call.id("parent_id"),
        agent=call.caller.id,
        at=call.at,
    )
    state.written.posts.append(
        PostRecord(
            at=call.now,
            id=message.id,
            channel_id=message.channel_id,
            parent_id=message.parent_id,
            content=message.content,
            by=call.by,
        )
    )
    return {"message": state.shown_message(message)}


def _list_message_thread(state: TeamState, call: Call) -> object:
    found = state.thread(call.own_id("channel_id"), call.id("parent_id"))
    return {"messages": [state.shown_message(message) for message in found]}


def _list_activity(state: TeamState, call: Call) -> object:
    return {
        "activity": [
            {
                "id": message.id,
                "kind": "mention",
                "channel_id": message.channel_id,
                "message": state.shown_message(message),
            }
            for message in state.mentions_of(call.caller)[-ACTIVITY_MAX:]
        ]
    }


def _react_message(state: TeamState, call: Call) -> object:
    message = state.messages.get(call.own_id("message_id"))
    if message is None or call.id("channel_id") not in {None, message.channel_id}:
        raise CallRefusedError(call.tool, "message not found")
    emoji = call.text("emoji")
    state.written.reactions.append(
        ReactionRecord(at=call.now, message_id=message.id, emoji=emoji, by=call.by)
    )
    return {"reaction": {"message_id": message.id, "emoji": emoji}}


_Answer: TypeAlias = Callable[[TeamState, Call], object]
_ANSWERS: Mapping[str, _Answer] = MappingProxyType(
    {
        "list_agents": _list_agents,
        "list_projects": _list_projects,
        "list_tasks": _list_tasks,
        "list_task_types": _list_task_types,
        "get_ticket": _get_ticket,
        "update_ticket": _update_ticket,
        "comment_ticket": _comment_ticket,
        "post_message": _post_message,
        "list_message_thread": _list_message_thread,
        "list_channels": _list_channels,
        "list_activity": _list_activity,
        "react_message": _react_message,
    }
)
