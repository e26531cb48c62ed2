"""What agents wrote with the tools, as it is kept and counted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from ov_es_domain.identity import Identifier


class PostRecord(TypedDict):
    """A message that an agent posted."""

    at: float
    id: Identifier
    channel_id: Identifier
    parent_id: Identifier | None
    content: str
    by: str


class UpdateRecord(TypedDict):
    """A change of a ticket."""

    at: float
    project_id: Identifier
    ticket_id: Identifier
    fields: Mapping[str, object]
    by: str


class CommentRecord(TypedDict):
    """A note on a ticket."""

    at: float
    project_id: Identifier
    ticket_id: Identifier
    content: str
    by: str


class ReactionRecord(TypedDict):
    """A reaction to a message."""

    at: float
    message_id: Identifier
    emoji: str
    by: str


@dataclass(slots=True, kw_only=True)
class Written:
    """All of it, each list in the order of its happening."""

    posts: list[PostRecord] = field(default_factory=list[PostRecord])
    updates: list[UpdateRecord] = field(default_factory=list[UpdateRecord])
    comments: list[CommentRecord] = field(default_factory=list[CommentRecord])
    reactions: list[ReactionRecord] = field(default_factory=list[ReactionRecord])
