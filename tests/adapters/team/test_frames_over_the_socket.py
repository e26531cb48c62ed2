"""What a backend pushes, on a real WebSocket: to whom, in which order, and how it ends."""

from typing import Any

import orjson
import pytest
from tests.adapters.team.conftest import calling, serving, ws_address
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.team.local_server import LocalTeamServer
from ov_es_adapters.websocket.frames import read_frame


async def _frame(socket: ClientConnection) -> dict[str, Any]:
    frame: dict[str, Any] = orjson.loads(await socket.recv())
    return frame


async def _connected(server: LocalTeamServer, **counts: int) -> None:
    await server.team.until(lambda: server.team.connections.counts() == counts)


async def test_a_person_s_message_reaches_each_connection_of_the_agent_it_mentions(
    server: LocalTeamServer,
) -> None:
    async with (
        connect(ws_address(server)) as first,
        connect(ws_address(server)) as second,
        connect(ws_address(server, "bob")) as other,
    ):
        await _connected(server, ada=2, bob=1)

        message = server.team.say("@Ada ready?", person=1, channel_id=10, parent_id=100)
        server.team.push("the end", "bob")

        for socket in (first, second):
            text = await socket.recv()
            arrival = read_frame(text, at=0.0)
            assert arrival.source == f"mention:10:{message['id']}"
            assert (arrival.parent_id, arrival.text) == (100, "@Ada ready?")
            assert arrival.sender is not None
            assert (arrival.sender.name, arrival.sender.is_agent) == ("Maya", False)
        assert await other.recv() == "the end"


async def test_an_agent_can_be_woken_by_a_message_that_does_not_name_it(
    server: LocalTeamServer,
) -> None:
    async with connect(ws_address(server)) as socket:
        await _connected(server, ada=1)

        server.team.say("Thanks all", person=1, channel_id=10, wake=["ada"])

        assert (await _frame(socket))["data"]["message"]["content"] == "Thanks all"
    with pytest.raises(BadInputError, match="no agent 'kim'"):
        server.team.say("Hi", person=1, channel_id=10, wake=["kim"])


async def test_an_agent_s_post_reaches_the_agent_it_mentions_and_not_its_author(
    server: LocalTeamServer,
) -> None:
    async with (
        connect(ws_address(server)) as ada,
        connect(ws_address(server, "bob")) as bob,
        calling(server) as caller,
    ):
        await _connected(server, ada=1, bob=1)

        await caller.call("post_message", {"channel_id": 10, "content": "@Bob and @Ada, done"})
        server.team.push("the end")

        sender = (await _frame(bob))["data"]["message"]["sender"]
        assert sender == {"id": 7, "name": "Ada", "kind": "agent", "identifier": "ada"}
        assert await ada.recv() == "the end"


async def test_a_ticket_that_is_assigned_or_changed_is_told_to_its_agent(
    server: LocalTeamServer,
) -> None:
    async with connect(ws_address(server, "bob")) as bob:
        await _connected(server, bob=1)

        server.team.assign(5, 8)
        server.team.edit({"id": 5, "priority": "low"})
        server.team.edit({"id": 6, "project_id": 1, "title": "New", "agent_id": 8})

        frames = [await _frame(bob) for _ in range(3)]
    assert [frame["type"] for frame in frames] == [
        "task:assigned",
        "task:updated",
        "task:created",
    ]
    assert [read_frame(orjson.dumps(f), at=0).source for f in frames] == [
        "ticket:1:5",
        "ticket:1:5",
        "ticket:1:6",
    ]


async def test_frames_can_be_anything_and_come_as_often_as_told(server: LocalTeamServer) -> None:
    async with connect(ws_address(server)) as socket:
        await _connected(server, ada=1)

        server.team.push("{not json", times=2)
        server.team.repeat()

        assert [await socket.recv() for _ in range(3)] == ["{not json"] * 3


async def test_ws_1_wrong_credentials_are_refused_at_the_handshake(
    server: LocalTeamServer,
) -> None:
    for address in (
        ws_address(server, key="wrong"),
        ws_address(server, "bob", key=server.api_keys["ada"]),
        ws_address(server, "kim", key=""),
        server.ws_url,
    ):
        with pytest.raises(InvalidStatus) as caught:
            async with connect(address):
                pass
        assert caught.value.response.status_code == 403


async def test_some_backends_refuse_after_the_handshake() -> None:
    async with (
        serving(refuses_after_accepting=True) as server,
        connect(ws_address(server, key="wrong")) as socket,
    ):
        with pytest.raises(ConnectionClosed) as caught:
            await socket.recv()

    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 4401


@pytest.mark.parametrize("code", [None, 1012])
async def test_a_dropped_connection_ends_with_a_goodbye_or_without(
    server: LocalTeamServer, code: int | None
) -> None:
    async with connect(ws_address(server)) as socket:
        await _connected(server, ada=1)

        assert server.team.connections.drop("ada", code) == 1

        with pytest.raises(ConnectionClosed) as caught:
            await socket.recv()
        await _connected(server)
    assert (caught.value.rcvd and caught.value.rcvd.code) == code


async def test_a_server_that_stops_says_goodbye() -> None:
    async with serving() as server:
        socket = await connect(ws_address(server))
        await _connected(server, ada=1)

    with pytest.raises(ConnectionClosed):
        await socket.recv()
