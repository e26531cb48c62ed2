"""claude's stream (`--output-format stream-json`): a turn is good only where its `result` says so.

Source: `agent-clis.md` section 4; EV-12; RN-14, RN-16; STR-05, STR-07, STR-18.
"""

import re

from ov_es_adapters.runtimes.streams.dialect import Dialect
from ov_es_adapters.runtimes.streams.endings import by_message
from ov_es_adapters.runtimes.streams.json_values import (
    Json,
    count,
    items,
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

_QUIET = frozenset(
    {
        "stream_event",
        "control_request",
        "control_response",
        "control_cancel_request",
        "keep_alive",
        "tool_progress",
        "tool_use_summary",
        "auth_status",
        "prompt_suggestion",
    }
)
"""Known types that prove nothing."""

SHELL_TOOLS = frozenset({"Bash", "PowerShell"})
EDIT_TOOLS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
SUBAGENT_TOOLS = frozenset({"Task", "Agent"})

_EXIT_CODE = re.compile(r"Exit code (\d{1,5})\b")
_SYNTHETIC = "<synthetic>"
_TOO_MANY_REQUESTS = 429
_BY_API_ERROR = {
    "rate_limit": StreamOutcome.QUOTA,
    "billing_error": StreamOutcome.QUOTA,
    "max_output_tokens": StreamOutcome.CUT_OFF,
}
_BY_SUBTYPE = {
    "error_max_turns": StreamOutcome.CUT_OFF,
    "error_max_budget_usd": StreamOutcome.CUT_OFF,
}
_BY_STOP_REASON = {"refusal": StreamOutcome.REFUSED, "max_tokens": StreamOutcome.CUT_OFF}


def exit_told_in_words(output: str, *, is_error: bool) -> int | None:
    r"""Return a command's exit status: a bad one is told in words, a good one by silence.

    >>> exit_told_in_words("Exit code 3\nboom", is_error=True)
    3
    """
    told = _EXIT_CODE.match(output)
    if is_error:
        return int(told[1]) if told else None
    return 0


class Parser(Dialect):
    """Reads one run of claude."""

    def __init__(self) -> None:
        super().__init__()
        self._result: Json | None = None
        self._message = ""
        self._pieces: list[str] = []
        """The texts of the message at hand: one message comes in several lines (STR-07)."""
        self._last_words = ""
        self._api_error = ""
        self._decisions: dict[str, str] = {}
        self._uses_inside: dict[str, int] = {}
        """How many calls the stream shows of each subagent."""

    @property
    def is_finished(self) -> bool:
        """Whether the turn's result has come, after which claude only idles."""
        return self._result is not None

    def _take(self, event: Json) -> None:
        match text(event.get("type")):
            case "system":
                self._take_system(event)
            case "assistant":
                self._take_assistant(event)
            case "user":
                self._take_user(event)
            case "result":
                self._take_result(event)
            case "rate_limit_event":
                if text(obj(event.get("rate_limit_info")).get("status")) == "rejected":
                    self._is_out_of_quota = True
            case kind:
                self._unknown += kind not in _QUIET

    def _take_system(self, event: Json) -> None:
        match text(event.get("subtype")):
            case "init":
                # A resumed conversation may go on under a new id; the newest is the one to keep.
                self._conversation = text(event.get("session_id")) or self._conversation
                self._begin_turn()
            case "permission_denied":
                self._refuse(event, event.get("message"))
            case "api_retry":
                self._is_out_of_quota = (
                    whole_number(event.get("error_status")) == _TOO_MANY_REQUESTS
                )
            case _:
                pass

    def _begin_turn(self) -> None:
        self._result = None
        self._api_error = ""
        self._close_message()

    def _take_assistant(self, event: Json) -> None:
        message = obj(event.get("message"))
        parent = text(event.get("parent_tool_use_id"))
        is_made_up = text(message.get("model")) == _SYNTHETIC or event.get("error") is not None
        if not parent:
            self._result = None
            self._api_error = text(event.get("error"))
            if not is_made_up:
                self._is_out_of_quota = False
                self._conversation = self._conversation or text(event.get("session_id")) or None
                self._go_to_message(text(message.get("id")))
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in map(obj, items(blocks)):
            match text(block.get("type")):
                case "text" if not parent and not is_made_up:
                    self._pieces.append(text(block.get("text")))
                case "tool_use":
                    self._take_use(block, parent)
                case _:
                    pass

    def _go_to_message(self, message: str) -> None:
        if not message or message != self._message:
            self._close_message()
            self._message = message

    def _close_message(self) -> None:
        """Remember what was said; what follows isn't its continuation."""
        self._last_words = "".join(self._pieces) or self._last_words
        self._pieces = []
        self._message = ""

    def _take_use(self, block: Json, parent: str) -> None:
        if parent:
            self._ledger.call(parent).is_watched = True
            self._uses_inside[parent] = self._uses_inside.get(parent, 0) + 1
        else:
            # What was said before a call was about the work, and isn't the answer (STR-17).
            self._last_words = "".join(self._pieces) or self._last_words
            self._pieces = []
        call = self._ledger.call(text(block.get("id")))
        name = text(block.get("name"))
        if tool := team_tool(name):
            call.kind, call.tool = Kind.TEAM, tool
        elif name in SHELL_TOOLS:
            call.kind = Kind.SHELL
        elif name in EDIT_TOOLS:
            call.kind = Kind.EDIT
        elif name in SUBAGENT_TOOLS:
            call.kind = Kind.SUBAGENT
            if obj(block.get("input")).get("run_in_background") is True:
                self._ledger.has_hidden_calls = True
        else:
            call.kind = Kind.OTHER

    def _take_user(self, event: Json) -> None:
        if not text(event.get("parent_tool_use_id")):
            self._close_message()
        for meta in map(obj, items(event.get("tool_result_meta"))):
            decision = text(obj(meta.get("permission_decision")).get("decision"))
            self._decisions[text(meta.get("id"))] = decision
        for block in map(obj, items(obj(event.get("message")).get("content"))):
            if text(block.get("type")) == "tool_result":
                self._take_tool_result(block, obj(event.get("tool_use_result")))

    def _take_tool_result(self, block: Json, details: Json) -> None:
        key = text(block.get("tool_use_id"))
        call = self._ledger.call(key)
        output = words(block.get("content"))
        is_error = block.get("is_error") is True
        if call.kind in {Kind.SHELL, Kind.OTHER} and not call.tool:
            self._take_command(call, output, details, is_error=is_error)
        if call.kind is Kind.SUBAGENT:
            self._take_subagent(call, self._uses_inside.get(key, 0), details)
        if not is_error:
            call.settle(Fate.DONE)
            return
        match self._decisions.get(key):
            case "reject":
                is_refused = True
            case "accept":
                is_refused = False
            case _:
                is_refused = never_left(output, call.tool)
        call.settle(Fate.REFUSED if is_refused else Fate.FAILED, reason(output))

    def _take_subagent(self, call: Call, shown: int, details: Json) -> None:
        """Compare a subagent's own count of its calls with what the stream shows of them."""
        told = whole_number(details.get("totalToolUseCount"))
        if told == 0:
            call.is_watched = True
        is_elsewhere = text(details.get("status")) == "async_launched"
        self._ledger.has_hidden_calls |= is_elsewhere or (told or 0) > shown

    def _take_command(self, call: Call, output: str, details: Json, *, is_error: bool) -> None:
        """Read the result of a command, or of a call whose use comes later in the stream."""
        is_plain = not (
            details.get("interrupted") is True
            or details.get("backgroundTaskId")
            or details.get("returnCodeInterpretation")
        )
        call.exit = exit_told_in_words(output, is_error=is_error) if is_plain else None
        if call.kind is Kind.SHELL:
            self._look_for_block(output)
            self._look_for_block(text(details.get("stdout")))
            self._look_for_block(text(details.get("stderr")))

    def _refuse(self, event: Json, why: object = None) -> None:
        # Where the call's own result has told why, that stays.
        if key := text(event.get("tool_use_id")):
            call = self._ledger.call(key)
            if call.fate is not Fate.DONE:
                call.fate = Fate.REFUSED
                call.reason = call.reason or reason(why) or "not permitted"

    def _take_result(self, event: Json) -> None:
        if text(event.get("parent_tool_use_id")):
            return
        self._result = event
        for denial in map(obj, items(event.get("permission_denials"))):
            self._refuse(denial)
        started = count(obj(event.get("subagent_stats")).get("started_in_background"))
        self._ledger.has_hidden_calls |= started > 0

    def _outcome(self, exit_status: int | None) -> StreamOutcome:
        result = self._result
        if result is None:
            return self._without_end(exit_status)
        is_good = result.get("is_error") in (False, None)
        is_good = is_good and text(result.get("subtype")) in {"success", ""}
        stopped = _BY_STOP_REASON.get(text(result.get("stop_reason")))
        return stopped or (StreamOutcome.OK if is_good else self._why(result))

    def _why(self, result: Json) -> StreamOutcome:
        """Return the class of a result that isn't a success."""
        if text(result.get("terminal_reason")).startswith("aborted"):
            return StreamOutcome.INTERRUPTED
        subtype = text(result.get("subtype"))
        if known := _BY_SUBTYPE.get(subtype) or _BY_API_ERROR.get(self._api_error):
            return known
        if self._is_out_of_quota:
            return StreamOutcome.QUOTA
        said = reason(result.get("result"), *items(result.get("errors")))
        return by_message(said, whole_number(result.get("api_error_status")))

    def _text(self, outcome: StreamOutcome) -> str:
        said = "".join(self._pieces)
        told = text(obj(self._result).get("result"))
        if outcome is StreamOutcome.OK:
            # The result repeats the last words, but not always all of them.
            return said if told in said else told
        # A failure's own text is told as the result, and sometimes as words of the agent, too.
        said = said or self._last_words
        return "" if said == told else said

    def _usage(self) -> Usage | None:
        result = obj(self._result)
        cost = money(result.get("total_cost_usd"))
        models = [obj(used) for used in obj(result.get("modelUsage")).values()]
        if models:
            return Usage(
                input_tokens=sum(count(used.get("inputTokens")) for used in models),
                output_tokens=sum(count(used.get("outputTokens")) for used in models),
                cached_input_tokens=sum(
                    count(used.get("cacheReadInputTokens")) for used in models
                ),
                cost_usd=cost,
            )
        used = obj(result.get("usage"))
        if not used:
            return None
        return Usage(
            input_tokens=count(used.get("input_tokens")),
            output_tokens=count(used.get("output_tokens")),
            cached_input_tokens=count(used.get("cache_read_input_tokens")),
            cost_usd=cost,
        )
