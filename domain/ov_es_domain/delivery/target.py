"""Where a message goes, and what it is for."""

from dataclasses import dataclass
from enum import StrEnum

from ov_es_domain.identity import Identifier, thread_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A place in a channel. It's fixed when the source is accepted (DL-1)."""

    channel_id: Identifier | None
    """None: no channel is known, and nothing can be posted (DL-22)."""
    parent_id: Identifier | None
    """The thread's root; None: the channel's top level."""

    @property
    def thread(self) -> str | None:
        """The key of the thread that it posts into."""
        return thread_key(self.channel_id, self.parent_id)


NOWHERE = Target(channel_id=None, parent_id=None)
"""The target of what has none yet."""


class Purpose(StrEnum):
    """What a delivery is for."""

    REPLY = "reply"
    REPORT = "report"
    BLOCKER = "blocker"
    INTRODUCTION = "introduction"
    NOTE = "note"
    """A note on the ticket itself, not in a channel (BL-7)."""
