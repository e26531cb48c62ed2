"""The team's tools on a real socket, for our own client and for the SDK's."""

import asyncio

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.adapters.team.conftest import ADA, calling, serving

from ov_es_adapters.errors import (
    BadInputError,
    CallRefusedError,
    PeerRefusedError,
    ToolNotAdvertisedError,
)
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.team.faults import parse_faults
from ov_es_adapters.team.live_team import local_world
from ov_es_adapters.team.local_server import LocalTeamServer, ServerOptions
from ov_es_adapters.team.tools import TOOLS


@pytest.mark.parametrize("has_sessions", [False, True])
@pytest.mark.parametrize("answers_as_json", [False, True])
async def test_mcp_104_the_client_works_in_all_modes_of_the_server(
    has_sessions: bool,  # noqa: FBT001 - pytest passes parameters by name
    answers_as_json: bool,  # noqa: FBT001 - likewise
) -> None:
    async with (
        serving(has_sessions=has_sessions, answers_as_json=answers_as_json) as server,
        calling(server) as caller,
    ):
        client = TeamClient(caller)

        ticket = await client.ticket(1, 5)
        posted = await client.post(10, 100, "It's in review.")
        thread = await client.thread(10, 100)

        assert caller.mode == ("stateful" if has_sessions else "stateless")
        assert (ticket.slug, ticket.agent_identifier) == ("COR-5", "ada")
        assert [message.id for message in thread] == [100, posted]
        assert server.team.world.posts[0]["by"] == "ada"


@pytest.mark.parametrize("has_sessions", [False, True])
async def test_the_sdk_s_own_client_works_too(
    has_sessions: bool,  # noqa: FBT001 - pytest passes parameters by name
) -> None:
    async with serving(has_sessions=has_sessions) as server:
        headers = {"x-agent-api-key": server.api_key, "x-agent-identifier": "ada"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(server.mcp_url, http_client=http)) as client,
        ):
            listed = await client.list_tools()
            result = await client.call_tool("get_ticket", {"project_id": 1, "ticket_id": 5})

    assert [tool.name for tool in listed.tools] == list(TOOLS)
    assert result.structured_content["ticket"]["slug"] == "COR-5"


async def test_mcp_113_a_list_in_pages_is_read_whole(server: LocalTeamServer) -> None:
    del server
    async with serving(page_size=5) as paged, calling(paged) as caller:
        assert await caller.advertised() == frozenset(TOOLS)


async def test_mcp_121_wrong_credentials_are_refused(server: LocalTeamServer) -> None:
    for who, key in (("ada", "wrong"), ("bob", server.api_keys["ada"]), ("ada", "")):
        async with calling(server, who=who, key=key) as caller:
            with pytest.raises(PeerRefusedError):
                await caller.call("list_agents", {})


async def test_a_request_without_credentials_gets_401_and_nothing_about_the_team(
    server: LocalTeamServer,
) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.post(server.mcp_url, json={"method": "initialize"})

    assert answer.status_code == 401
    assert "ada" not in answer.text


async def test_a_refusal_of_the_team_reaches_the_caller_with_its_reason(
    server: LocalTeamServer,
) -> None:
    async with calling(server) as caller:
        with pytest.raises(CallRefusedError, match="thread not found"):
            await caller.call("post_message", {"channel_id": 10, "parent_id": 9, "content": "Hi"})
        with pytest.raises(CallRefusedError, match="unknown argument"):
            await caller.call("list_agents", {"page": 1})


async def test_mcp_119_a_tool_that_is_not_listed_is_not_there(server: LocalTeamServer) -> None:
    server.team.faults = parse_faults(
        [{"tool": "comment_ticket", "call": "all", "kind": "unlisted"}]
    )

    async with calling(server) as caller:
        names = await caller.advertised()
        with pytest.raises(ToolNotAdvertisedError):
            await caller.call(
                "comment_ticket", {"project_id": 1, "ticket_id": 5, "content": "Blocked."}
            )

    assert "comment_ticket" not in names
    assert not server.team.world.comments


async def test_each_agent_calls_in_its_own_name(server: LocalTeamServer) -> None:
    async with calling(server, who="bob") as bob, calling(server) as ada:
        await bob.call("post_message", {"channel_id": 10, "content": "@Ada are you there?"})
        activity = await TeamClient(ada).activity(at=1.0)

    assert [arrival.sender and arrival.sender.name for arrival in activity] == ["Maya", "Bob"]


async def test_a_port_that_is_taken_is_said_in_one_line(server: LocalTeamServer) -> None:
    with pytest.raises(BadInputError, match=f"--port {server.port}"):
        async with LocalTeamServer(local_world({}, ADA), ServerOptions(port=server.port)):
            pass


async def test_a_server_that_stops_leaves_no_task_behind() -> None:
    before = asyncio.all_tasks()

    async with serving() as server, calling(server) as caller:
        await caller.call("list_agents", {})

    assert asyncio.all_tasks() == before
