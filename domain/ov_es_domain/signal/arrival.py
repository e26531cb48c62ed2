"""What arrived, normalized and redacted: one value, whichever road it came on."""

from dataclasses import dataclass
from enum import StrEnum

from ov_es_domain.identity import Identifier, mention_source, thread_key, ticket_key


class ArrivalKind(StrEnum):
    """The kinds of the wire; anything else arrives as `UNKNOWN`."""

    MENTION = "agent:mention"
    TICKET_ASSIGNED = "task:assigned"
    TICKET_CREATED = "task:created"
    TICKET_UPDATED = "task:updated"
    UNKNOWN = "unknown"


class Via(StrEnum):
    """The road an arrival took; both roads lead to the same decision (WS-17, RC-8)."""

    SOCKET = "socket"
    RECONCILIATION = "reconciliation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who wrote a message."""

    id: Identifier | None = None
    name: str = ""
    is_agent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One inbound signal, as it's decided about and as the log keeps it."""

    kind: ArrivalKind
    via: Via
    at: float
    """When it arrived, in seconds since the epoch."""
    wire_kind: str = ""
    """The kind as the frame spelled it, bounded; for people only."""
    channel_id: Identifier | None = None
    message_id: Identifier | None = None
    parent_id: Identifier | None = None
    """The message's parent; None at top level."""
    text: str = ""
    """The whole message with white space collapsed, never cut (WS-9)."""
    said: str | None = None
    """The sender's own words, without quotes and code; None where that is all of the text."""
    sender: Sender | None = None
    mentions: tuple[Identifier, ...] | None = None
    """The backend's own list of who is meant; None where the frame has none."""
    project_id: Identifier | None = None
    ticket_id: Identifier | None = None
    digest: str = ""
    """A digest of the raw frame: the identity of what has no id of its own."""
    problem: str = ""
    """Why it can't be read, or "" where it can."""

    @property
    def is_mention(self) -> bool:
        """Whether it's about a message."""
        return self.kind is ArrivalKind.MENTION

    @property
    def source(self) -> str:
        """The natural id of what a turn would be for."""
        if self.is_mention and self.message_id is not None:
            return mention_source(self.channel_id, self.message_id)
        if self.project_id is not None and self.ticket_id is not None:
            return ticket_key(self.project_id, self.ticket_id)
        return f"frame:{self.digest}"

    @property
    def root_id(self) -> Identifier | None:
        """The thread that an answer belongs to: the parent, else the message itself (WS-10)."""
        return self.message_id if self.parent_id is None else self.parent_id

    @property
    def thread(self) -> str | None:
        """The key of that thread, where channel and root are known."""
        return thread_key(self.channel_id, self.root_id)
