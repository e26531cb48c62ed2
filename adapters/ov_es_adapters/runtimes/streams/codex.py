"""codex' stream (`codex exec --json`): items that start and complete, and a turn's own end.

Source: `agent-clis.md` section 2; EV-3 to EV-7; RN-17, RN-18; STR-10, STR-11, STR-13, STR-17.
"""

from ov_es_adapters.runtimes.streams.dialect import Dialect
from ov_es_adapters.runtimes.streams.endings import by_message, is_stopped
from ov_es_adapters.runtimes.streams.json_values import (
    Json,
    count,
    obj,
    reason,
    text,
    whole_number,
    words,
)
from ov_es_adapters.runtimes.streams.ledger import Call, Fate, Kind
from ov_es_adapters.runtimes.streams.refusals import is_unknown_to_server, never_left
from ov_es_adapters.runtimes.streams.tool_names import team_tool_of
from ov_es_domain.observation import StreamOutcome, Usage

_COMMANDS = frozenset({"command_execution", "shell_command", "exec_command"})
_EDITS = frozenset({"file_change", "apply_patch"})
_QUIET = frozenset({"reasoning", "todo_list", "web_search", "error"})
"""Items that prove nothing; an item of type `error` is a warning."""

_COMPLETED = frozenset({"completed", "success", "succeeded", "ok"})
_FAILED = ("fail", "error", "denied", "rejected")
_DECLINED = "declined"


class Parser(Dialect):
    """Reads one run of codex."""

    def __init__(self) -> None:
        super().__init__()
        self._is_completed = False
        self._failure: str | None = None
        self._last_error = ""
        self._answer = ""
        self._last_words = ""
        self._used: Json | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the turn has ended, well or not."""
        return self._is_completed or self._failure is not None

    def _take(self, event: Json) -> None:
        match text(event.get("type")):
            case "thread.started":
                self._conversation = text(event.get("thread_id")) or self._conversation
            case "turn.started":
                self._is_completed, self._failure, self._answer = False, None, ""
            case "turn.completed":
                self._is_completed, self._failure = True, None
                self._used = obj(event.get("usage")) or self._used
            case "turn.failed":
                self._is_completed, self._failure = False, reason(event.get("error"))
            case "error":
                # It may only tell that it tries again; what ends the turn is the turn's own event.
                self._last_error = text(event.get("message"))
            case "item.started" | "item.updated" | "item.completed" | "item.failed" as kind:
                self._take_item(obj(event.get("item")), kind)
            case _:
                self._unknown += 1

    def _take_item(self, item: Json, kind: str) -> None:
        match text(item.get("type")):
            case "agent_message":
                if kind == "item.completed":
                    # The last one is the answer; those before it were about the work (STR-17).
                    self._answer = self._last_words = text(item.get("text"))
            case item_type if item_type in _COMMANDS:
                self._take_command(item, kind)
            case item_type if item_type in _EDITS:
                self._take_edit(item, kind)
            case "collab_tool_call":
                self._ledger.call(text(item.get("id"))).kind = Kind.SUBAGENT
            case item_type if item_type in _QUIET:
                pass
            case _ if text(item.get("tool")):
                self._take_tool(item, kind)
            case _:
                self._unknown += 1

    def _take_command(self, item: Json, kind: str) -> None:
        call = self._ledger.call(text(item.get("id")))
        call.kind = Kind.SHELL
        exit_status = whole_number(item.get("exit_code"))
        call.exit = call.exit if exit_status is None else exit_status
        self._settle(call, item, kind)
        self._look_for_block(text(item.get("aggregated_output")))

    def _take_edit(self, item: Json, kind: str) -> None:
        call = self._ledger.call(text(item.get("id")))
        call.kind = Kind.EDIT
        # A patch that failed half-way may have changed the first of its files.
        self._settle(call, item, kind, failed=Fate.UNKNOWN)

    def _take_tool(self, item: Json, kind: str) -> None:
        call = self._ledger.call(text(item.get("id")))
        tool = team_tool_of(text(item.get("server")), text(item.get("tool")))
        if tool is not None:
            call.kind, call.tool = Kind.TEAM, tool
        self._settle(call, item, kind)

    def _settle(self, call: Call, item: Json, kind: str, *, failed: Fate = Fate.FAILED) -> None:
        """Failed beats completed (EV-4); no status and no end is neither."""
        status = text(item.get("status")).casefold()
        error, result = item.get("error"), obj(item.get("result"))
        has_failed = (
            kind == "item.failed"
            or any(word in status for word in _FAILED)
            or bool(error)
            or result.get("isError") is True
            or result.get("is_error") is True
            or (whole_number(item.get("exit_code")) or 0) != 0
        )
        why = reason(error, result.get("error"), words(result.get("content")))
        if status == _DECLINED:
            call.settle(Fate.REFUSED, why or "declined")
        elif has_failed:
            # Only codex' own error says that it never made the call; a server's answer can't.
            proves = never_left if error else is_unknown_to_server
            is_refused = proves(why, call.tool)
            call.settle(Fate.REFUSED if is_refused else failed, why)
        elif kind == "item.completed" or status in _COMPLETED:
            call.settle(Fate.DONE)

    def _outcome(self, exit_status: int | None) -> StreamOutcome:
        if self._failure is not None:
            return by_message(self._failure or self._last_error)
        if not self._is_completed:
            outcome = self._without_end(exit_status)
            is_told = outcome is StreamOutcome.ERROR and self._last_error
            return by_message(self._last_error) if is_told else outcome
        # It may be ended from outside once its turn is over; any other bad status is its own.
        is_good = not exit_status or is_stopped(exit_status)
        return StreamOutcome.OK if is_good else StreamOutcome.ERROR

    def _text(self, outcome: StreamOutcome) -> str:
        return self._answer if outcome is StreamOutcome.OK else self._last_words

    def _usage(self) -> Usage | None:
        used = self._used
        if used is None:
            return None
        return Usage(
            input_tokens=count(used.get("input_tokens")),
            output_tokens=count(used.get("output_tokens")),
            cached_input_tokens=count(used.get("cached_input_tokens")),
        )
