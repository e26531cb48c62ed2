"""What a failed request means for the call that it was for: applied, not applied, or unknown."""

from ov_es_adapters.errors import (
    CallNotAppliedError,
    CallRefusedError,
    CallUnknownError,
    PeerRefusedError,
    ToolCallError,
    ToolNotAdvertisedError,
)
from ov_es_adapters.mcp.answers import says_no_such_tool
from ov_es_adapters.mcp.discovery import CORE_TOOLS
from ov_es_adapters.mcp.failures import FailureKind, RequestFailedError
from ov_es_adapters.redaction import Redactor

REASON_CHARACTERS_MAX = 300
_NO_CREDENTIALS = frozenset({401, 403})
_SERVER_ERROR = 500


def call_error(
    failure: RequestFailedError, tool: str, redactor: Redactor, *, retry_after: float | None = None
) -> ToolCallError | PeerRefusedError:
    """Translate a failure, for the caller of `tool`."""
    reason = redactor.text(str(failure), REASON_CHARACTERS_MAX)
    if failure.kind is FailureKind.HTTP and failure.status in _NO_CREDENTIALS:
        return PeerRefusedError(f"the team's server refuses our credentials: {reason}")
    if is_proven_not_applied(failure):
        return CallNotAppliedError(tool, reason, retry_after=retry_after)
    if failure.kind is FailureKind.PROTOCOL:
        return refusal(tool, failure.message, redactor)
    return CallUnknownError(tool, reason)


def is_proven_not_applied(failure: RequestFailedError) -> bool:
    """Tell whether the tool can't have run."""
    if failure.method == "initialize" or failure.kind is FailureKind.NOT_SENT:
        return True
    if failure.kind is FailureKind.TIMEOUT:
        return not failure.was_written
    is_http = failure.kind is FailureKind.HTTP and failure.status is not None
    return is_http and (failure.status or 0) < _SERVER_ERROR


def refusal(tool: str, said: str, redactor: Redactor) -> ToolCallError:
    """Return the server's plain no; to an unknown optional tool it means: not called (MCP-119)."""
    reason = redactor.text(said, REASON_CHARACTERS_MAX)
    if tool not in CORE_TOOLS and says_no_such_tool(said):
        return ToolNotAdvertisedError(tool, f"not-advertised: {reason}")
    return CallRefusedError(tool, reason)
