"""Which tool of a program serves what the script wants."""

import pytest

from ov_es_adapters.scripted_model.answering import ChosenCall, Offer, OfferedTool, Search
from ov_es_adapters.scripted_model.chat_completions import CHAT_COMPLETIONS
from ov_es_adapters.scripted_model.messages import MESSAGES
from ov_es_adapters.scripted_model.responses import RESPONSES
from ov_es_adapters.scripted_model.script import (
    Edit,
    McpTool,
    NamedTool,
    Read,
    Shell,
    ToolUse,
    Write,
)
from ov_es_adapters.scripted_model.tool_choice import choose_calls, mcp_tool, needed_search

CLAUDE = Offer(
    tools=(
        OfferedTool(name="Bash", properties=frozenset({"command", "description"})),
        OfferedTool(name="Read"),
        OfferedTool(name="Write"),
        OfferedTool(name="Edit"),
    )
)
OPENCODE = Offer(tools=tuple(OfferedTool(name=name) for name in ("bash", "read", "write", "edit")))
CODEX = Offer(
    tools=(OfferedTool(name="exec_command"), OfferedTool(name="apply_patch", takes_text=True))
)
CODE_MODE = Offer(tools=(OfferedTool(name="exec", takes_text=True), OfferedTool(name="wait")))
GET = McpTool("get_ticket", {"ticket_id": 5})


@pytest.mark.parametrize(
    ("use", "name", "arguments"),
    [
        (Shell("ls"), "Bash", {"command": "ls", "description": "A command of the script"}),
        (Read("a"), "Read", {"file_path": "a"}),
        (Write("a", "b"), "Write", {"file_path": "a", "content": "b"}),
        (Edit("a", "b", "c"), "Edit", {"file_path": "a", "old_string": "b", "new_string": "c"}),
        (GET, "mcp__openvisio-team__get_ticket", {"ticket_id": 5}),
        (NamedTool("Task", {"prompt": "Go"}), "Task", {"prompt": "Go"}),
    ],
)
def test_claude_has_a_tool_for_each(use: ToolUse, name: str, arguments: object) -> None:
    calls = choose_calls((use,), CLAUDE, MESSAGES.spelling)

    assert calls == (ChosenCall(name=name, arguments=arguments),)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("use", "name", "arguments"),
    [
        (Shell("ls"), "bash", {"command": "ls"}),
        (Read("a"), "read", {"filePath": "a"}),
        (Write("a", "b"), "write", {"filePath": "a", "content": "b"}),
        (Edit("a", "b", "c"), "edit", {"filePath": "a", "oldString": "b", "newString": "c"}),
        (GET, "openvisio-team_get_ticket", {"ticket_id": 5}),
    ],
)
def test_opencode_has_a_tool_for_each(use: ToolUse, name: str, arguments: object) -> None:
    calls = choose_calls((use,), OPENCODE, CHAT_COMPLETIONS.spelling)

    assert calls == (ChosenCall(name=name, arguments=arguments),)  # type: ignore[arg-type]


def test_codex_reads_with_its_shell_and_writes_with_patches() -> None:
    uses = (Read("a b"), Write("a", "one\ntwo\n"), Edit("a", "one", ""))

    read, write, edit = choose_calls(uses, CODEX, RESPONSES.spelling)

    assert read.arguments == {"cmd": "cat -- 'a b'", "yield_time_ms": 10_000}
    assert write == ChosenCall(
        name="apply_patch",
        arguments="*** Begin Patch\n*** Add File: a\n+one\n+two\n*** End Patch",
    )
    assert edit.arguments == "*** Begin Patch\n*** Update File: a\n@@\n-one\n*** End Patch"


def test_a_patch_goes_through_the_shell_where_no_tool_takes_it() -> None:
    offer = Offer(tools=(OfferedTool(name="shell"),))

    (call,) = choose_calls((Write("a", "b"),), offer, RESPONSES.spelling)

    patch = "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch"
    command = f"apply_patch <<'END_OF_PATCH'\n{patch}\nEND_OF_PATCH"
    assert call.arguments == {"command": ["bash", "-lc", command]}


def test_code_mode_gets_one_script_for_all_calls() -> None:
    calls = choose_calls((Shell("ls"), GET, Write("a", "b")), CODE_MODE, RESPONSES.spelling)

    assert [call.name for call in calls] == ["exec"]
    lines = str(calls[0].arguments).splitlines()
    assert lines[1:4] == [
        '  tools.exec_command({"cmd":"ls","yield_time_ms":10000}),',
        '  tools.mcp__openvisio_team__get_ticket({"ticket_id":5}),',
        r'  tools.apply_patch("*** Begin Patch\n*** Add File: a\n+b\n*** End Patch"),',
    ]


@pytest.mark.parametrize(
    "tool",
    [
        OfferedTool(name="mcp__openvisio-team__get_ticket"),
        OfferedTool(name="openvisio-team_get_ticket"),
        OfferedTool(name="get_ticket", namespace="mcp__openvisio_team__"),
        OfferedTool(name="get_ticket", namespace="openvisio-team"),
    ],
)
def test_a_team_tool_is_found_however_its_name_is_joined(tool: OfferedTool) -> None:
    assert mcp_tool(Offer(tools=(tool,)), "get_ticket", "openvisio-team") is tool
    assert mcp_tool(Offer(tools=(tool,)), "get_ticket", "other") is None
    assert mcp_tool(Offer(tools=(tool,)), "ticket", "openvisio-team") is None


def test_hidden_tools_are_searched_for_once() -> None:
    hidden = Offer(tools=CODEX.tools, can_search=True)
    looked = Offer(tools=CODEX.tools, can_search=True, searched=frozenset({"get ticket"}))

    assert needed_search((Shell("ls"), GET), hidden) == Search(query="get ticket")
    assert needed_search((Shell("ls"), GET), looked) is None
    assert needed_search((Shell("ls"),), hidden) is None
    assert needed_search((GET,), CODEX) is None
