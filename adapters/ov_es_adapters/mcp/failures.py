"""How a request to the team's server can fail, and what that proves about its effect."""

from enum import StrEnum

from ov_es_domain.errors import OvEsError


class FailureKind(StrEnum):
    """What went wrong with one request."""

    NOT_SENT = "not-sent"
    """Nothing of it was written: proven to have had no effect."""
    HTTP = "http"
    """The server answered with a status that isn't a success."""
    TIMEOUT = "timeout"
    CUT = "cut"
    """The connection ended before the answer did."""
    UNREADABLE = "unreadable"
    """An answer came, and it can't be understood."""
    PROTOCOL = "protocol"
    """The server answered with a JSON-RPC error."""


class RequestFailedError(OvEsError):
    """One request failed; the call that it was for may have needed several."""

    def __init__(  # noqa: PLR0913  - the parts are kept, so that nobody parses the message
        self,
        kind: FailureKind,
        method: str,
        message: str,
        *,
        status: int | None = None,
        seconds: float | None = None,
        retry_after: str | None = None,
        had_session: bool = False,
        was_written: bool = True,
    ) -> None:
        """Keep the parts.

        Args:
            kind: What went wrong.
            method: The JSON-RPC method.
            message: For people; of the server's where it gave one. Not redacted yet.
            status: The HTTP status, if there was an answer.
            seconds: The deadline that passed.
            retry_after: The server's header of that name, as it came.
            had_session: Whether the request named a session.
            was_written: False where it's proven that nothing of the request went out.
        """
        self.kind = kind
        self.method = method
        self.message = message
        self.status = status
        self.seconds = seconds
        self.retry_after = retry_after
        self.had_session = had_session
        self.was_written = was_written
        self.context = ""
        """What else this failure means, such as that a list is incomplete."""
        super().__init__(method, message)

    def __str__(self) -> str:
        """Name the method, and the time where it's about time."""
        return f"{self.method}: {self.context}{self.message}"


class PaginationLoopError(RequestFailedError):
    """The server's pages of tools have no end (MCP-113)."""

    def __init__(self, page: int) -> None:
        """`page` is the last one that was read."""
        message = f"the tool list is incomplete: page {page} leads to no end"
        super().__init__(FailureKind.UNREADABLE, "tools/list", message)


class NoToolListError(RequestFailedError):
    """An answer to `tools/list` has no list of tools in it (MCP-115)."""

    def __init__(self, page: int) -> None:
        """`page` is the one that has none; the server may be something else altogether."""
        message = f"there is no list of tools on page {page} of the answer"
        super().__init__(FailureKind.UNREADABLE, "tools/list", message)
