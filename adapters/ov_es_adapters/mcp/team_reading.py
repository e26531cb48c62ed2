"""Agents, projects, channels and messages, as the team's tools spell them, read into facts.

Further fields are ignored. What has no id is None, and what was just posted may have none.
"""

from collections.abc import Mapping

from ov_es_adapters.mcp.wire_values import moment, whole_text
from ov_es_adapters.websocket.fields import first_id, first_text, record
from ov_es_domain.identity import Identifier
from ov_es_domain.policy.team_facts import (
    AgentFacts,
    ChannelFacts,
    ProjectFacts,
    RenderedMessage,
)

_AUTHORS = ("sender", "author", "user", "agent")
_TIMES = ("created_at", "createdAt", "at", "timestamp")


def agent(fields: Mapping[str, object]) -> AgentFacts | None:
    """Read an agent."""
    agent_id = first_id(fields, ("id", "agent_id", "agentId"))
    if agent_id is None:
        return None
    identifier = first_text(fields, ("identifier", "slug", "handle"))
    name = first_text(fields, ("name", "display_name", "displayName")) or identifier
    return AgentFacts(id=agent_id, identifier=identifier, name=name)


def project(fields: Mapping[str, object]) -> ProjectFacts | None:
    """Read a project."""
    project_id = first_id(fields, ("id", "project_id", "projectId"))
    if project_id is None:
        return None
    channel = first_id(fields, ("channel_id", "channelId"))
    if channel is None:
        channel = first_id(record(fields.get("channel")), ("id",))
    return ProjectFacts(
        id=project_id, name=first_text(fields, ("name", "title")), channel_id=channel
    )


def channel(fields: Mapping[str, object]) -> ChannelFacts | None:
    """Read a channel."""
    channel_id = first_id(fields, ("id", "channel_id", "channelId"))
    if channel_id is None:
        return None
    owner = first_id(fields, ("project_id", "projectId"))
    if owner is None:
        owner = first_id(record(fields.get("project")), ("id",))
    return ChannelFacts(id=channel_id, project_id=owner, name=first_text(fields, ("name",)))


def message(fields: Mapping[str, object], channel_id: Identifier | None) -> RenderedMessage | None:
    """Read a rendered message; `channel_id` is the one that was asked about."""
    message_id = first_id(fields, ("id", "message_id", "messageId"))
    if message_id is None:
        return None
    authors = ((name, record(fields.get(name))) for name in _AUTHORS)
    role, author = next(((name, found) for name, found in authors if found), ("", record(None)))
    own_agent = first_id(fields, ("agent_id", "agentId"))
    is_agent = own_agent is not None or _is_agent(role, author)
    author_id = first_id(author, ("id", "agent_id", "agentId")) if own_agent is None else own_agent
    where = first_id(fields, ("channel_id", "channelId"))
    times = (fields[name] for name in _TIMES if fields.get(name) is not None)
    return RenderedMessage(
        id=message_id,
        channel_id=channel_id if where is None else where,
        parent_id=first_id(fields, ("parent_id", "parentId")),
        author_agent_id=author_id if is_agent else None,
        author_identifier=first_text(author, ("identifier",)) if is_agent else "",
        author_name=first_text(author, ("name", "display_name", "displayName", "identifier")),
        is_agent=is_agent,
        text=whole_text(fields, "content", "body", "text"),
        created_at=moment(next(times, None)),
    )


def _is_agent(role: str, author: Mapping[str, object]) -> bool:
    kind = first_text(author, ("kind", "type")).lower()
    if kind:
        return kind in {"agent", "bot"}
    return role == "agent" or author.get("is_agent") is True or author.get("isAgent") is True


def posted_id(answer: object) -> Identifier | None:
    """Return the id of a message that was just posted, where the answer names one."""
    fields = record(answer)
    inner = record(fields.get("message")) or record(fields.get("data")) or fields
    found = first_id(inner, ("id", "message_id", "messageId"))
    return first_id(fields, ("message_id", "messageId")) if found is None else found
