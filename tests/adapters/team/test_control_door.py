"""The control door over HTTP: people's doings, frames, faults, and no way in without the token."""

import httpx
import orjson
import pytest
from tests.adapters.team.conftest import calling, controlling, ws_address
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from ov_es_adapters.errors import CallRefusedError
from ov_es_adapters.team.local_server import LocalTeamServer
from ov_es_adapters.websocket.frames import read_frame


async def test_a_person_s_message_reaches_the_agent_and_its_activity(
    server: LocalTeamServer,
) -> None:
    async with (
        connect(ws_address(server)) as socket,
        controlling(server) as people,
        calling(server) as caller,
    ):
        body = {"person": 1, "channel_id": 10, "parent_id": 100, "content": "@Ada any news?"}
        said = await people.post("/say", json=body)

        message = said.json()["message"]
        arrival = read_frame(await socket.recv(), at=0.0)
        activity = await caller.call("list_activity", {})
    assert said.status_code == 200
    assert (arrival.message_id, arrival.parent_id) == (message["id"], 100)
    assert isinstance(activity, dict)
    assert [row["id"] for row in activity["activity"]] == [100, message["id"]]


async def test_a_ticket_is_made_edited_and_assigned(server: LocalTeamServer) -> None:
    async with connect(ws_address(server)) as socket, controlling(server) as people:
        ticket = {"id": 6, "project_id": 1, "title": "New", "agent_id": 7}
        made = await people.post("/ticket", json={"ticket": ticket})
        edited = await people.post("/ticket", json={"ticket": {"id": 6, "title": "Newer"}})
        taken = await people.post("/assign", json={"ticket_id": 6, "agent_id": None})
        given = await people.post("/assign", json={"ticket_id": 6, "agent_id": 7})
        kinds = [orjson.loads(await socket.recv())["type"] for _ in range(4)]

    assert kinds == ["task:created", "task:updated", "task:updated", "task:assigned"]
    tickets = [answer.json()["ticket"] for answer in (made, edited, taken, given)]
    assert [ticket["title"] for ticket in tickets] == ["New", "Newer", "Newer", "Newer"]
    assert len({ticket["updated_at"] for ticket in tickets}) == 4


async def test_frames_are_pushed_as_they_are_and_again(server: LocalTeamServer) -> None:
    async with connect(ws_address(server)) as socket, controlling(server) as people:
        assert (await people.post("/repeat", json={})).status_code == 400
        one = await people.post("/frame", json={"agent": "ada", "text": "no JSON"})
        two = await people.post("/frame", json={"frame": {"type": "x"}, "times": 2})
        again = await people.post("/repeat", json={"times": 1})
        texts = [await socket.recv() for _ in range(4)]

    assert texts == ["no JSON", *['{"type":"x"}'] * 3]
    assert [answer.json() for answer in (one, two, again)] == [{"sockets": 1}] * 3


async def test_sockets_are_dropped_on_request(server: LocalTeamServer) -> None:
    async with connect(ws_address(server)) as socket, controlling(server) as people:
        await server.team.until(lambda: server.team.connections.counts() == {"ada": 1})

        dropped = await people.post("/drop", json={"agent": "ada", "code": 4001})

        with pytest.raises(ConnectionClosed):
            await socket.recv()
        assert socket.close_code == 4001
    assert dropped.json() == {"sockets": 1}


async def test_faults_are_set_and_taken_back(server: LocalTeamServer) -> None:
    fault = {"tool": "list_agents", "call": "all", "kind": "error"}
    async with controlling(server) as people, calling(server) as caller:
        await people.post("/faults", json={"faults": [fault]})
        with pytest.raises(CallRefusedError):
            await caller.call("list_agents", {})

        await people.post("/faults", json={"faults": []})

        assert await caller.call("list_agents", {})


async def test_a_change_without_a_frame_shows_in_the_state(server: LocalTeamServer) -> None:
    async with controlling(server) as people, calling(server) as caller:
        change = {"tickets": [{"id": 5, "status": "done"}]}
        await people.post("/merge", json={"team": change})
        await caller.call("post_message", {"channel_id": 10, "content": "Seen."})

        state = (await people.get("/state")).json()

    assert state["team"]["tickets"][0]["status"] == "done"
    assert [post["content"] for post in state["written"]["posts"]] == ["Seen."]
    assert state["calls"]["post_message"] == 1
    assert state["frames"] == []
    assert not any(key in str(state) for key in server.api_keys.values())


@pytest.mark.parametrize(
    ("order", "body", "words"),
    [
        ("say", {"person": 1, "channel_id": 10, "content": "x", "extra": 1}, "extra"),
        ("say", {"person": 9, "channel_id": 10, "content": "x"}, "no person 9"),
        ("say", {"person": 1, "channel_id": 99, "content": "x"}, "channel not found"),
        ("say", {"channel_id": 10, "content": "x"}, "person"),
        ("assign", {"ticket_id": 5}, "agent_id"),
        ("assign", {"ticket_id": 99, "agent_id": 7}, "no ticket 99"),
        ("assign", {"ticket_id": 5, "agent_id": 99}, "no agent 99"),
        ("ticket", {"ticket": {"title": "x"}}, "id"),
        ("ticket", {"ticket": {"id": 5, "colour": "red"}}, "colour"),
        ("merge", {"team": {"teams": []}}, "teams"),
        ("frame", {"agent": "eve", "text": "x"}, "eve"),
        ("frame", {}, "exactly one"),
        ("frame", {"text": "x", "times": 0}, "times"),
        ("drop", {"code": 5}, "code"),
        ("faults", {"faults": [{"tool": "fly", "call": 1, "kind": "http"}]}, "fly"),
        ("say", ["a list"], "object"),
    ],
)
async def test_a_slip_is_named_and_changes_nothing(
    server: LocalTeamServer, order: str, body: object, words: str
) -> None:
    before = server.team.report()

    async with controlling(server) as people:
        answer = await people.post(f"/{order}", json=body)

    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert server.team.report() == before


async def test_a_body_that_is_no_json_is_a_bad_request(server: LocalTeamServer) -> None:
    async with controlling(server) as people:
        answer = await people.post("/say", content=b"{")

    assert answer.status_code == 400


@pytest.mark.parametrize("token", [None, "", "wrong", "ключ".encode()])
async def test_nobody_comes_in_without_the_token(
    server: LocalTeamServer, token: str | bytes | None
) -> None:
    headers = {} if token is None else {"x-control-token": token}
    async with httpx.AsyncClient(base_url=server.control_url, headers=headers) as stranger:
        answers = [await stranger.post("/drop", json={}), await stranger.get("/state")]

    assert [answer.status_code for answer in answers] == [401, 401]
