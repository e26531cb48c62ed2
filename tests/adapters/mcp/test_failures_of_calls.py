"""What each failure of a call proves, on real sockets."""

import asyncio
import socket
from collections.abc import Mapping

import pytest
from tests.adapters.mcp.conftest import MakeCaller, SteppedClock
from tests.adapters.mcp.scripted_server import (
    Answer,
    Asked,
    Cut,
    ScriptedServer,
    Stalled,
    always,
    error,
    http,
    result,
)

from ov_es_adapters.errors import (
    BadInputError,
    CallNotAppliedError,
    CallRefusedError,
    CallUnknownError,
    PeerRefusedError,
    ToolNotAdvertisedError,
)
from ov_es_adapters.mcp.tool_caller import McpToolCaller


async def never(_: Asked) -> Answer:
    await asyncio.Event().wait()
    return b""


async def test_a_call_returns_what_the_tool_said(server: ScriptedServer, make: MakeCaller) -> None:
    caller = make()

    found = await caller.call("get_ticket", {"project_id": 1, "ticket_id": 5})

    assert found == {"called": "get_ticket"}
    [asked] = server.of("tools/call")
    assert asked.params["arguments"] == {"project_id": 1, "ticket_id": 5}


async def test_mcp_121_each_request_carries_both_credentials(
    server: ScriptedServer, make: MakeCaller
) -> None:
    await make().call("get_ticket", {})

    headers = [asked.headers for asked in server.asked]
    assert {h["x-agent-api-key"] for h in headers} == {"key-of-ada"}
    assert {h["x-agent-identifier"] for h in headers} == {"ada"}


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("inf"), float("nan")])
def test_mcp_102_a_deadline_has_to_be_finite_and_above_zero(
    seconds: float, clock: SteppedClock
) -> None:
    with pytest.raises(BadInputError, match="deadline"):
        McpToolCaller("http://h/", "key", "ada", clock=clock, deadline_seconds=seconds)


@pytest.mark.parametrize("url", [" ", "host/mcp", "ftp://host/mcp", "https:///mcp"])
def test_an_address_that_is_none_is_bad_input(url: str, clock: SteppedClock) -> None:
    with pytest.raises(BadInputError, match="https://host/mcp"):
        McpToolCaller(url, "key", "ada", clock=clock)


async def test_mcp_101_the_deadline_covers_the_whole_body(
    server: ScriptedServer, make: MakeCaller
) -> None:
    server.on["tools/call"] = always(Stalled(http(200, b"{" + b" " * 99)[:-50]))
    caller = make(deadline_seconds=0.3)

    with pytest.raises(CallUnknownError) as caught:
        await caller.call("post_message", {})

    assert "tools/call" in caught.value.reason
    assert "0.3 s" in caught.value.reason


async def test_mcp_103_a_call_that_timed_out_is_never_repeated(
    server: ScriptedServer, make: MakeCaller
) -> None:
    server.on["tools/call"] = never
    caller = make(deadline_seconds=0.3)

    with pytest.raises(CallUnknownError):
        await caller.call("post_message", {})
    del server.on["tools/call"]
    await caller.call("get_ticket", {})

    assert [asked.params["name"] for asked in server.of("tools/call")] == [
        "post_message",
        "get_ticket",
    ]
    assert server.of("notifications/cancelled") == []


async def test_mcp_101_a_trickle_of_bytes_does_not_stretch_the_deadline(make: MakeCaller) -> None:
    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
            while not writer.is_closing():
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.01)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(trickle, "127.0.0.1", 0) as slow:
        port = slow.sockets[0].getsockname()[1]
        caller = make(f"http://127.0.0.1:{port}/mcp", deadline_seconds=0.3)

        with pytest.raises(
            CallNotAppliedError, match=r"initialize: no whole answer within 0\.3 s"
        ):
            await caller.call("post_message", {})

        await caller.aclose()


async def test_a_refused_connection_proves_that_nothing_was_applied(make: MakeCaller) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"

        with pytest.raises(CallNotAppliedError):
            await make(url).call("post_message", {})


async def test_a_connection_refused_in_mid_session_proves_it_too(make: MakeCaller) -> None:
    async with ScriptedServer() as server:
        caller = make(server.url)
        await caller.call("get_ticket", {})

    with pytest.raises(CallNotAppliedError):
        await caller.call("post_message", {})


async def test_a_connection_cut_after_the_request_leaves_it_unknown(
    server: ScriptedServer, make: MakeCaller
) -> None:
    server.on["tools/call"] = always(Cut())

    with pytest.raises(CallUnknownError):
        await make().call("post_message", {})

    assert len(server.of("tools/call")) == 1


async def test_a_cut_connection_leaves_the_other_calls_of_the_session_alone(
    server: ScriptedServer, make: MakeCaller
) -> None:
    release = asyncio.Event()

    async def handle(asked: Asked) -> Answer:
        if asked.params["name"] == "post_message":
            return Cut(http(200, b'{"id": 2}')[:-5])
        await release.wait()
        return result(asked, {"structuredContent": {"id": 5}})

    server.on["tools/call"] = handle
    caller = make()
    reading = asyncio.create_task(caller.call("get_ticket", {}))
    await server.until("tools/call", 1)

    with pytest.raises(CallUnknownError):
        await caller.call("post_message", {})
    release.set()

    assert await reading == {"id": 5}
    assert server.sessions == 1


@pytest.mark.parametrize(
    "answer",
    [
        http(200, b"<html>gateway</html>"),
        http(200, b"{}"),
        http(200, b"hello", kind="text/plain"),
        http(202),
        http(204),
        http(500),
        http(503, retry_after="1"),
        http(200, b'{"jsonrpc": "2.0", "id": 999, "result": {}}'),
    ],
)
async def test_what_cannot_be_read_leaves_the_call_unknown(
    answer: bytes, server: ScriptedServer, make: MakeCaller
) -> None:
    server.on["tools/call"] = always(answer)

    with pytest.raises(CallUnknownError):
        await make().call("post_message", {})

    assert len(server.of("tools/call")) == 1


@pytest.mark.parametrize("status", [402, 405, 413, 418, 422, 301])
async def test_another_status_below_500_proves_that_nothing_was_applied(
    status: int, server: ScriptedServer, make: MakeCaller
) -> None:
    server.on["tools/call"] = always(http(status))

    with pytest.raises(CallNotAppliedError, match=f"HTTP {status}"):
        await make().call("post_message", {})


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("method", ["initialize", "tools/call"])
async def test_refused_credentials_are_the_peers_refusal(
    status: int, method: str, server: ScriptedServer, make: MakeCaller
) -> None:
    server.on[method] = always(http(status))

    with pytest.raises(PeerRefusedError, match=f"HTTP {status}"):
        await make().call("post_message", {})


@pytest.mark.parametrize(
    "answer", [http(500), http(200, b"no json"), http(404), http(200, b'{"id": 1, "result": {}}')]
)
async def test_a_failed_handshake_proves_that_no_tool_ran(
    answer: bytes, server: ScriptedServer, make: MakeCaller
) -> None:
    server.on["initialize"] = always(answer)
    caller = make()

    with pytest.raises(CallNotAppliedError, match="initialize"):
        await caller.call("post_message", {})
    assert caller.mode == "uninitialized"

    del server.on["initialize"]
    assert await caller.call("get_ticket", {}) == {"called": "get_ticket"}


async def test_mcp_110_an_error_of_the_protocol_is_a_refusal_in_the_servers_words(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        return error(asked, -32602, "channel_id is missing")

    server.on["tools/call"] = handle

    with pytest.raises(CallRefusedError) as caught:
        await make().call("post_message", {})

    assert caught.value.reason == "channel_id is missing"


async def test_out_19_a_result_that_is_flagged_as_an_error_is_a_refusal(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        return result(
            asked, {"isError": True, "content": [{"type": "text", "text": "no permission"}]}
        )

    server.on["tools/call"] = handle

    with pytest.raises(CallRefusedError) as caught:
        await make().call("post_message", {})

    assert caught.value.reason == "no permission"
    assert len(server.of("tools/call")) == 1


@pytest.mark.parametrize(
    "said",
    ["Unknown tool: comment_ticket", "MISSING TOOL", "unsupported tool", "Tool x was Not Found"],
)
async def test_mcp_119_an_unknown_optional_tool_counts_as_not_called(
    said: str, server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        if asked.params["name"] == "comment_ticket":
            return result(asked, {"isError": True, "content": [{"type": "text", "text": said}]})
        return error(asked, -32602, said)

    server.on["tools/call"] = handle
    caller = make()

    with pytest.raises(ToolNotAdvertisedError):
        await caller.call("comment_ticket", {})
    with pytest.raises(ToolNotAdvertisedError):
        await caller.call("react_message", {})
    with pytest.raises(CallRefusedError):
        await caller.call("post_message", {})


async def test_an_answer_in_parts_of_text_is_joined_and_parsed(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        parts = ['{"ticket": {"id": 5,', '"title": "Fix"}}']
        return result(asked, {"content": [{"type": "text", "text": part} for part in parts]})

    server.on["tools/call"] = handle

    assert await make().call("get_ticket", {}) == {"ticket": {"id": 5, "title": "Fix"}}


async def test_out_06_an_answer_after_the_deadline_is_still_heard(
    server: ScriptedServer, make: MakeCaller
) -> None:
    release = asyncio.Event()
    heard: asyncio.Queue[object] = asyncio.Queue()

    def hear(tool: str, arguments: Mapping[str, object], found: object) -> None:
        heard.put_nowait((tool, arguments, found))

    async def late(asked: Asked) -> Answer:
        await release.wait()
        return result(asked, {"structuredContent": {"message": {"id": 101}}})

    server.on["tools/call"] = late
    caller = make(
        deadline_seconds=0.3,
        late_answer_seconds=30.0,
        on_late_answer=hear,
    )

    with pytest.raises(CallUnknownError, match=r"0\.3 s"):
        await caller.call("post_message", {"channel_id": 10})
    release.set()

    assert await heard.get() == ("post_message", {"channel_id": 10}, {"message": {"id": 101}})
    assert len(server.of("tools/call")) == 1


async def test_a_caller_that_is_cancelled_closes_its_connection(
    server: ScriptedServer, make: MakeCaller
) -> None:
    gone = asyncio.Event()

    async def handle(_: Asked) -> Answer:
        await gone.wait()
        return b""

    server.on["tools/call"] = handle
    caller = make()
    calling = asyncio.create_task(caller.call("post_message", {}))
    await server.until("tools/call", 1)

    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    del server.on["tools/call"]

    assert await caller.call("get_ticket", {}) == {"called": "get_ticket"}
