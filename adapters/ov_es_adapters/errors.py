"""The errors of the world's edge, under the domain's base.

OvEsError                        (ov_es_domain.errors)
├── BadInputError                what, where, what would be right               exit 2
├── NotConfiguredError           something that a person has to set up          exit 3
├── PeerRefusedError             credentials, or the other side's plain no      exit 3
├── ToolCallError                one call of a team tool went wrong
│   ├── CallNotAppliedError         proven: it had no effect; may be tried again
│   ├── CallRefusedError            the server answered no; trying again is no use by itself
│   ├── CallUnknownError            it may have been applied; look before anything else
│   └── ToolNotAdvertisedError      an optional tool that this server doesn't have
└── StoreError                   the log can't be used                          exit 4
    ├── StoreLockedError            path, holder
    ├── StoreUnavailableError       disk full, server away: nothing was written
    ├── CorruptLogError             position, key, why
    ├── ConcurrentWriteError        somebody wrote first: load and decide again
    └── FencedError                 another watcher took over: stop
"""

from ov_es_domain.errors import OvEsError


class BadInputError(OvEsError):
    """The call is wrong: the message names what, where, and what would be right."""


class NotConfiguredError(OvEsError):
    """A person has to set something up first; the message says what and how."""


class PeerRefusedError(OvEsError):
    """The other side said no: credentials, permissions, or a server that isn't one of ours."""


class ToolCallError(OvEsError):
    """A call of a team tool went wrong; `tool` names it."""

    def __init__(self, tool: str, reason: str) -> None:
        """Keep tool and reason; the reason is redacted and bounded by whoever raises."""
        self.tool = tool
        self.reason = reason
        super().__init__(f"{tool}: {reason}")


class CallNotAppliedError(ToolCallError):
    """The call is proven to have had no effect."""

    def __init__(self, tool: str, reason: str, *, retry_after: float | None = None) -> None:
        """`retry_after` is the server's own wish in seconds, if it gave one."""
        self.retry_after = retry_after
        super().__init__(tool, reason)


class CallRefusedError(ToolCallError):
    """The server answered, and the answer is no."""


class CallUnknownError(ToolCallError):
    """No answer that can be read: the call may have been applied."""


class ToolNotAdvertisedError(ToolCallError):
    """The server isn't known to have this optional tool, so it wasn't called (MCP-118)."""


class StoreError(OvEsError):
    """The log can't be opened, read or written."""


class StoreLockedError(StoreError):
    """Somebody else holds the log, or the watch of this agent."""

    def __init__(self, where: str, holder: str) -> None:
        """`holder` says who, as far as is known."""
        self.where = where
        self.holder = holder
        super().__init__(f"{where} is held by {holder}")


class StoreUnavailableError(StoreError):
    """Nothing was written, and trying again later may work."""


class CorruptLogError(StoreError):
    """The log contradicts itself; `position` is the first event that can't be right."""

    def __init__(self, position: int, key: str, why: str) -> None:
        """`position` is 0 when the file as a whole can't be read."""
        self.position = position
        self.key = key
        self.why = why
        at = f" at position {position}" if position else ""
        super().__init__(f"the log is corrupt{at}{f' ({key})' if key else ''}: {why}")


class ConcurrentWriteError(StoreError):
    """Somebody else wrote the same aggregate first; nothing of ours was written."""


class FencedError(StoreError):
    """Another watcher holds a newer fencing token; nothing of ours was written."""
