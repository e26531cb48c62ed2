"""`ov-es observe`: one document for scripts, a summary for people, one line for a wrong call."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ov_es_adapters.cli.observe import command
from ov_es_adapters.errors import BadInputError

FIELDS = {
    "outcome",
    "text",
    "conversation",
    "calls",
    "commands",
    "edits",
    "posts",
    "ticket_read",
    "ticket_updated",
    "usage",
    "unreadable_lines",
    "unknown_events",
}


def lines(*events: dict[str, Any]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def call(tool: str, status: str) -> dict[str, Any]:
    item = {"id": tool, "type": "mcp_tool_call", "server": "openvisio-team", "tool": tool}
    return {"type": "item.completed", "item": {**item, "status": status}}


def said(text: str) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"type": "agent_message", "text": text}}


STREAM = lines(
    {"type": "thread.started", "thread_id": "t1"},
    {"type": "turn.started"},
    call("get_ticket", "completed"),
    call("post_message", "failed"),
    {"type": "item.completed", "item": {"type": "command_execution", "exit_code": 3}},
    said("Done."),
    {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 3}},
)


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(command, arguments, input=given)


def test_json_is_one_document_with_the_fields_of_the_contract(tmp_path: Path) -> None:
    recorded = tmp_path / "run.jsonl"
    recorded.write_text(STREAM)

    result = run("codex", str(recorded), "--exit", "0", "--json")

    document = json.loads(result.stdout)
    assert result.exit_code == 0
    assert document.keys() == FIELDS
    assert document["calls"] == [
        {"tool": "get_ticket", "ok": True, "reason": ""},
        {"tool": "post_message", "ok": None, "reason": ""},
    ]
    assert (document["outcome"], document["posts"]) == ("ok", None)
    assert document["commands"] == [{"exit": 3}]
    assert document["usage"] == {
        "input_tokens": 7,
        "output_tokens": 3,
        "cached_input_tokens": 0,
        "cost_usd": None,
    }


def test_the_summary_says_unknown_where_nobody_knows() -> None:
    result = run("codex", "-", given=STREAM)

    assert result.exit_code == 0
    assert "posts" in result.stdout
    assert "post_message: unknown" in result.stdout
    assert "exit 3" in result.stdout


@pytest.mark.parametrize("exit_status", ["-15", "143"])
def test_a_signal_can_be_told_both_ways(exit_status: str) -> None:
    result = run("claude", "-", "--exit", exit_status, "--json", given="{}\n")

    assert json.loads(result.stdout)["outcome"] == "interrupted"


def test_an_agents_words_cannot_steer_the_terminal() -> None:
    given = lines(said("\x1b[2J\x1b]0;owned\x07 [bold]hello[/bold]"), {"type": "turn.completed"})

    result = run("codex", "-", given=given)

    assert "\x1b" not in result.stdout
    assert "[bold]hello[/bold]" in result.stdout


def test_str_01_long_lines_and_a_last_one_without_an_end_are_read(tmp_path: Path) -> None:
    recorded = tmp_path / "run.jsonl"
    long = "é" * 2_000_000
    recorded.write_text(lines(said(long), {"type": "turn.completed"}).rstrip("\n"))

    result = run("codex", str(recorded), "--json")

    assert json.loads(result.stdout)["text"] == long


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_a_bad_input(tmp_path: Path, name: str) -> None:
    result = run("claude", str(tmp_path / name))

    assert isinstance(result.exception, BadInputError)
    assert name.rstrip(".") in str(result.exception)


def test_a_program_that_nobody_reads_is_a_wrong_call() -> None:
    result = run("gemini", "-")

    assert result.exit_code == 2
    assert "claude" in result.stderr
