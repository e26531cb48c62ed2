"""Sessions: one handshake for all, renewed once when the server forgets it, and ended politely."""

import asyncio

import pytest
from tests.adapters.mcp.conftest import MakeCaller
from tests.adapters.mcp.scripted_server import (
    Answer,
    Asked,
    ScriptedServer,
    always,
    http,
    result,
)

from ov_es_adapters.errors import CallNotAppliedError, ToolCallError


async def test_mcp_104_a_server_without_sessions_is_a_mode(
    server: ScriptedServer, make: MakeCaller
) -> None:
    server.has_sessions = False
    caller = make()
    before = caller.mode

    await caller.call("get_ticket", {})

    assert (before, caller.mode) == ("uninitialized", "stateless")
    assert server.of("tools/call")[0].session is None


async def test_mcp_104_a_server_with_sessions_is_the_other(make: MakeCaller) -> None:
    caller = make()

    await caller.call("get_ticket", {})

    assert caller.mode == "stateful"


async def test_mcp_106_the_session_goes_with_every_request_but_the_first(
    server: ScriptedServer, make: MakeCaller
) -> None:
    caller = make()

    await caller.call("get_ticket", {})
    await caller.advertised()

    sessions = {asked.method: asked.session for asked in server.asked}
    assert sessions == {
        "initialize": None,
        "notifications/initialized": "s-1",
        "tools/call": "s-1",
        "tools/list": "s-1",
    }


async def test_mcp_105_all_who_need_it_wait_for_the_same_handshake(
    server: ScriptedServer, make: MakeCaller
) -> None:
    caller = make()

    await asyncio.gather(*(caller.call("get_ticket", {"n": n}) for n in range(5)))

    assert len(server.of("initialize")) == 1
    assert len(server.of("tools/call")) == 5


@pytest.mark.parametrize("status", [400, 404, 409, 410])
async def test_mcp_01_a_forgotten_session_is_renewed_once_for_five_calls_in_flight(
    status: int, server: ScriptedServer, make: MakeCaller
) -> None:
    all_there = asyncio.Barrier(5)

    async def handle(asked: Asked) -> Answer:
        if asked.session == "s-1":
            await all_there.wait()
            return http(status)
        return result(asked, {"structuredContent": {"id": asked.params["arguments"]["n"]}})

    server.on["tools/call"] = handle
    caller = make()

    found = await asyncio.gather(*(caller.call("post_message", {"n": n}) for n in range(5)))

    assert found == [{"id": n} for n in range(5)]
    assert [asked.session for asked in server.of("tools/call")] == ["s-1"] * 5 + ["s-2"] * 5
    assert len(server.of("initialize")) == 2


async def test_mcp_01_a_second_404_right_after_the_handshake_is_left_to_back_off(
    server: ScriptedServer, make: MakeCaller
) -> None:
    server.on["tools/call"] = always(http(404))

    with pytest.raises(CallNotAppliedError, match="HTTP 404"):
        await make().call("post_message", {})

    assert len(server.of("tools/call")) == 2
    assert len(server.of("initialize")) == 2


async def test_mcp_107_without_a_session_it_is_an_error_at_once(
    server: ScriptedServer, make: MakeCaller
) -> None:
    server.has_sessions = False
    server.on["tools/call"] = always(http(404))

    with pytest.raises(CallNotAppliedError, match="HTTP 404"):
        await make().call("post_message", {})

    assert len(server.of("tools/call")) == 1


async def test_mcp_107_the_servers_own_words_come_with_the_status(
    server: ScriptedServer, make: MakeCaller
) -> None:
    body = (
        b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no such session"}}'
    )
    server.on["tools/call"] = always(http(404, body))

    with pytest.raises(CallNotAppliedError, match="HTTP 404: no such session"):
        await make().call("post_message", {})


async def test_mcp_108_a_newer_session_is_kept_and_used_for_the_repeat(
    server: ScriptedServer, make: MakeCaller
) -> None:
    late = asyncio.Event()

    async def handle(asked: Asked) -> Answer:
        if asked.session == "s-1":
            if asked.params["name"] == "get_ticket":
                await late.wait()
            return http(404)
        return result(asked, {"structuredContent": {}})

    server.on["tools/call"] = handle
    caller = make()
    reading = asyncio.create_task(caller.call("get_ticket", {}))
    await server.until("tools/call", 1)

    await caller.call("post_message", {})
    late.set()
    await reading

    assert len(server.of("initialize")) == 2
    assert [a.session for a in server.of("tools/call")] == ["s-1", "s-1", "s-2", "s-2"]


async def test_mcp_109_a_reset_forgets_the_tools(server: ScriptedServer, make: MakeCaller) -> None:
    caller = make()
    await caller.advertised()

    async def handle(asked: Asked) -> Answer:
        return http(404) if asked.session == "s-1" else result(asked, {})

    server.on["tools/call"] = handle
    await caller.call("get_ticket", {})
    await caller.advertised()

    assert len(server.of("tools/list")) == 2


async def test_a_session_is_given_back_at_the_end(
    server: ScriptedServer, make: MakeCaller
) -> None:
    caller = make()
    await caller.call("get_ticket", {})

    await caller.aclose()

    assert [asked.session for asked in server.of("DELETE")] == ["s-1"]


async def test_a_session_that_the_server_forgot_is_not_given_back(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        return http(404) if asked.session == "s-1" else result(asked, {})

    server.on["tools/call"] = handle
    caller = make()
    await caller.call("get_ticket", {})

    await caller.aclose()

    assert [asked.session for asked in server.of("DELETE")] == ["s-2"]


async def test_closing_ends_what_is_under_way(server: ScriptedServer, make: MakeCaller) -> None:
    forever = asyncio.Event()

    async def handle(_: Asked) -> Answer:
        await forever.wait()
        return b""

    server.on["tools/call"] = handle
    caller = make()
    calling = asyncio.create_task(caller.call("get_ticket", {}))
    await server.until("tools/call", 1)

    await caller.aclose()

    with pytest.raises(ToolCallError):
        await calling


async def test_no_standing_stream_is_opened(server: ScriptedServer, make: MakeCaller) -> None:
    await make().call("get_ticket", {})

    assert server.of("GET") == []
