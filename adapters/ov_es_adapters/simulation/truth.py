"""What really happened in the simulated world, whatever the log says: the measure of the log."""

from collections.abc import Mapping
from dataclasses import dataclass

from ov_es_domain.identity import Identifier

BY_WATCHER = "watcher"
BY_RUN = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A message that the agent's side wrote, and that people see."""

    at: float
    """Seconds since the start."""
    message_id: Identifier
    channel_id: Identifier
    parent_id: Identifier | None
    content: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketUpdate:
    """A change of a ticket that the agent's side made."""

    at: float
    project_id: Identifier
    ticket_id: Identifier
    fields: Mapping[str, object]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A note on a ticket that the agent's side wrote."""

    at: float
    project_id: Identifier
    ticket_id: Identifier
    content: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """All of it, in the order of its happening."""

    posts: tuple[Post, ...] = ()
    ticket_updates: tuple[TicketUpdate, ...] = ()
    comments: tuple[Comment, ...] = ()
    processes: tuple[str, ...] = ()
    """The execution ids of the processes that still live, once for each process."""
