"""Answers that come as event streams, in all the forms that servers give them."""

import orjson
import pytest
from tests.adapters.mcp.conftest import MakeCaller
from tests.adapters.mcp.scripted_server import Answer, Asked, ScriptedServer, http, stream

from ov_es_adapters.errors import CallRefusedError, CallUnknownError


def message(asked: Asked, **fields: object) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": asked.message["id"], **fields})


async def test_mcp_08_what_surrounds_the_answer_is_passed_over(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        whole = message(asked, result={"structuredContent": {"id": 101}})
        cut = whole.index(b'"result"')
        notice = (
            b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9}}'
        )
        other = b'{"jsonrpc":"2.0","id":77,"result":{"structuredContent":{"id":1}}}'
        return stream(
            b"id: 1\r\ndata:\r\n\r\n",
            b"retry: 1500\r\n\r\n",
            b": a comment\r\n\r\n",
            b"event: message\r\ndata: " + notice + b"\r\n\r\n",
            b"event: progress\r\ndata: {}\r\n\r\n",
            b"data: " + other + b"\r\n\r\n",
            b"id: 3\r\ndata: " + whole[:cut] + b"\r\n",
            b"data: " + whole[cut:] + b"\r\n\r\n",
        )

    server.on["tools/call"] = handle

    assert await make().call("post_message", {}) == {"id": 101}


async def test_mcp_111_an_error_in_a_stream_is_a_refusal(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        said = message(asked, error={"code": -32700, "message": "the channel is archived"})
        return stream(b"data: " + said + b"\n\n")

    server.on["tools/call"] = handle

    with pytest.raises(CallRefusedError, match="the channel is archived"):
        await make().call("post_message", {})


@pytest.mark.parametrize("ends", [True, False])
async def test_a_stream_without_an_answer_leaves_the_call_unknown(
    ends: bool,  # noqa: FBT001  - pytest passes parameters by name
    server: ScriptedServer,
    make: MakeCaller,
) -> None:
    async def handle(_: Asked) -> Answer:
        return stream(b": nothing yet\n\n", ends=ends)

    server.on["tools/call"] = handle

    with pytest.raises(CallUnknownError):
        await make().call("post_message", {})

    assert len(server.of("tools/call")) == 1


@pytest.mark.parametrize("ends", [True, False])
async def test_mcp_08_a_cut_stream_is_taken_up_after_the_time_that_the_server_named(
    ends: bool,  # noqa: FBT001  - pytest passes parameters by name
    server: ScriptedServer,
    make: MakeCaller,
) -> None:
    asked_first: list[Asked] = []

    async def handle(asked: Asked) -> Answer:
        asked_first.append(asked)
        return stream(b"id: e-7\nretry: 10\ndata:\n\n", ends=ends)

    async def resume(_: Asked) -> Answer:
        said = message(asked_first[0], result={"structuredContent": {"id": 101}})
        return stream(b"data: " + said + b"\n\n")

    server.on["tools/call"] = handle
    server.on["GET"] = resume

    found = await make().call("post_message", {})

    assert found == {"id": 101}
    [resumed] = server.of("GET")
    assert resumed.headers["last-event-id"] == "e-7"
    assert resumed.session == "s-1"
    assert len(server.of("tools/call")) == 1


async def test_a_stream_that_cannot_be_taken_up_leaves_the_call_unknown(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(_: Asked) -> Answer:
        return stream(b"id: e-7\nretry: 0\ndata:\n\n")

    async def refuse(_: Asked) -> Answer:
        return http(405)

    server.on["tools/call"] = handle
    server.on["GET"] = refuse

    with pytest.raises(CallUnknownError):
        await make().call("post_message", {})


async def test_a_handshake_may_come_as_a_stream(server: ScriptedServer, make: MakeCaller) -> None:
    async def handle(asked: Asked) -> Answer:
        plain = server.welcome(asked).partition(b"\r\n\r\n")[2]
        return stream(b"data: " + plain + b"\n\n")

    server.on["initialize"] = handle
    caller = make()

    await caller.call("get_ticket", {})

    assert caller.mode == "stateless"
