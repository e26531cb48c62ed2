"""The scripted agent as a real process: real files, commands, commits and calls."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ov_es_adapters.runtimes.playbook import parse_run
from ov_es_adapters.runtimes.scripted_agent import Orders

ROOTS = os.pathsep.join(
    str(Path(__file__).parents[3] / room) for room in ("domain", "projections", "adapters")
)
MODULE = "ov_es_adapters.runtimes.scripted_agent"


async def act(
    does: list[dict[str, object]],
    directory: Path,
    *,
    environment: Mapping[str, str] | None = None,
    disabled: frozenset[str] = frozenset(),
    server: tuple[str, ...] = (),
    **fields: object,
) -> tuple[list[dict[str, Any]], int, bytes]:
    """Let a process carry out a run; return its events, exit status and stderr."""
    run = parse_run({"source": "ticket:1:5", "does": does, **fields}, "run")
    orders = Orders(run=run, session="s1", disabled_tools=disabled, team_server=server)
    return await carry_out(orders.to_bytes(), directory, environment or {})


async def carry_out(
    orders: bytes, directory: Path, environment: Mapping[str, str]
) -> tuple[list[dict[str, Any]], int, bytes]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", MODULE),
        cwd=directory,
        env={**os.environ, "PYTHONPATH": ROOTS, "OV_ES_SCRIPT_SPEED": "1000", **environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complained = await process.communicate(orders)
    assert process.returncode is not None
    events = [json.loads(line) for line in printed.splitlines() if line.startswith(b"{")]
    return events, process.returncode, complained


def results(events: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """Return content and failure of every tool result."""
    blocks = [event["message"]["content"][0] for event in events if event["type"] == "user"]
    return [(block["content"], block["is_error"]) for block in blocks]


TEAM_SERVER = (sys.executable, str(Path(__file__).with_name("serving_child.py")))
"""Starts an MCP server of one tool on stdio."""


async def test_words_edits_and_commands_are_real(tmp_path: Path) -> None:
    does: list[dict[str, object]] = [
        {"text": "Looking."},
        {"edit": "src/login.py"},
        {"shell": "cat src/login.py"},
        {"shell": "echo no; exit 3"},
        {"shell": "exit 1", "exit": 0},
        {"text": "Done."},
    ]

    events, status, _ = await act(does, tmp_path)

    assert (tmp_path / "src" / "login.py").read_text() == "changed\n"
    assert results(events)[1:] == [("changed\n", False), ("Exit code 3\nno\n", True), ("", False)]
    assert events[0]["type"] == "system"
    assert (events[-1]["type"], events[-1]["result"]) == ("result", "Done.")
    assert not events[-1]["is_error"]
    assert status == 0


async def test_commits_are_real(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)  # noqa: ASYNC221 - brief

    events, _, _ = await act([{"edit": "a.txt"}, {"commit": "Fix it"}], tmp_path)

    log = subprocess.run(  # noqa: ASYNC221 - brief
        ["git", "-C", str(tmp_path), "log", "--format=%s"], check=True, stdout=subprocess.PIPE
    )
    assert log.stdout == b"Fix it\n"
    assert [failed for _, failed in results(events)] == [False, False]


async def test_an_edit_that_fails_is_a_failed_tool(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()

    events, status, _ = await act([{"edit": "a"}], tmp_path)

    assert results(events) == [("Error: Is a directory", True)]
    assert status == 0


async def test_without_a_server_a_team_tool_fails_and_the_run_goes_on(tmp_path: Path) -> None:
    events, _, _ = await act([{"tool": "get_ticket"}, {"text": "Sorry."}], tmp_path)

    [(reason, failed)] = results(events)
    assert failed
    assert "was given no server" in reason
    assert events[-1]["result"] == "Sorry."


async def test_team_tools_are_called_over_mcp(tmp_path: Path) -> None:
    does: list[dict[str, object]] = [
        {"tool": "get_ticket"},
        {"tool": "get_ticket", "args": {"ticket_id": 6}},
        {"tool": "post_message", "args": {"content": "Hi"}},
        {"tool": "get_ticket", "error": True},
    ]

    events, status, complained = await act(
        does, tmp_path, disabled=frozenset({"post_message"}), server=TEAM_SERVER
    )

    answers = results(events)
    assert answers[0] == ('{"id": 5}', False)
    assert [failed for _, failed in answers] == [False, True, True, True]
    assert "it is disabled for this run" in answers[2][0]
    assert (status, complained) == (0, b"")


@pytest.mark.parametrize("server", [("no-such-program",), (sys.executable, "-c", "")])
async def test_a_server_that_cannot_be_started_is_a_failed_tool(
    tmp_path: Path, server: tuple[str, ...]
) -> None:
    events, status, _ = await act([{"tool": "get_ticket"}], tmp_path, server=server)

    [(reason, failed)] = results(events)
    assert (failed, status) == (True, 0)
    assert reason


async def test_raw_lines_are_as_they_are_and_a_flood_is_one_line(tmp_path: Path) -> None:
    final = '{"type": "result", "is_error": true}'

    events, status, _ = await act(
        [{"raw": "no json"}, {"flood": 2}, {"raw": final}], tmp_path, exit=4
    )

    assert len(events[1]["content"]) == 2 * 1024 * 1024
    assert [event["type"] for event in events] == ["system", "system", "result"]
    assert events[-1] == json.loads(final)
    assert status == 4


async def test_a_run_that_exits_badly_says_so_in_its_stream(tmp_path: Path) -> None:
    events, status, _ = await act([{"text": "Oh."}], tmp_path, exit=1)

    assert (events[-1]["type"], events[-1]["is_error"], status) == ("result", True, 1)


async def test_a_recording_is_played_byte_for_byte(tmp_path: Path) -> None:
    recording = tmp_path / "one.jsonl"
    recording.write_bytes('{"type": "x", "t": "é\u2028"}\n{"half'.encode())
    run = parse_run({"source": "s", "plays": str(recording), "exit": 9}, "run")

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", MODULE),
        env={**os.environ, "PYTHONPATH": ROOTS},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate(Orders(run=run, session="s1").to_bytes())

    assert printed == recording.read_bytes()
    assert process.returncode == 9


@pytest.mark.parametrize(
    "orders",
    [
        b"",
        b"[]",
        b'{"run": {}}',
        b'{"run": {"sauce": 1}}',
        b'{"run": {"source": "s", "plays": "/no.jsonl"}, "session": "", "disabled_tools": []}',
    ],
)
async def test_orders_that_cannot_be_read_are_one_line_and_no_traceback(
    orders: bytes, tmp_path: Path
) -> None:
    events, status, complained = await carry_out(orders, tmp_path, {})

    assert (events, status) == ([], 2)
    assert len(complained.splitlines()) == 1
    assert b"Traceback" not in complained
