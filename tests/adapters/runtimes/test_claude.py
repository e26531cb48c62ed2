"""Claude Code's command line, and whole runs of a program that stands in for it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.runtimes.stand_in import stand_in
from tests.adapters.runtimes.test_scripted import request

from ov_es_adapters.runtimes.claude import ClaudeRuntime, arguments, prompt_line
from ov_es_adapters.runtimes.installed_program import InstalledProgram
from ov_es_domain.observation import RunEnding, StreamOutcome

SERVER = ("/usr/bin/python3", "-I", "/pump.py", "/gates/a.sock")
ENDS = [
    {"type": "system", "subtype": "init", "session_id": "s1"},
    {"type": "result", "subtype": "success", "is_error": False, "result": "Done."}
    | {"session_id": "s1", "terminal_reason": "completed"},
]


def _options(line: list[str]) -> dict[str, str]:
    return {line[n]: line[n + 1] for n in range(len(line) - 1) if line[n].startswith("--")}


def test_rn_12_a_run_that_codes_has_a_list_of_tools_and_our_server_alone(tmp_path: Path) -> None:
    asked = replace(request("m", directory=tmp_path), team_server=SERVER, model="large")

    line = arguments(asked)
    options = _options(line)

    assert line[:2] == ["-p", "--input-format"]
    assert options["--input-format"] == options["--output-format"] == "stream-json"
    assert "--strict-mcp-config" in line
    assert json.loads(options["--mcp-config"]) == {
        "mcpServers": {
            "openvisio-team": {"type": "stdio", "command": SERVER[0], "args": list(SERVER[1:])}
        }
    }
    allowed = options["--allowedTools"].split(",")
    assert {"Bash", "Edit", "mcp__openvisio-team"} <= set(allowed)
    forbidden = options["--disallowedTools"].split(",")
    assert {"Task", "WebFetch", "mcp__openvisio-team__post_message"} <= set(forbidden)
    assert not set(allowed) & set(forbidden)
    assert (options["--model"], options["--append-system-prompt"]) == ("large", "You are Ada.")


@pytest.mark.parametrize("lane", ["reply", "work"])
def test_rn_4_a_run_without_a_workspace_has_the_teams_tools_alone(lane: str) -> None:
    options = _options(arguments(replace(request("m"), team_server=SERVER, lane=lane)))

    assert options["--allowedTools"] == "mcp__openvisio-team"
    assert {"Bash", "Read", "Edit", "Task"} <= set(options["--disallowedTools"].split(","))


def test_rn_4_a_reply_has_no_more_where_a_directory_is_named(tmp_path: Path) -> None:
    options = _options(arguments(replace(request("m", directory=tmp_path), lane="reply")))

    assert options["--allowedTools"] == ""
    assert "Bash" in options["--disallowedTools"].split(",")


def test_rn_11_without_a_server_there_is_none_and_no_other_either() -> None:
    line = arguments(request("m"))

    assert json.loads(_options(line)["--mcp-config"]) == {"mcpServers": {}}
    assert "--strict-mcp-config" in line
    assert "--model" not in line
    assert "--resume" not in line


def test_a_conversation_is_gone_on_with_by_its_id() -> None:
    assert _options(arguments(replace(request("m"), conversation="s1")))["--resume"] == "s1"


@pytest.mark.parametrize(
    "words", ["--help", "-p x\n\n{}", "\u2028\x00\x1b[2J", '"}\n{"type": "x"']
)
def test_whatever_a_prompt_says_it_is_one_line_of_data(words: str) -> None:
    line = prompt_line(words)

    assert line.count(b"\n") == 1
    read: dict[str, Any] = json.loads(line)
    assert read["message"]["content"] == [{"type": "text", "text": words}]
    assert words not in arguments(replace(request("m"), prompt=words))


async def test_sec_101_a_run_gets_its_prompt_by_stdin_and_no_setting_of_ours(
    tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OV_ES_API_KEY", "k-of-the-daemon")
    program, told = stand_in(tmp_path, "claude", ENDS)
    runtime = ClaudeRuntime(program, state_folder=tmp_path)

    report = await (await runtime.start(request(marker, directory=tmp_path))).wait()

    found = told()
    assert (report.ending, report.stream.outcome) == (RunEnding.EXITED, StreamOutcome.OK)
    assert (report.stream.text, report.stream.conversation) == ("Done.", "s1")
    assert json.loads(found.stdin)["message"]["content"][0]["text"] == "Fix it."
    assert "Fix it." not in found.argv
    assert found.directory == str(tmp_path)
    assert found.environment["OV_ES_RUN"] == marker
    assert found.environment["DISABLE_AUTOUPDATER"] == "1"
    assert "k-of-the-daemon" not in repr(found)


async def test_rn_8_without_the_program_the_report_says_what_to_do(
    tmp_path: Path, marker: str
) -> None:
    nowhere = {"PATH": str(tmp_path)}
    program = InstalledProgram(name="claude", title="Claude Code", environment=nowhere)
    runtime = ClaudeRuntime(program, state_folder=tmp_path)

    report = await (await runtime.start(request(marker))).wait()

    assert report.ending is RunEnding.NOT_STARTED
    assert "install Claude Code" in report.error
