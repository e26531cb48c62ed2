"""Remembers the calls that went through a gate: bounded, without secrets, and none twice."""

from ov_es_adapters.redaction import Redactor
from ov_es_domain.observation import ToolCall

CALLS_MAX = 1000
NAME_CHARACTERS_MAX = 100
REASON_CHARACTERS_MAX = 300


class Call:
    """One call, from before it's forwarded until its answer."""

    def __init__(self, tool: str, redactor: Redactor) -> None:
        self._redactor = redactor
        name = redactor.text(tool, NAME_CHARACTERS_MAX)
        self.seen = ToolCall(tool=name, ok=None, reason="it was never answered")

    def ended(self, *, ok: bool | None, reason: str = "") -> None:
        """Note how it ended; None: it may have had its effect."""
        said = self._redactor.text(reason, REASON_CHARACTERS_MAX)
        self.seen = ToolCall(tool=self.seen.tool, ok=ok, reason=said)


class Witness:
    """The calls in the order in which they began (PX-10)."""

    def __init__(self, redactor: Redactor) -> None:
        """`redactor` takes secrets out of names and reasons."""
        self._redactor = redactor
        self._calls: list[Call] = []

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """What was called so far; a call without an answer may have had its effect."""
        return tuple(call.seen for call in self._calls)

    def begin(self, tool: str) -> Call:
        """Note a call before it's forwarded, so that one that's never answered is known too."""
        call = Call(tool, self._redactor)
        self._calls.append(call)
        if len(self._calls) > CALLS_MAX:
            self._forget_one()
        return call

    def _forget_one(self) -> None:
        """Let go of the oldest call that a later one of the same tool and outcome repeats."""
        later: set[tuple[str, bool | None]] = set()
        repeated = 0
        for place in range(len(self._calls) - 1, -1, -1):
            seen = self._calls[place].seen
            if (seen.tool, seen.ok) in later:
                repeated = place
            later.add((seen.tool, seen.ok))
        del self._calls[repeated]
