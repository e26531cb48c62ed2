"""Which tools there are: all pages, one asking for all, and an end to it."""

import asyncio
import itertools

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

from ov_es_adapters.errors import CallUnknownError, PeerRefusedError, ToolCallError


def tools(*names: str, **more: object) -> dict[str, object]:
    return {"tools": [{"name": name} for name in names], **more}


async def test_mcp_07_a_tool_on_the_second_page_exists(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        if asked.params.get("cursor") == "c1":
            return result(asked, tools("post_message"))
        return result(asked, tools(*(f"tool_{n}" for n in range(50)), nextCursor="c1"))

    server.on["tools/list"] = handle

    found = await make().advertised()

    assert "post_message" in found
    assert len(found) == 51


async def test_mcp_07_a_failed_second_page_makes_the_list_incomplete(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        if asked.params.get("cursor"):
            return http(500)
        return result(asked, tools("get_ticket", nextCursor="c1"))

    server.on["tools/list"] = handle

    with pytest.raises(ToolCallError, match="tool list is incomplete: page 2 failed: HTTP 500"):
        await make().advertised()


async def test_mcp_112_a_cursor_beside_the_result_counts_too(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        if asked.params.get("cursor"):
            return result(asked, tools("b"))
        plain = result(asked, tools("a")).partition(b"\r\n\r\n")[2]
        return http(200, plain.removesuffix(b"}") + b',"nextCursor":"c1"}')

    server.on["tools/list"] = handle

    assert await make().advertised() == {"a", "b"}


async def test_mcp_06_a_blank_cursor_is_the_end(server: ScriptedServer, make: MakeCaller) -> None:
    async def handle(asked: Asked) -> Answer:
        return result(asked, tools("a", nextCursor=""))

    server.on["tools/list"] = handle

    assert await make().advertised() == {"a"}
    assert len(server.of("tools/list")) == 1


@pytest.mark.parametrize(
    ("cursors", "pages"),
    [(itertools.repeat("same"), 2), (itertools.cycle(["x", "y"]), 3), (itertools.count(), 100)],
)
async def test_mcp_06_pages_without_end_are_an_error(
    cursors: "itertools.repeat[str]", pages: int, server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        return result(asked, tools("a", nextCursor=str(next(cursors))))

    server.on["tools/list"] = handle

    with pytest.raises(ToolCallError, match="incomplete"):
        await make().advertised()

    assert len(server.of("tools/list")) == pages


async def test_mcp_06_all_pages_together_have_a_deadline(
    server: ScriptedServer, make: MakeCaller
) -> None:
    numbers = itertools.count()

    async def handle(asked: Asked) -> Answer:
        await asyncio.sleep(0.1)
        return result(asked, tools("a", nextCursor=str(next(numbers))))

    server.on["tools/list"] = handle

    with pytest.raises(CallUnknownError, match=r"took longer than 1\.2 s"):
        await make(deadline_seconds=0.2).advertised()


async def test_mcp_115_the_last_definition_stands_at_the_place_of_the_first(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        listed = [{"name": "a", "v": 1}, {"name": "b"}, {"name": "a", "v": 2}, "noise", {}]
        return result(asked, {"tools": listed})

    server.on["tools/list"] = handle

    assert await make().definitions() == ({"name": "a", "v": 2}, {"name": "b"})


async def test_mcp_115_an_answer_without_a_list_is_an_error(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        return result(asked, {"tools": "none"})

    server.on["tools/list"] = handle

    with pytest.raises(ToolCallError, match="no list of tools"):
        await make().advertised()


async def test_mcp_116_concurrent_askers_share_one_request_and_the_answer_is_kept(
    server: ScriptedServer, make: MakeCaller
) -> None:
    caller = make()

    await asyncio.gather(*(caller.advertised() for _ in range(5)))
    await caller.advertised()
    asked = len(server.of("tools/list"))
    await caller.advertised(refresh=True)

    assert (asked, len(server.of("tools/list"))) == (1, 2)


async def test_a_failed_listing_is_not_kept(server: ScriptedServer, make: MakeCaller) -> None:
    server.on["tools/list"] = always(http(500))
    caller = make()
    with pytest.raises(ToolCallError):
        await caller.advertised()

    del server.on["tools/list"]

    assert await caller.advertised() == frozenset()


async def test_mcp_114_a_session_lost_between_pages_starts_the_list_again(
    server: ScriptedServer, make: MakeCaller
) -> None:
    async def handle(asked: Asked) -> Answer:
        if not asked.params.get("cursor"):
            return result(asked, tools(f"of-{asked.session}", nextCursor="c1"))
        return http(404) if asked.session == "s-1" else result(asked, tools("last"))

    server.on["tools/list"] = handle

    assert await make().advertised() == {"of-s-2", "last"}


async def test_refused_credentials_show_in_discovery_too(
    server: ScriptedServer, make: MakeCaller
) -> None:
    server.on["tools/list"] = always(http(401))

    with pytest.raises(PeerRefusedError):
        await make().advertised()


async def test_a_listing_that_fails_when_nobody_waits_any_more_is_not_complained_of(
    server: ScriptedServer, make: MakeCaller
) -> None:
    release = asyncio.Event()

    async def handle(_: Asked) -> Answer:
        await release.wait()
        return http(500)

    server.on["tools/list"] = handle
    caller = make()
    asking = asyncio.create_task(caller.advertised())
    await server.until("tools/list", 1)

    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    release.set()
    with pytest.raises(ToolCallError):
        await caller.advertised()
