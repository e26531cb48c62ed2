"""Remembers the calls that went through a gate: bounded, without secrets, and none twice."""

from dataclasses import dataclass

from ov_es_adapters.redaction import Redactor
from ov_es_domain.observation import ToolCall

CALLS_MAX = 1000
NAME_CHARACTERS_MAX = 100
REASON_CHARACTERS_MAX = 300


@dataclass(slots=True)
class _Seen:
    call: ToolCall


class Witness:
    """The calls in the order in which they began (PX-10)."""

    def __init__(self, redactor: Redactor) -> None:
        """`redactor` takes secrets out of names and reasons."""
        self._redactor = redactor
        self._seen: list[_Seen] = []

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """What was called so far; a call without an answer may have had its effect."""
        return tuple(seen.call for seen in self._seen)

    def begin(self, tool: str) -> "Call":
        """Note a call before it's forwarded, so that one that's never answered is known too."""
        name = self._redactor.text(tool, NAME_CHARACTERS_MAX)
        seen = _Seen(ToolCall(tool=name, ok=None, reason="it was never answered"))
        self._seen.append(seen)
        if len(self._seen) > CALLS_MAX:
            self._forget_one()
        return Call(seen, self._redactor)

    def _forget_one(self) -> None:
        """Let go of the oldest call that a later one of the same tool and outcome repeats."""
        later: set[tuple[str, bool | None]] = set()
        repeated = 0
        for place in range(len(self._seen) - 1, -1, -1):
            call = self._seen[place].call
            if (call.tool, call.ok) in later:
                repeated = place
            later.add((call.tool, call.ok))
        del self._seen[repeated]


class Call:
    """One call that goes on."""

    def __init__(self, seen: _Seen, redactor: Redactor) -> None:
        self._seen = seen
        self._redactor = redactor

    def ended(self, *, ok: bool | None, reason: str = "") -> None:
        """Note how it ended; None: it may have had its effect."""
        said = self._redactor.text(reason, REASON_CHARACTERS_MAX)
        self._seen.call = ToolCall(tool=self._seen.call.tool, ok=ok, reason=said)
