"""Which of the offered tools serves a tool use, and with which arguments."""

import re
import shlex
from collections.abc import Mapping

from ov_es_adapters.scripted_model.answering import (
    ChosenCall,
    Json,
    Offer,
    OfferedTool,
    Search,
    Spelling,
)
from ov_es_adapters.scripted_model.code_mode import one_script, script_tool
from ov_es_adapters.scripted_model.patches import file_patch, piece_patch
from ov_es_adapters.scripted_model.script import (
    Edit,
    McpTool,
    NamedTool,
    Read,
    Shell,
    ToolUse,
    Write,
)

YIELD_MILLISECONDS = 10_000
"""How long codex waits for a command before it lets it run beside the conversation."""
_SHELLS = ("exec_command", "shell_command", "shell", "local_shell", "Bash", "bash")
_IN_SCRIPTS = Offer(
    tools=(OfferedTool(name="exec_command"), OfferedTool(name="apply_patch", takes_text=True))
)
"""What a JavaScript tool has inside; the request says so in prose alone."""
_NO_WORD = re.compile(r"[\W_]+")


def choose_calls(
    uses: tuple[ToolUse, ...], offer: Offer, spelling: Spelling
) -> tuple[ChosenCall, ...]:
    """Return the calls of one answer; where there's but a JavaScript tool, one script of all."""
    tool = script_tool(offer, shells=_SHELLS)
    if tool is None or any(isinstance(use, NamedTool) for use in uses):
        return tuple(choose_call(use, offer, spelling) for use in uses)
    calls = tuple(choose_call(use, _IN_SCRIPTS, spelling) for use in uses)
    return (ChosenCall(name=tool.name, namespace=tool.namespace, arguments=one_script(calls)),)


def choose_call(use: ToolUse, offer: Offer, spelling: Spelling) -> ChosenCall:
    """Return the call that serves a tool use.

    >>> spelling = Spelling(of_shell="bash", of_mcp="{}_{}".format)
    >>> choose_call(Shell("ls"), Offer(tools=(OfferedTool(name="Bash"),)), spelling)
    ChosenCall(name='Bash', arguments={'command': 'ls'}, namespace=None)
    """
    match use:
        case NamedTool(name, arguments):
            return _call(_first(offer, name) or OfferedTool(name=name), arguments)
        case McpTool(name, arguments, server):
            found = mcp_tool(offer, name, server)
            return _call(found or OfferedTool(name=spelling.of_mcp(server, name)), arguments)
        case Shell(command):
            return _shell(command, offer, spelling)
        case Read(path):
            return _read(path, offer, spelling)
        case Write(path, content):
            return _write(path, content, offer, spelling)
        case Edit():
            return _edit(use, offer, spelling)


def needed_search(uses: tuple[ToolUse, ...], offer: Offer) -> Search | None:
    """Return the search for the first MCP tool that isn't offered but may be hidden.

    Each is searched for once: what a search doesn't bring isn't there.
    """
    if not offer.can_search or script_tool(offer, shells=_SHELLS) is not None:
        return None
    for use in uses:
        if isinstance(use, McpTool) and mcp_tool(offer, use.name, use.server) is None:
            query = use.name.replace("_", " ")
            if query not in offer.searched:
                return Search(query=query)
    return None


def mcp_tool(offer: Offer, name: str, server: str) -> OfferedTool | None:
    """Return an MCP tool, however the program joins the names of server and tool.

    >>> tools = (OfferedTool(name="mcp__openvisio-team__get_ticket"),)
    >>> mcp_tool(Offer(tools=tools), "get_ticket", "openvisio-team").name
    'mcp__openvisio-team__get_ticket'
    """
    wanted = _bare(server + name)
    known = (wanted, "mcp" + wanted)
    return next(
        (tool for tool in offer.tools if _bare((tool.namespace or "") + tool.name) in known), None
    )


def _bare(name: str) -> str:
    return _NO_WORD.sub("", name).lower()


def _first(offer: Offer, *names: str) -> OfferedTool | None:
    """Return the tool of the first name that is offered; none of them is an MCP tool."""
    tools = {tool.name: tool for tool in reversed(offer.tools) if tool.namespace is None}
    return next((tools[name] for name in names if name in tools), None)


def _call(tool: OfferedTool, arguments: Json | str) -> ChosenCall:
    return ChosenCall(name=tool.name, namespace=tool.namespace, arguments=arguments)


def _shell(command: str, offer: Offer, spelling: Spelling) -> ChosenCall:
    tool = _first(offer, *_SHELLS) or OfferedTool(name=spelling.of_shell)
    arguments: dict[str, object] = {"command": command}
    if tool.name == "exec_command":
        arguments = {"cmd": command, "yield_time_ms": YIELD_MILLISECONDS}
    elif tool.name in {"shell", "local_shell"}:
        arguments = {"command": ["bash", "-lc", command]}
    elif "description" in tool.properties:
        arguments["description"] = "A command of the script"
    return _call(tool, arguments)


def _read(path: str, offer: Offer, spelling: Spelling) -> ChosenCall:
    if tool := _first(offer, *_PATH_FIELDS["Read"]):
        return _call(tool, {_PATH_FIELDS["Read"][tool.name]: path})
    return _shell(f"cat -- {shlex.quote(path)}", offer, spelling)


def _write(path: str, content: str, offer: Offer, spelling: Spelling) -> ChosenCall:
    if tool := _first(offer, *_PATH_FIELDS["Write"]):
        return _call(tool, {_PATH_FIELDS["Write"][tool.name]: path, "content": content})
    return _patch(file_patch(path, content), offer, spelling)


def _edit(use: Edit, offer: Offer, spelling: Spelling) -> ChosenCall:
    match tool := _first(offer, "Edit", "edit"):
        case OfferedTool(name="Edit"):
            arguments = {"file_path": use.path, "old_string": use.old, "new_string": use.new}
            return _call(tool, arguments)
        case OfferedTool():
            arguments = {"filePath": use.path, "oldString": use.old, "newString": use.new}
            return _call(tool, arguments)
        case None:
            return _patch(piece_patch(use.path, use.old, use.new), offer, spelling)


def _patch(patch: str, offer: Offer, spelling: Spelling) -> ChosenCall:
    """Apply a patch with the tool for it, or with codex's command of the same name."""
    tool = _first(offer, "apply_patch")
    if tool is None:
        return _shell(f"apply_patch <<'END_OF_PATCH'\n{patch}\nEND_OF_PATCH", offer, spelling)
    if tool.takes_text:
        return _call(tool, patch)
    field = next((name for name in _PATCH_FIELDS if name in tool.properties), "input")
    return _call(tool, {field: patch})


_PATCH_FIELDS = ("patchText", "input", "patch")
_PATH_FIELDS: Mapping[str, Mapping[str, str]] = {
    "Read": {"Read": "file_path", "read": "filePath"},
    "Write": {"Write": "file_path", "write": "filePath"},
}
"""The tools for whole files, and what each calls the path: claude's first, then opencode's."""
