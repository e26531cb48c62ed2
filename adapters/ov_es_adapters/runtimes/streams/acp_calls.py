"""The tool calls of an ACP session: updates laid over each other by id, in three spellings.

A name is only taken where it stands as a name: in a field of its own, or as a whole title with
the server's prefix. Words inside a title or an input prove nothing.
Source: `agent-clis.md` section 7; ACP-109 to ACP-112; EV-3 to EV-7.
"""

from ov_es_adapters.runtimes.streams import claude, opencode
from ov_es_adapters.runtimes.streams.json_values import (
    Json,
    items,
    obj,
    reason,
    text,
    whole_number,
    words,
)
from ov_es_adapters.runtimes.streams.ledger import Call, Fate, Kind, Ledger
from ov_es_adapters.runtimes.streams.refusals import never_left
from ov_es_adapters.runtimes.streams.tool_names import (
    prefixed_team_tool,
    team_tool,
    team_tool_of,
)

_SHELL_NAMES = claude.SHELL_TOOLS | opencode.SHELL_TOOLS | {"exec_command"}
_SUBAGENT_NAMES = claude.SUBAGENT_TOOLS | opencode.SUBAGENT_TOOLS | {"spawn_agent"}
_EDIT_KINDS = frozenset({"edit", "delete", "move"})
_NEVER_RUN = "permission-rule"
_INVALID = frozenset({"invalid", "Invalid Tool"})
"""opencode's titles for a call that it couldn't make; its status is `completed` all the same."""


def take_call(ledger: Ledger, update: Json) -> None:
    """Lay one update over what is known of its call."""
    call = ledger.call(text(update.get("toolCallId")))
    meta = obj(update.get("_meta"))
    if text(update.get("title")) in _INVALID and call.kind is not Kind.SHELL:
        _take_invalid(call, update)
        return
    _classify(call, update, meta)
    output = update.get("rawOutput")
    details = obj(output)
    if call.kind is Kind.SHELL and (told := _exit(details, meta)) is not None:
        call.exit = told
    error = details.get("error")
    why = reason(error, obj(details.get("result")).get("error"), _said(update))
    match text(update.get("status")):
        case "completed" if not (error or obj(details.get("result")).get("isError") is True):
            call.settle(Fate.DONE)
            if call.exit is None and "claudeCode" in meta:
                call.exit = 0
        case "completed" | "failed":
            if call.exit is None:
                call.exit = claude.exit_told_in_words(why, is_error=True)
            is_refused = text(obj(meta.get("claudeCode")).get("nonExecutionKind")) == _NEVER_RUN
            is_refused |= never_left(why, call.tool)
            call.settle(Fate.REFUSED if is_refused else Fate.FAILED, why)
        case _:
            pass


def _take_invalid(call: Call, update: Json) -> None:
    given = obj(update.get("rawInput"))
    if tool := team_tool(text(given.get("tool"))):
        call.kind, call.tool = Kind.TEAM, tool
    call.settle(Fate.REFUSED, reason(given.get("error"), _said(update)))


def printed_by(update: Json) -> tuple[str, ...]:
    """Return what a command printed, as far as this update tells."""
    delta = obj(obj(update.get("_meta")).get("terminal_output_delta"))
    return (_said(update), text(delta.get("data")), words(update.get("content")))


def _said(update: Json) -> str:
    output = update.get("rawOutput")
    details = obj(output)
    return (
        words(output)
        or words(details.get("output"))
        or words(obj(details.get("result")).get("content"))
        or "\n".join(words(part) for part in items(update.get("content")))
    )


def _exit(details: Json, meta: Json) -> int | None:
    for told in (
        obj(meta.get("terminal_exit")).get("exit_code"),
        details.get("exit_code"),
        obj(details.get("metadata")).get("exit"),
    ):
        if (found := whole_number(told)) is not None:
            return found
    return None


def _classify(call: Call, update: Json, meta: Json) -> None:
    """Say what the call is; a later update may lack its name, and a first one its input."""
    given = obj(update.get("rawInput"))
    title = text(update.get("title"))
    server, tool = text(given.get("server")), text(given.get("tool"))
    is_mcp = meta.get("is_mcp_tool_call") is True or title == f"mcp.{server}.{tool}"
    if server and tool and is_mcp:
        name = team_tool_of(server, tool)
        call.kind, call.tool = (Kind.OTHER, "") if name is None else (Kind.TEAM, name)
        return
    if call.kind is not Kind.OTHER or meta.get("is_mcp_tool_call") is True:
        return
    kind = text(update.get("kind"))
    own_name = text(obj(meta.get("claudeCode")).get("toolName")) or text(update.get("name"))
    if found := team_tool(own_name) or prefixed_team_tool(title):
        call.kind, call.tool = Kind.TEAM, found
    elif own_name in _SUBAGENT_NAMES or title in _SUBAGENT_NAMES:
        call.kind = Kind.SUBAGENT
    elif own_name in _SHELL_NAMES or kind == "execute":
        call.kind = Kind.SHELL
    elif own_name in claude.EDIT_TOOLS or kind in _EDIT_KINDS:
        call.kind = Kind.EDIT
