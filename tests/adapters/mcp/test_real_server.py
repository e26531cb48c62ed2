"""The client against the SDK's own server on a real socket, in each of the server's modes."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from mcp.server import MCPServer
from tests.adapters.mcp.conftest import MakeCaller

from ov_es_adapters.errors import CallRefusedError, ToolNotAdvertisedError
from ov_es_adapters.mcp.tool_caller import McpToolCaller


def team_server() -> MCPServer:
    served = MCPServer("team")

    @served.tool()
    def get_ticket(project_id: int, ticket_id: int) -> dict[str, object]:
        """Return a ticket."""
        return {"ticket": {"id": ticket_id, "project_id": project_id}}

    @served.tool()
    def list_tasks(project_id: int) -> list[dict[str, int]]:
        """Return the tickets of a project."""
        return [{"id": 5, "project_id": project_id}]

    @served.tool()
    def post_message(content: str) -> str:
        """Refuse to post."""
        message = f"may not say {content}"
        raise ValueError(message)

    return served


@asynccontextmanager
async def serving(*, stateless: bool, json: bool) -> AsyncGenerator[str]:
    app = team_server().streamable_http_app(stateless_http=stateless, json_response=json)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve([listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await running


async def exercise(caller: McpToolCaller) -> None:
    assert await caller.advertised() == {"get_ticket", "list_tasks", "post_message"}
    ticket = await caller.call("get_ticket", {"project_id": 1, "ticket_id": 5})
    assert ticket == {"ticket": {"id": 5, "project_id": 1}}
    assert await caller.call("list_tasks", {"project_id": 1}) == [{"id": 5, "project_id": 1}]
    with pytest.raises(CallRefusedError):
        await caller.call("post_message", {"content": "hello"})
    with pytest.raises(CallRefusedError):
        await caller.call("get_ticket", {"project_id": "one"})
    with pytest.raises(ToolNotAdvertisedError):
        await caller.call("react_message", {})


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("json", [False, True])
async def test_mcp_104_all_modes_of_a_real_server_work(
    stateless: bool,  # noqa: FBT001  - pytest passes parameters by name
    json: bool,  # noqa: FBT001  - pytest passes parameters by name
    make: MakeCaller,
) -> None:
    async with serving(stateless=stateless, json=json) as url:
        caller = make(url)

        await exercise(caller)
        mode = caller.mode
        await caller.aclose()

    assert mode == ("stateless" if stateless else "stateful")


async def test_mcp_01_a_restarted_real_server_is_met_with_a_new_session(make: MakeCaller) -> None:
    async with serving(stateless=False, json=False) as url:
        caller = make(url)
        await caller.advertised()
        port = int(url.split(":")[2].split("/")[0])
        app = team_server().streamable_http_app()
    config = uvicorn.Config(app, port=port, log_level="critical", timeout_graceful_shutdown=1)
    again = uvicorn.Server(config)
    running = asyncio.create_task(again.serve())
    while not again.started:  # noqa: ASYNC110  - uvicorn has no event for it
        await asyncio.sleep(0.01)

    try:
        await exercise(caller)
        await caller.aclose()
    finally:
        again.should_exit = True
        await running
