"""`ov-es mcp-proxy` as a process of its own, against a real team server on loopback."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.adapters.mcp.test_real_server import serving

PROGRAM = [sys.executable, "-m", "ov_es_adapters.cli.main", "mcp-proxy"]
ACCESS = {"OV_ES_TEAM_IDENTIFIER": "ada", "OV_ES_TEAM_API_KEY": "key-of-ada"}


def _run(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        PROGRAM,
        env={**os.environ, **environment},
        input="",
        text=True,
        capture_output=True,
        check=False,
        timeout=60,
    )


async def test_px_1_px_7_it_serves_the_teams_tools_with_the_key_from_its_environment() -> None:
    async with serving(stateless=False, json=False) as url:
        parameters = StdioServerParameters(
            command=PROGRAM[0],
            args=[*PROGRAM[1:], "--disable", "list_tasks"],
            env={
                **os.environ,
                **ACCESS,
                "OV_ES_TEAM_MCP_URL": url,
                "OV_ES_TEAM_DISABLED_TOOLS": '["post_message"]',
            },
        )
        async with asyncio.timeout(60), Client(stdio_client(parameters)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            answer = await client.call_tool("get_ticket", {"project_id": 1, "ticket_id": 5})
            refused = await client.call_tool("post_message", {"content": "Hi"})

    assert "get_ticket" in names
    assert names.isdisjoint({"post_message", "list_tasks"})
    assert not answer.is_error
    assert refused.is_error


@pytest.mark.parametrize("missing", ["OV_ES_TEAM_IDENTIFIER", "OV_ES_TEAM_API_KEY"])
def test_px_1_without_all_that_it_needs_it_ends_at_once_and_says_so(missing: str) -> None:
    given = {"OV_ES_TEAM_MCP_URL": "http://127.0.0.1:9/mcp", **ACCESS, missing: ""}

    ended = _run(**given)

    assert ended.returncode == 3
    assert "mcp-proxy needs" in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize("stdin", ["/dev/null", __file__])
def test_whatever_its_stdin_is_it_ends_with_it_and_without_a_traceback(stdin: str) -> None:
    given = {"OV_ES_TEAM_MCP_URL": "http://127.0.0.1:9/mcp", **ACCESS}

    with Path(stdin).open("rb") as read:
        ended = subprocess.run(
            PROGRAM,
            env={**os.environ, **given},
            stdin=read,
            capture_output=True,
            check=False,
            timeout=60,
        )

    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr


def test_px_6_a_list_of_disabled_tools_that_cannot_be_read_is_no_reason_to_allow_all() -> None:
    given = {"OV_ES_TEAM_MCP_URL": "http://127.0.0.1:9/mcp", **ACCESS}

    ended = _run(**given, OV_ES_TEAM_DISABLED_TOOLS="post_message")

    assert ended.returncode == 2
    assert "disabled tools" in ended.stderr
