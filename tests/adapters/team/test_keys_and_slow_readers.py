"""Whose key is whose, that no log has one, and that nobody waits for who doesn't read."""

import asyncio
import logging

import pytest
from tests.adapters.team.conftest import calling, ws_address
from websockets.asyncio.client import connect

from ov_es_adapters.errors import PeerRefusedError
from ov_es_adapters.team.local_server import LocalTeamServer


async def test_one_agent_s_key_is_not_another_s(server: LocalTeamServer) -> None:
    async with calling(server, who="bob", key=server.api_keys["ada"]) as caller:
        with pytest.raises(PeerRefusedError):
            await caller.call("list_agents", {})


async def test_sec_01_no_line_of_a_log_holds_a_key(
    server: LocalTeamServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with calling(server) as caller:
            await caller.call("list_agents", {})
        async with connect(ws_address(server)):
            await server.team.until(lambda: server.team.connections.counts() == {"ada": 1})

    # The client of this test names the address that it asks for; the server's side must not.
    lines = [r.getMessage() for r in caplog.records if not r.name.startswith("websockets.client")]
    assert not [line for line in lines if server.api_key in line]


async def test_a_frame_while_nobody_is_connected_is_lost(server: LocalTeamServer) -> None:
    assert server.team.push("the first", "ada") == 0

    async with connect(ws_address(server)) as socket:
        await server.team.until(lambda: server.team.connections.counts() == {"ada": 1})
        server.team.push("the second", "ada")

        assert await socket.recv() == "the second"


async def test_whoever_does_not_read_is_cut_off_and_nobody_waits(server: LocalTeamServer) -> None:
    async with connect(ws_address(server), max_queue=1):
        await server.team.until(lambda: server.team.connections.counts() == {"ada": 1})

        server.team.push("x" * 10_000, times=5_000)

        await asyncio.wait_for(server.team.until(lambda: not server.team.connections.counts()), 10)
