"""The gate of a run over its real socket: shows, refuses, forwards, remembers, and closes."""

import asyncio
import contextlib
import json
import os
import stat
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from ov_es_adapters.errors import (
    CallNotAppliedError,
    CallUnknownError,
    PeerRefusedError,
    ToolCallError,
)
from ov_es_adapters.mcp_gate.gate import Gate
from ov_es_adapters.mcp_gate.gate_socket import GateFolder, OpenGate, gates_of
from ov_es_adapters.redaction import Redactor
from ov_es_domain.observation import ToolCall

KEY = "k-of-ada-123"
SCHEMA = {
    "type": "object",
    "properties": {"ticket_id": {"type": "integer"}, "agent_api_key": {"type": "string"}},
    "required": ["ticket_id", "agent_api_key"],
}


class Team:
    """A team's server behind the gate, which notes what reaches it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, object]]] = []
        self.answer: dict[str, object] = {"content": [{"type": "text", "text": '{"id": 5}'}]}
        self.failure: Exception | None = None
        self.hangs = False
        self.is_asked = asyncio.Event()

    async def definitions(self, *, refresh: bool = False) -> tuple[Mapping[str, object], ...]:
        del refresh
        if isinstance(self.failure, PeerRefusedError):
            raise self.failure
        return (
            {"name": "get_ticket", "description": "Read it.", "inputSchema": SCHEMA},
            {"name": "post_message", "inputSchema": {"type": "object"}},
        )

    async def forward(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        self.asked.append((tool, dict(arguments)))
        self.is_asked.set()
        if self.hangs:
            await asyncio.Event().wait()
        if self.failure is not None:
            raise self.failure
        return self.answer


@pytest.fixture
def team() -> Team:
    return Team()


@contextlib.asynccontextmanager
async def opened(team: Team, folder: Path) -> AsyncGenerator[OpenGate]:
    gate = Gate(team, disabled=frozenset({"post_message"}), redactor=Redactor([KEY]))
    with GateFolder(folder) as gates:
        found = await OpenGate.open(gate, gates, "execution-1")
        try:
            yield found
        finally:
            await found.aclose()


def client_of(gate: OpenGate) -> Client:
    """Return a client as an agent program is one: it starts a server on stdio."""
    program, *arguments = gate.command
    return Client(stdio_client(StdioServerParameters(command=program, args=arguments)))


# --- what a run sees -----------------------------------------------------------------------------


async def test_px_3_px_4_neither_disabled_tools_nor_credential_inputs_are_listed(
    team: Team, tmp_path: Path
) -> None:
    async with opened(team, tmp_path / "gates") as gate, client_of(gate) as client:
        [tool] = (await client.list_tools()).tools

    assert (tool.name, tool.description) == ("get_ticket", "Read it.")
    assert tool.input_schema["properties"] == {"ticket_id": {"type": "integer"}}
    assert tool.input_schema["required"] == ["ticket_id"]


async def test_px_7_a_call_gets_the_servers_result_as_it_is(team: Team, tmp_path: Path) -> None:
    team.answer = {
        "content": [{"type": "text", "text": "five"}, {"type": "text", "text": "and more"}],
        "structuredContent": {"id": 5},
    }

    async with opened(team, tmp_path / "gates") as gate, client_of(gate) as client:
        result = await client.call_tool("get_ticket", {"ticket_id": 5, "agent_api_key": "mine"})
        without = await client.call_tool("get_ticket")

    assert [block.text for block in result.content if block.type == "text"] == ["five", "and more"]
    assert result.structured_content == {"id": 5}
    assert not without.is_error
    assert team.asked == [("get_ticket", {"ticket_id": 5}), ("get_ticket", {})]
    assert gate.gate.calls == (ToolCall(tool="get_ticket", ok=True),) * 2


async def test_px_5_a_call_of_a_disabled_tool_is_refused_and_forwarded_to_nobody(
    team: Team, tmp_path: Path
) -> None:
    async with opened(team, tmp_path / "gates") as gate, client_of(gate) as client:
        result = await client.call_tool("post_message", {"content": "Hi"})

    assert result.is_error
    assert team.asked == []
    [call] = gate.gate.calls
    assert (call.tool, call.ok) == ("post_message", False)
    assert "is disabled for this run" in call.reason


async def test_px_7_a_servers_refusal_is_a_result_and_remembered_as_one(
    team: Team, tmp_path: Path
) -> None:
    team.answer = {"content": [{"type": "text", "text": f"no, {KEY}"}], "isError": True}

    async with opened(team, tmp_path / "gates") as gate, client_of(gate) as client:
        result = await client.call_tool("get_ticket", {"ticket_id": 6})

    assert result.is_error
    assert gate.gate.calls == (ToolCall(tool="get_ticket", ok=False, reason="no, [redacted]"),)


@pytest.mark.parametrize(
    ("failure", "ok"),
    [
        (CallUnknownError("get_ticket", f"no answer, {KEY}"), None),
        (CallNotAppliedError("get_ticket", "not sent"), False),
        (ToolCallError("get_ticket", "no"), False),
    ],
)
async def test_px_7_a_failure_is_the_requests_error_and_never_tried_again(
    team: Team, tmp_path: Path, failure: Exception, *, ok: bool | None
) -> None:
    team.failure = failure

    async with opened(team, tmp_path / "gates") as gate, client_of(gate) as client:
        with pytest.raises(MCPError) as found:
            await client.call_tool("get_ticket", {"ticket_id": 5})

    assert KEY not in str(found.value)
    assert [call.ok for call in gate.gate.calls] == [ok]
    assert len(team.asked) == 1
    assert KEY not in repr(gate.gate.calls)


async def test_credentials_that_are_refused_are_told_to_the_run_as_an_error(
    team: Team, tmp_path: Path
) -> None:
    team.failure = PeerRefusedError("the team's server refuses our credentials")

    async with opened(team, tmp_path / "gates") as gate, client_of(gate) as client:
        with pytest.raises(MCPError, match="refuses our credentials"):
            await client.list_tools()


async def test_a_result_without_the_protocols_wrapping_gets_it(team: Team, tmp_path: Path) -> None:
    team.answer = {"id": 5, "_meta": {}}

    async with opened(team, tmp_path / "gates") as gate, client_of(gate) as client:
        result = await client.call_tool("get_ticket", {"ticket_id": 5})

    assert [json.loads(b.text) for b in result.content if b.type == "text"] == [{"id": 5}]


# --- the end -------------------------------------------------------------------------------------


async def test_a_call_that_is_under_way_when_the_gate_closes_may_have_had_its_effect(
    team: Team, tmp_path: Path
) -> None:
    team.hangs = True
    async with opened(team, tmp_path / "gates") as gate:
        with contextlib.suppress(Exception):
            async with client_of(gate) as client, asyncio.TaskGroup() as group:
                group.create_task(client.call_tool("get_ticket", {"ticket_id": 5}))
                await asyncio.wait_for(team.is_asked.wait(), 10)
                await gate.aclose()

    [call] = gate.gate.calls
    assert (call.tool, call.ok) == ("get_ticket", None)


async def test_a_closed_gate_lets_nobody_in(team: Team, tmp_path: Path) -> None:
    async with opened(team, tmp_path / "gates") as gate:
        command = gate.command
        await gate.aclose()
        pump = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        _, said = await pump.communicate(b"")

    assert pump.returncode == 4
    assert b"can't be reached" in said


@pytest.mark.parametrize(
    "line", [b"no json\n", b"[]\n", b'{"jsonrpc": "2.0"}\n', b"\xff\xfe\n", b"{" * 100_000 + b"\n"]
)
async def test_px_8_px_9_nonsense_harms_nobody_and_stdout_is_protocol_only(
    team: Team, tmp_path: Path, line: bytes
) -> None:
    initialize: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    unknown = {"jsonrpc": "2.0", "id": 2, "method": "no/such"}
    ping = {"jsonrpc": "2.0", "id": 3, "method": "ping"}
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    asked = [initialize, initialized, unknown, ping]
    async with opened(team, tmp_path / "gates") as gate:
        pump = await asyncio.create_subprocess_exec(
            *gate.command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert pump.stdin is not None
        assert pump.stdout is not None
        pump.stdin.write(line)
        answers: dict[object, dict[str, Any]] = {}
        for each in asked:
            pump.stdin.write(json.dumps(each).encode() + b"\n")
            while "id" in each and each["id"] not in answers:
                answer = json.loads(await asyncio.wait_for(pump.stdout.readline(), 10))
                answers[answer.get("id")] = answer
        pump.stdin.close()
        await pump.wait()

    assert answers[2]["error"]["code"] == -32601
    assert answers[3]["result"] == {}


# --- who may use it ------------------------------------------------------------------------------


async def test_px_2_only_our_user_reaches_it_and_its_command_holds_no_secret(
    team: Team, tmp_path: Path
) -> None:
    async with opened(team, tmp_path / "gates") as gate:
        folder = gate.path.parent
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, gate.path)]

        assert modes == [0o700, 0o600]
        assert KEY not in " ".join(gate.command)


def test_a_folder_whose_path_is_too_long_for_a_socket_is_replaced_by_a_short_one(
    tmp_path: Path,
) -> None:
    with GateFolder(tmp_path / ("x" * 100)) as gates:
        assert len(os.fsencode(gates.path)) < 80
        assert stat.S_IMODE(gates.path.stat().st_mode) == 0o700

    assert not gates.path.exists()


def test_the_watchers_of_two_logs_have_gates_of_their_own(tmp_path: Path) -> None:
    first, second = (gates_of(tmp_path, f"sqlite:///{name}") for name in ("a.db", "b.db"))
    with GateFolder(first) as mine:
        (mine.path / "run.sock").touch()
        GateFolder(second).close()

        assert (mine.path / "run.sock").exists()
    assert "secret" not in str(gates_of(tmp_path, "postgresql://ada:secret@host/db"))


def test_what_an_earlier_life_left_in_the_folder_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gates").mkdir()
    (tmp_path / "gates" / "old.sock").touch()

    with GateFolder(tmp_path / "gates") as gates:
        assert list(gates.path.iterdir()) == []
