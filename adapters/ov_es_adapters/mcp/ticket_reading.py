"""A ticket, as any of the team's tools spells it, read into facts (TK-2 to TK-4)."""

import hashlib
from collections.abc import Mapping

import orjson

from ov_es_adapters.mcp.wire_values import moment, whole_text
from ov_es_adapters.websocket.fields import first_id, first_text, record
from ov_es_domain.identity import Identifier
from ov_es_domain.policy.team_facts import TicketFacts

_COMPLETED = frozenset({"done", "completed", "closed", "resolved", "cancelled", "canceled"})
_IN_REVIEW = frozenset({"review", "inreview", "awaitingreview", "readyforreview", "pendingreview"})
_CHANGED = ("updated_at", "updatedAt", "last_changed_at", "lastChangedAt", "modified_at")


def ticket_in(answer: object) -> Mapping[str, object]:
    """Return the ticket of an answer: `ticket`, else `task`, else the answer itself (TK-2)."""
    fields = record(answer)
    return record(fields.get("ticket")) or record(fields.get("task")) or fields


def read_ticket(
    fields: Mapping[str, object], project_id: Identifier | None = None
) -> TicketFacts | None:
    """Read a ticket; `project_id` is the one that was asked about.

    >>> found = read_ticket({"id": "5", "project_id": 1, "status": "In Review"})
    >>> found.ticket_id, found.is_in_review, found.agent_id
    (5, True, None)
    """
    ticket_id = first_id(fields, ("id", "ticket_id", "ticketId", "task_id", "taskId"))
    project = first_id(fields, ("project_id", "projectId"))
    if project is None:
        project = first_id(record(fields.get("project")), ("id",))
    if project is None:
        project = project_id
    if ticket_id is None or project is None:
        return None
    status = _named(fields, "status", "state")
    word = "".join(c for c in status.lower() if c.isalnum())
    agent_id, agent_identifier = _owner(fields)
    changed = next((fields[name] for name in _CHANGED if fields.get(name) is not None), None)
    title = whole_text(fields, "title", "name")
    description = whole_text(fields, "description", "body", "content")
    priority = _named(fields, "priority")
    owner = agent_identifier or ("" if agent_id is None else str(agent_id))
    return TicketFacts(
        project_id=project,
        ticket_id=ticket_id,
        slug=first_text(fields, ("slug", "key")),
        title=title,
        description=description,
        status=status,
        is_completed=word in _COMPLETED,
        is_in_review=word in _IN_REVIEW,
        priority=priority,
        revision=_stated(changed) or digest(title, description, priority, owner),
        agent_id=agent_id,
        agent_identifier=agent_identifier,
        updated_at=moment(changed),
    )


def digest(title: str, description: str, priority: str, owner: str) -> str:
    """Return what stands for a ticket's revision where the backend has no time of change.

    Its status is no part: we change that ourselves.
    """
    return hashlib.sha256(orjson.dumps([title, description, priority, owner])).hexdigest()


def _owner(fields: Mapping[str, object]) -> tuple[Identifier | None, str]:
    """Return the assigned agent's id and identifier, each by the first hit (TK-4)."""
    own = first_id(fields, ("agent_id", "agentId", "assigned_agent_id", "assignedAgentId"))
    nested = [record(fields.get(name)) for name in ("agent", "assigned_agent", "assignedAgent")]
    ids = [own, *(first_id(each, ("id",)) for each in nested)]
    identifiers = (first_text(each, ("identifier",)) for each in nested)
    return next((i for i in ids if i is not None), None), next(filter(None, identifiers), "")


def _stated(value: object) -> str:
    """Return a time of change as it was stated: it's only ever compared."""
    match value:
        case str():
            return value.strip()
        case bool():
            return ""
        case int() | float():
            return str(value)
        case _:
            return ""


def _named(fields: Mapping[str, object], *names: str) -> str:
    """Return a word that is a field's text, or the name of the object in it."""
    for name in names:
        value = fields.get(name)
        found = first_text(record(value), ("name", "key", "slug")) or first_text(fields, (name,))
        if found:
            return found
    return ""
