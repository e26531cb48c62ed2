"""A small team on a real server, and the two kinds of clients that reach it."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

import httpx
import pytest

from ov_es_adapters.bootstrap import SystemClock
from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.mcp.tool_caller import McpToolCaller
from ov_es_adapters.team.live_team import local_world
from ov_es_adapters.team.local_server import LocalTeamServer, ServerOptions
from ov_es_adapters.team.world import TeamWorld

ADA = AgentIdentity(id=7, identifier="ada", name="Ada")
TEAM: dict[str, object] = {
    "people": [{"id": 1, "name": "Maya"}],
    "agents": [{"id": 8, "identifier": "bob", "name": "Bob"}],
    "projects": [{"id": 1, "name": "Core", "channel_id": 10}],
    "channels": [{"id": 10, "project_id": 1, "name": "core"}],
    "tickets": [
        {
            "id": 5,
            "project_id": 1,
            "slug": "COR-5",
            "title": "Fix the login form",
            "status": "todo",
            "agent_id": 7,
            "priority": "high",
            "updated_at": "2026-01-01T00:00:00Z",
        }
    ],
    "messages": [
        {"id": 100, "channel_id": 10, "parent_id": None, "person": 1, "content": "@Ada status?"}
    ],
}

Serve = Callable[..., AbstractAsyncContextManager[LocalTeamServer]]


def small_world() -> TeamWorld:
    return local_world(TEAM, ADA)


@asynccontextmanager
async def serving(**options: object) -> AsyncGenerator[LocalTeamServer]:
    async with LocalTeamServer(small_world(), ServerOptions(**options)) as server:  # type: ignore[arg-type]
        yield server


@pytest.fixture
async def server() -> AsyncIterator[LocalTeamServer]:
    async with serving() as running:
        yield running


@asynccontextmanager
async def calling(
    server: LocalTeamServer, *, who: str = "ada", key: str | None = None, deadline: float = 10.0
) -> AsyncGenerator[McpToolCaller]:
    async with AsyncExitStack() as stack:
        caller = McpToolCaller(
            server.mcp_url,
            api_key=server.api_keys[who] if key is None else key,
            identifier=who,
            deadline_seconds=deadline,
            clock=SystemClock(),
        )
        stack.push_async_callback(caller.aclose)
        yield caller


@asynccontextmanager
async def controlling(server: LocalTeamServer) -> AsyncGenerator[httpx.AsyncClient]:
    headers = {"x-control-token": server.control_token}
    async with httpx.AsyncClient(base_url=server.control_url, headers=headers) as client:
        yield client


def ws_address(server: LocalTeamServer, who: str = "ada", key: str | None = None) -> str:
    query = httpx.QueryParams(api_key=server.api_keys.get(who, "") if key is None else key)
    return f"{server.ws_url}?{query}&identifier={who}"
