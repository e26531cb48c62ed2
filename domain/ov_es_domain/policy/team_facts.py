"""What the team's tools say, as the values that decisions read and the log keeps."""

from dataclasses import dataclass

from ov_es_domain.identity import Identifier


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketFacts:
    """A ticket as `get_ticket` returned it: the only truth about it (TK-1)."""

    project_id: Identifier
    ticket_id: Identifier
    slug: str
    """The name for people, such as `COR-5`; "" where it has none: none is invented (TK-29)."""
    title: str
    description: str
    status: str
    """As the backend spells it."""
    is_completed: bool
    is_in_review: bool
    priority: str
    """As the backend spells it; "" where it has none."""
    revision: str
    """Changes whenever somebody changes the ticket."""
    agent_id: Identifier | None
    """The agent it's assigned to; None where that is nobody, or only known by identifier."""
    agent_identifier: str
    updated_at: float | None
    """Seconds since the epoch; None where the backend doesn't say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedMessage:
    """A message that is really there, in a thread or at the top of a channel."""

    id: Identifier
    channel_id: Identifier | None
    parent_id: Identifier | None
    """The root of its thread; None for the root itself."""
    author_agent_id: Identifier | None
    """None where a person wrote it: people and agents are numbered apart."""
    author_identifier: str
    author_name: str
    is_agent: bool
    text: str
    created_at: float | None
    """Seconds since the epoch; None where the backend doesn't say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFacts:
    """One agent of the team."""

    id: Identifier
    identifier: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFacts:
    """One project, with the channel that its news go to, where the backend names one."""

    id: Identifier
    name: str
    channel_id: Identifier | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelFacts:
    """One channel; `project_id` is None for one that belongs to no project."""

    id: Identifier
    project_id: Identifier | None
    name: str
