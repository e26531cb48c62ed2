"""A session of the Agent Client Protocol: recorded frames of both sides, or an agent's stdout.

Frames are `{"t_ms", "dir": "in"|"out", "msg"}`, `in` being what the agent said. Only what follows
the prompt is this run's: loading a session plays its old messages and calls again (ACP-03).
Source: `agent-clis.md` section 7; ACP-108 to ACP-116; ACP-01.
"""

from ov_es_adapters.runtimes.streams.acp_calls import printed_by, take_call
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
    words,
)
from ov_es_adapters.runtimes.streams.ledger import Fate, Kind, Ledger
from ov_es_domain.observation import StreamOutcome, Usage

_FROM_CLIENT = frozenset(
    {
        "initialize",
        "authenticate",
        "session/new",
        "session/load",
        "session/resume",
        "session/fork",
        "session/list",
        "session/close",
        "session/prompt",
        "session/cancel",
        "session/set_mode",
        "session/set_model",
        "session/set_config_option",
    }
)
_FROM_AGENT = frozenset(
    {
        "session/update",
        "session/request_permission",
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/output",
        "terminal/wait_for_exit",
        "terminal/kill",
        "terminal/release",
    }
)
_QUIET_UPDATES = frozenset(
    {
        "agent_thought_chunk",
        "user_message_chunk",
        "plan",
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
    }
)
_BY_STOP_REASON = {
    "end_turn": StreamOutcome.OK,
    "cancelled": StreamOutcome.INTERRUPTED,
    "refusal": StreamOutcome.REFUSED,
    "max_tokens": StreamOutcome.CUT_OFF,
    "max_turn_requests": StreamOutcome.CUT_OFF,
}
_BY_ERROR_KIND = {
    "max_output_tokens": StreamOutcome.CUT_OFF,
    "rate_limit": StreamOutcome.QUOTA,
    "billing_error": StreamOutcome.QUOTA,
}
_WARNING = "config warning:"


def _key(identifier: object) -> str:
    """Return a request's id as text; 1 and "1" are two ids."""
    return repr(identifier) if isinstance(identifier, int | str) else ""


class Parser(Dialect):
    """Reads one run over ACP."""

    def __init__(self) -> None:
        super().__init__()
        self._has_both_sides = False
        self._is_codex = False
        self._is_prompted = False
        self._prompt = ""
        self._openings: set[str] = set()
        """Requests that open a session: its id comes with their answers."""
        self._asked: dict[str, tuple[str, dict[str, str]]] = {}
        """Open permission requests: the call, and the kinds of the options."""
        self._replayed: set[str] = set()
        self.replayed_chunks = 0
        """Pieces of old messages that a loaded session played again."""
        self._begin_run()

    def _begin_run(self) -> None:
        """Forget what was seen so far: it was there before the prompt."""
        self._ledger = Ledger()
        self._block = None
        self._answer: Json | None = None
        self._failure: Json | None = None
        self._is_cancelled = False
        self._message = ""
        self._has_message_ids = False
        self._pieces: list[str] = []
        self._last_words = ""
        self._notice = ""
        """What the agent program said in its own name, if nothing of the agent came later."""
        self._cost: float | None = None

    def _take(self, event: Json) -> None:
        if "msg" in event:
            self._has_both_sides = True
            message, is_ours = obj(event["msg"]), text(event.get("dir")) == "out"
        else:
            message, is_ours = event, text(event.get("method")) in _FROM_CLIENT
        method = text(message.get("method"))
        if not method and not ("result" in message or "error" in message):
            self._unknown += 1
        elif is_ours:
            self._take_ours(message, method)
        elif method:
            self._take_request(message, method)
        else:
            self._take_answer(message)

    def _take_ours(self, message: Json, method: str) -> None:
        params = obj(message.get("params"))
        match method:
            case "session/prompt":
                if not self._is_prompted:
                    self._begin_run()
                self._is_prompted = True
                self._prompt = _key(message.get("id"))
                self._conversation = text(params.get("sessionId")) or self._conversation
                self._answer = self._failure = None
                self._is_cancelled = False
                self._close_message()
            case "session/cancel":
                self._is_cancelled = True
            case "session/new" | "session/load" | "session/resume" | "session/fork":
                self._openings.add(_key(message.get("id")))
            case "":
                self._take_permission(message)
            case _:
                self._unknown += method not in _FROM_CLIENT and not method.startswith("_")

    def _take_permission(self, message: Json) -> None:
        """Read our answer to a permission request; one that isn't a yes keeps the call from us."""
        call_id, kinds = self._asked.pop(_key(message.get("id")), ("", {}))
        outcome = obj(obj(message.get("result")).get("outcome"))
        chosen = kinds.get(text(outcome.get("optionId")), "")
        is_no = text(outcome.get("outcome")) == "cancelled" or chosen.startswith("reject")
        if call_id and is_no:
            self._ledger.call(call_id).settle(Fate.REFUSED, "the permission was refused")

    def _take_request(self, message: Json, method: str) -> None:
        params = obj(message.get("params"))
        match method:
            case "session/update":
                self._take_update(text(params.get("sessionId")), obj(params.get("update")))
            case "session/request_permission":
                call_id = text(obj(params.get("toolCall")).get("toolCallId"))
                options = map(obj, items(params.get("options")))
                kinds = {text(each.get("optionId")): text(each.get("kind")) for each in options}
                self._asked[_key(message.get("id"))] = (call_id, kinds)
            case _:
                self._unknown += method not in _FROM_AGENT and not method.startswith("_")

    def _take_answer(self, message: Json) -> None:
        result, key = obj(message.get("result")), _key(message.get("id"))
        self._is_codex |= "codex" in text(obj(result.get("agentInfo")).get("name"))
        is_prompts = key == self._prompt and self._is_prompted
        if not self._has_both_sides and not self._is_prompted:
            # Of the agent's side alone, only the prompt's answer tells itself by its content.
            is_prompts = "stopReason" in result or "error" in message
        if is_prompts:
            if "error" in message:
                self._failure = obj(message["error"])
            else:
                self._answer = result
            return
        if key in self._openings or not self._has_both_sides:
            self._conversation = text(result.get("sessionId")) or self._conversation
        if "error" in message:
            if key in self._openings:
                self._failure = obj(message["error"])
        elif not self._has_both_sides and self._answer is None:
            self._begin_run()

    def _take_update(self, session: str, update: Json) -> None:
        kind = text(update.get("sessionUpdate"))
        call_id = text(update.get("toolCallId"))
        if self._has_both_sides and not self._is_prompted:
            self.replayed_chunks += kind == "agent_message_chunk"
            self._replayed |= {call_id} - {""}
            return
        if call_id and call_id in self._replayed:
            return
        if session and self._conversation and session != self._conversation:
            # Somebody else's session, likely a subagent's: whether we see all of it isn't known.
            self._ledger.has_hidden_calls |= bool(call_id)
            return
        self._conversation = self._conversation or session or None
        match kind:
            case "agent_message_chunk":
                self._take_chunk(update)
            case "tool_call" | "tool_call_update":
                self._take_call(update, call_id)
            case "usage_update":
                cost = obj(update.get("cost"))
                if text(cost.get("currency")) == "USD":
                    self._cost = money(cost.get("amount"))
            case _:
                self._unknown += kind not in _QUIET_UPDATES

    def _take_call(self, update: Json, call_id: str) -> None:
        is_new = self._ledger.find(call_id) is None
        take_call(self._ledger, update)
        if is_new:
            # What was said before a call was about the work, and isn't the answer (STR-17).
            self._close_message()
        call = self._ledger.find(call_id)
        if call is not None and call.kind is Kind.SHELL:
            for output in printed_by(update):
                self._look_for_block(output)

    def _take_chunk(self, update: Json) -> None:
        said = words(update.get("content"))
        message = text(update.get("messageId"))
        if obj(obj(update.get("_meta")).get("claudeCode")).get("kind") is not None:
            return  # a state of the program, not words of the agent
        if not message and (self._is_codex or self._has_message_ids):
            self._take_notice(said)
            return
        self._has_message_ids |= bool(message)
        if message != self._message:
            self._close_message()
            self._message = message
        self._pieces.append(said)
        self._notice = ""

    def _take_notice(self, said: str) -> None:
        """Keep what codex' agent says in its own name: the only sign of a turn that failed."""
        if not said.casefold().startswith(_WARNING):
            self._notice = said.strip() or self._notice

    def _close_message(self) -> None:
        self._last_words = "".join(self._pieces) or self._last_words
        self._pieces = []
        self._message = ""
        self._notice = ""

    def _outcome(self, exit_status: int | None) -> StreamOutcome:
        if self._failure is not None:
            kind = text(obj(self._failure.get("data")).get("errorKind"))
            return _BY_ERROR_KIND.get(kind) or by_message(reason(self._failure))
        if self._answer is None:
            return (
                StreamOutcome.INTERRUPTED if self._is_cancelled else self._without_end(exit_status)
            )
        outcome = _BY_STOP_REASON.get(text(self._answer.get("stopReason")), StreamOutcome.UNKNOWN)
        if outcome is StreamOutcome.OK and self._notice:
            return by_message(self._notice)
        return outcome

    def _text(self, outcome: StreamOutcome) -> str:
        if self._failure is not None:
            return ""  # claude's agent says the error as if it were its answer
        said = "".join(self._pieces).rstrip()
        return said if outcome is StreamOutcome.OK else said or self._last_words.rstrip()

    def _usage(self) -> Usage | None:
        used = obj(obj(self._answer).get("usage"))
        if not used:
            return None
        return Usage(
            input_tokens=count(used.get("inputTokens")),
            output_tokens=count(used.get("outputTokens")),
            cached_input_tokens=count(used.get("cachedReadTokens")),
            cost_usd=self._cost,
        )
