"""Where secrets stop: what tools and runs say is redacted before a command exists.

Source: design, "The log is the truth" 9; SEC-102, SEC-103.
"""

from collections.abc import Mapping
from dataclasses import replace

from ov_es_adapters.errors import CallNotAppliedError, PeerRefusedError
from ov_es_adapters.ports import ToolCaller
from ov_es_adapters.redaction import Redactor
from ov_es_domain.observation import RunReport, ToolCall

_REASON_CHARACTERS_MAX = 500
_ANSWER_CHARACTERS_MAX = 100_000
_STDERR_CHARACTERS_MAX = 4_000


class RedactingTools:
    """A tool caller whose answers hold no secret.

    The team's first refusal of our credentials ends the watcher. Once a call has succeeded they
    are known to be good, and a refusal is that one call's: it had no effect.
    """

    def __init__(self, tools: ToolCaller, redactor: Redactor) -> None:
        """Call `tools`."""
        self._tools = tools
        self._redactor = redactor
        self._is_trusted = False

    async def call(self, tool: str, arguments: Mapping[str, object]) -> object:
        """Call a tool once; see `ToolCaller`."""
        try:
            answer = await self._tools.call(tool, arguments)
        except PeerRefusedError as error:
            if not self._is_trusted:
                raise
            raise CallNotAppliedError(tool, f"refused: {error}") from error
        self._is_trusted = True
        return self._redactor.data(answer)

    async def advertised(self, *, refresh: bool = False) -> frozenset[str]:
        """Return the names of the tools that the server lists."""
        return await self._tools.advertised(refresh=refresh)


def redacted_report(report: RunReport, redactor: Redactor) -> RunReport:
    """Return what a run said without secrets, and within bounds."""
    stream = report.stream
    answer = redactor.redact(stream.text)
    if len(answer) > _ANSWER_CHARACTERS_MAX:
        answer = answer[:_ANSWER_CHARACTERS_MAX] + "…"
    witnessed = report.witnessed
    return replace(
        report,
        stream=replace(stream, text=answer, calls=_redacted(stream.calls, redactor)),
        witnessed=None if witnessed is None else _redacted(witnessed, redactor),
        stderr_tail=redactor.redact(report.stderr_tail)[-_STDERR_CHARACTERS_MAX:],
        error=redactor.text(report.error, _REASON_CHARACTERS_MAX),
    )


def _redacted(calls: tuple[ToolCall, ...], redactor: Redactor) -> tuple[ToolCall, ...]:
    return tuple(
        replace(call, reason=redactor.text(call.reason, _REASON_CHARACTERS_MAX)) for call in calls
    )
