"""`ov-es team-server` as a process of its own: its document, its files, its ends, its state."""

import asyncio
import json
import os
import signal
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from ov_es_adapters.bootstrap import SystemClock
from ov_es_adapters.cli.main import cli
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.mcp.tool_caller import McpToolCaller

_MAIN = "from ov_es_adapters.cli.main import main; main()"


class Served:
    """A running command, and what it printed."""

    def __init__(self, process: asyncio.subprocess.Process, endpoints: dict[str, str]) -> None:
        self.process = process
        self.endpoints = endpoints
        self.credentials: dict[str, Any] = json.loads(
            Path(endpoints["credentials_file"]).read_text(encoding="utf-8")
        )

    async def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return await self.process.wait()

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[TeamClient]:
        async with McpToolCaller(
            self.endpoints["mcp"],
            self.credentials["api_key"],
            self.endpoints["identifier"],
            clock=SystemClock(),
        ) as caller:
            yield TeamClient(caller)


async def _started(
    home: Path, *arguments: object, stderr: int | None = None
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _MAIN, "--home", str(home), "team-server", "--json"),
        *map(str, arguments),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
    )


@asynccontextmanager
async def _served(home: Path, *arguments: object) -> AsyncGenerator[Served]:
    process = await _started(home, *arguments)
    assert process.stdout is not None
    try:
        printed = await process.stdout.readuntil(b"\n}\n")
        yield Served(process, json.loads(printed))
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        assert await process.stdout.read() == b""


def _refused(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["team-server", *map(str, arguments)])


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_it_serves_an_example_until_a_signal_and_keeps_its_keys_private(
    tmp_path: Path, number: signal.Signals, status: int
) -> None:
    async with _served(tmp_path) as served:
        files = [Path(served.endpoints[name]) for name in ("credentials_file", "api_key_file")]
        modes = [stat.S_IMODE(path.stat().st_mode) for path in files]
        key = files[1].read_text(encoding="utf-8").strip()
        async with served.client() as client:
            tickets = await client.tasks(1)
        ended = await served.end(number)

    assert list(served.endpoints) == [
        "ws",
        "mcp",
        "control",
        "identifier",
        "credentials_file",
        "api_key_file",
    ]
    assert modes == [0o600, 0o600]
    assert key == served.credentials["api_key"]
    assert key not in str(served.endpoints)
    assert [ticket.slug for ticket in tickets] == ["COR-5", "COR-6"]
    assert ended == status
    assert not [path for path in files if path.exists()]


async def test_what_was_answered_survives_sigkill(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    async with _served(tmp_path, "--state", state, "--agent", "kim") as first:
        async with first.client() as client:
            posted = await client.post(10, 100, "I start with the form.")
            await client.update_ticket(1, 5, {"status": "in_progress"})
        await first.end(signal.SIGKILL)

    async with _served(tmp_path, "--state", state, "--stateless") as second:
        async with second.client() as client:
            thread = await client.thread(10, 100)
            ticket = await client.ticket(1, 5)
        await second.end(signal.SIGTERM)

    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert second.endpoints["identifier"] == "kim"
    assert second.credentials["api_key"] == first.credentials["api_key"]
    assert [message.id for message in thread] == [100, posted]
    assert (ticket.status, ticket.agent_identifier) == ("in_progress", "kim")


async def test_a_scenario_is_a_team_too(tmp_path: Path) -> None:
    story = Path(__file__).parents[2] / "stories" / "duplicated_mention.json"

    async with _served(tmp_path, "--team", story) as served:
        headers = {"x-control-token": served.credentials["control_token"]}
        async with httpx.AsyncClient(headers=headers) as people:
            answer = await people.get(f"{served.endpoints['control']}/state")
        await served.end(signal.SIGTERM)

    state = answer.json()
    assert served.endpoints["identifier"] == "ada"
    assert [message["id"] for message in state["team"]["messages"]] == [100]
    assert served.credentials["api_key"] not in answer.text


async def test_a_state_that_a_server_has_is_not_taken_by_another(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    async with _served(tmp_path, "--state", state) as served:
        second = await _started(tmp_path, "--state", state, stderr=asyncio.subprocess.PIPE)
        _, said = await second.communicate()
        await served.end(signal.SIGTERM)

    assert second.returncode == 4
    assert b"another team server" in said
    assert said.count(b"\n") == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "team.json"),
        ("[]", "a team is an object"),
        ('{"tickts": []}', "unknown field 'tickts'"),
        ("{}", "team.agents: there is none"),
        ('{"agents": [{"id": 1}]}', "the field 'identifier' is missing"),
    ],
)
def test_a_bad_team_is_refused_in_one_line(tmp_path: Path, content: str, reason: str) -> None:
    path = tmp_path / "team.json"
    path.write_text(content, encoding="utf-8")

    result = _refused("--team", path)

    assert result.exit_code == 2
    assert reason in result.output
    assert str(path) in result.output


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is no JSON"),
        ("{}", "is missing"),
        ('{"agent": "a", "keys": {}, "control_token": "t", "world": {"team": {"x": 1}}}', "'x'"),
    ],
)
def test_a_bad_state_is_refused_and_left_as_it_is(
    tmp_path: Path, content: str, reason: str
) -> None:
    path = tmp_path / "state.json"
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)

    result = _refused("--state", path)

    assert result.exit_code == 2, result.output
    assert reason in result.output
    assert path.read_text(encoding="utf-8") == content


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("--port", 70_000), "--port 70000"),
        (("--page-size", 0), "--page-size 0"),
        (("--agent", "a/b"), "--agent 'a/b'"),
    ],
)
def test_a_bad_option_is_named(arguments: tuple[object, ...], place: str) -> None:
    result = _refused(*arguments)

    assert result.exit_code == 2
    assert place in result.output
