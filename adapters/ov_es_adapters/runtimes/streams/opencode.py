"""opencode's stream (`opencode run --format json`): steps, and tools told once they have ended.

There is no event for the end of a run. A tool is printed only when it's over, so a run that was
killed may have made one more call than its stream shows.
Source: `agent-clis.md` section 3; EV-8 to EV-11; RN-23; STR-15.
"""

from ov_es_adapters.runtimes.streams.dialect import Dialect
from ov_es_adapters.runtimes.streams.endings import by_message, is_stopped
from ov_es_adapters.runtimes.streams.json_values import (
    Json,
    count,
    money,
    obj,
    reason,
    text,
    whole_number,
    words,
)
from ov_es_adapters.runtimes.streams.ledger import Call, Fate, Kind
from ov_es_adapters.runtimes.streams.refusals import never_left
from ov_es_adapters.runtimes.streams.tool_names import team_tool
from ov_es_domain.observation import StreamOutcome, Usage

_QUIET = frozenset({"reasoning", "snapshot", "patch"})
SHELL_TOOLS = frozenset({"bash"})
EDIT_TOOLS = frozenset({"edit", "write", "multiedit", "patch", "apply_patch"})
SUBAGENT_TOOLS = frozenset({"task"})
_INVALID = "invalid"
"""opencode's stand-in for a call that it couldn't make; the real name is in the input."""

_COMPLETED = frozenset({"completed", "success", "succeeded", "ok"})
_FAILED = ("error", "failed", "denied", "rejected")
_ENDS = {
    "stop": StreamOutcome.OK,
    "length": StreamOutcome.CUT_OFF,
    "content-filter": StreamOutcome.REFUSED,
}
"""Reasons of a step after which no other step comes."""

_BY_ERROR_NAME = {
    "ContentFilterError": StreamOutcome.REFUSED,
    "MessageAbortedError": StreamOutcome.INTERRUPTED,
    "MessageOutputLengthError": StreamOutcome.CUT_OFF,
}


class Parser(Dialect):
    """Reads one run of opencode."""

    def __init__(self) -> None:
        super().__init__()
        self._reason = ""
        """Why the last step ended; "" while one is open."""
        self._error: Json | None = None
        self._message = ""
        self._pieces: list[str] = []
        self._last_words = ""
        self._has_usage = False
        self._input = self._output = self._cached = 0
        self._cost: float | None = None

    def _take(self, event: Json) -> None:
        part = obj(event.get("part"))
        self._conversation = text(event.get("sessionID")) or self._conversation
        match text(event.get("type")):
            case "step_start":
                self._reason = ""
                self._close_message()
            case "tool_use":
                self._reason = ""
                self._close_message()
                self._take_tool(part)
            case "text":
                if (message := text(part.get("messageID"))) != self._message:
                    self._close_message()
                    self._message = message
                self._pieces.append(text(part.get("text")))
            case "step_finish":
                self._reason = text(part.get("reason")) or "unknown"
                self._add_usage(part)
            case "error":
                self._error = obj(event.get("error"))
            case kind:
                self._unknown += kind not in _QUIET

    def _close_message(self) -> None:
        self._last_words = "".join(self._pieces) or self._last_words
        self._pieces = []
        self._message = ""

    def _take_tool(self, part: Json) -> None:
        call = self._ledger.call(text(part.get("callID")))
        state = obj(part.get("state"))
        status = (text(state.get("status")) or text(part.get("status"))).casefold()
        given = obj(state.get("input")) or obj(part.get("input"))
        error = state.get("error") or part.get("error")
        name = text(part.get("tool"))
        if name == _INVALID:
            self._name(call, text(given.get("tool")))
            call.settle(Fate.REFUSED, reason(given.get("error"), state.get("output")))
            return
        self._name(call, name)
        if call.kind is Kind.SHELL:
            self._take_command(call, state)
        if error or any(word in status for word in _FAILED):
            why = reason(error, state.get("output"))
            call.settle(Fate.REFUSED if never_left(why, call.tool) else Fate.FAILED, why)
        elif status in _COMPLETED:
            call.settle(Fate.DONE)

    @staticmethod
    def _name(call: Call, name: str) -> None:
        if tool := team_tool(name):
            call.kind, call.tool = Kind.TEAM, tool
        elif name in SHELL_TOOLS:
            call.kind = Kind.SHELL
        elif name in EDIT_TOOLS:
            call.kind = Kind.EDIT
        elif name in SUBAGENT_TOOLS:
            call.kind = Kind.SUBAGENT

    def _take_command(self, call: Call, state: Json) -> None:
        details = obj(state.get("metadata"))
        call.exit = whole_number(details.get("exit"))
        for output in (state.get("output"), state.get("error"), details.get("output")):
            self._look_for_block(words(output))

    def _add_usage(self, part: Json) -> None:
        tokens = obj(part.get("tokens"))
        self._has_usage |= bool(tokens)
        self._input += count(tokens.get("input"))
        self._output += count(tokens.get("output"))
        self._cached += count(obj(tokens.get("cache")).get("read"))
        if (cost := money(part.get("cost"))) is not None:
            self._cost = (self._cost or 0.0) + cost

    def _is_cut(self, exit_status: int | None) -> bool:
        if self._reason in _ENDS or self._error is not None:
            return False
        return exit_status is None or is_stopped(exit_status)

    def _outcome(self, exit_status: int | None) -> StreamOutcome:
        if self._error is not None:
            return self._by_error(self._error)
        known = _ENDS.get(self._reason)
        if known is None:
            # Ended by itself after a call, with nothing said: a permission was refused (STR-15).
            if self._reason == "tool-calls" and exit_status == 0:
                return StreamOutcome.NO_ANSWER
            return self._without_end(exit_status)
        if known is StreamOutcome.OK and exit_status:
            return self._without_end(exit_status)
        return known

    @staticmethod
    def _by_error(error: Json) -> StreamOutcome:
        data = obj(error.get("data"))
        named = _BY_ERROR_NAME.get(text(error.get("name")))
        status = whole_number(data.get("statusCode"))
        return named or by_message(reason(data, error), status)

    def _text(self, outcome: StreamOutcome) -> str:
        said = "".join(self._pieces)
        return said if outcome is StreamOutcome.OK else said or self._last_words

    def _usage(self) -> Usage | None:
        if not self._has_usage:
            return None
        return Usage(
            input_tokens=self._input,
            output_tokens=self._output,
            cached_input_tokens=self._cached,
            cost_usd=self._cost,
        )
