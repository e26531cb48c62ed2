"""What the team's tools promise, whoever serves them: the shapes that the client reads."""

import copy
from collections.abc import Mapping
from typing import Any, cast

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.errors import BadInputError, CallRefusedError
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.team.tools import TOOLS
from ov_es_adapters.team.world import TeamWorld

ADA = AgentIdentity(id=7, identifier="ada", name="Ada")
TEAM: dict[str, Any] = {
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
            "description": "It forgets the name.",
            "status": "todo",
            "agent_id": 7,
            "priority": "high",
            "updated_at": "2026-01-01T00:00:00Z",
        }
    ],
    "messages": [
        {"id": 100, "channel_id": 10, "parent_id": None, "person": 1, "content": "@Ada status?"},
        {"id": 101, "channel_id": 10, "parent_id": 100, "agent": 8, "content": "@ada, I wait too"},
        {"id": 102, "channel_id": 10, "parent_id": None, "person": 1, "content": "@Bob lunch?"},
    ],
}


def _world(**lists: object) -> TeamWorld:
    return TeamWorld(copy.deepcopy({**TEAM, **lists}), ADA)


def _call(world: TeamWorld, tool: str, *, now: float = 1.0, **arguments: object) -> dict[str, Any]:
    answer = world.call(tool, arguments, agent=ADA.id, now=now, by="run")
    return cast("dict[str, Any]", answer)


class InProcess:
    """The world as a `ToolCaller`."""

    def __init__(self, world: TeamWorld) -> None:
        self.world = world

    async def advertised(self, *, refresh: bool = False) -> frozenset[str]:
        del refresh
        return self.world.tools

    async def call(self, tool: str, arguments: Mapping[str, object]) -> object:
        return self.world.call(tool, arguments, agent=7, now=1.0, by="watcher")


async def test_the_client_reads_all_that_the_world_answers() -> None:
    world = _world()
    client = TeamClient(InProcess(world))

    agents = await client.agents()
    projects = await client.projects()
    ticket = await client.ticket(1, 5)
    thread = await client.thread(10, 100)
    mentions = await client.activity(at=9.0)
    posted = await client.post(10, 100, "It's in review.")
    changed = await client.update_ticket(1, 5, {"status": "in_review"})

    assert [agent.identifier for agent in agents] == ["bob", "ada"]
    assert [(project.id, project.channel_id) for project in projects] == [(1, 10)]
    assert await client.project_channel(1) == 10
    assert (ticket.slug, ticket.agent_identifier, ticket.agent_id) == ("COR-5", "ada", 7)
    assert [(m.id, m.is_agent, m.author_name) for m in thread] == [
        (100, False, "Maya"),
        (101, True, "Bob"),
    ]
    assert [arrival.source for arrival in mentions] == ["mention:10:100", "mention:10:101"]
    assert [m.id for m in await client.thread(10, 100)] == [100, 101, posted]
    assert changed is not None
    assert changed.is_in_review
    assert changed.revision != ticket.revision
    assert await client.comment(1, 5, "Blocked.")
    assert world.comments[0]["content"] == "Blocked."


def test_a_post_is_in_its_thread_and_on_record() -> None:
    world = _world()

    message = _call(world, "post_message", now=4.5, channel_id=10, parent_id=100, content="Hi")

    posted = message["message"]
    thread = _call(world, "list_message_thread", channel_id=10, parent_id=100)["messages"]
    assert thread[-1] == posted
    assert posted["sender"] == {"id": 7, "name": "Ada", "kind": "agent", "identifier": "ada"}
    assert posted["created_at"] == "2026-01-01T00:00:04.500Z"
    assert world.posts == (
        {
            "at": 4.5,
            "id": posted["id"],
            "channel_id": 10,
            "parent_id": 100,
            "content": "Hi",
            "by": "run",
        },
    )


def test_the_top_of_a_channel_is_what_is_in_no_thread() -> None:
    messages = _call(_world(), "list_message_thread", channel_id=10)["messages"]

    assert [message["id"] for message in messages] == [100, 102]


def test_an_answer_to_a_reply_goes_to_the_reply_s_thread() -> None:
    world = _world()

    posted = _call(world, "post_message", channel_id=10, parent_id=101, content="Hi")["message"]

    assert posted["parent_id"] == 100


def test_activity_is_the_last_fifty_mentions_by_others_newest_last() -> None:
    many = [
        {"id": n, "channel_id": 10, "parent_id": None, "person": 1, "content": f"@Ada {n}"}
        for n in range(200, 260)
    ]
    world = _world(messages=many)
    _call(world, "post_message", channel_id=10, content="I am @ada")

    activity = _call(world, "list_activity")["activity"]

    assert [entry["message"]["id"] for entry in activity] == list(range(210, 260))
    assert {entry["kind"] for entry in activity} == {"mention"}


def test_each_change_of_a_ticket_gives_it_a_later_time_at_whatever_moment() -> None:
    world = _world()
    times = []

    for now in (10.0, 10.0, 3.0):
        ticket = _call(
            world, "update_ticket", now=now, project_id=1, ticket_id=5, status="in_progress"
        )["ticket"]
        times.append(ticket["updated_at"])

    assert times == sorted(set(times))


def test_an_update_keeps_what_it_says_beyond_the_ticket_s_fields() -> None:
    world = _world()

    _call(world, "update_ticket", project_id=1, ticket_id=5, status="in_review", evidence="PR 12")

    ticket = _call(world, "get_ticket", project_id=1, ticket_id=5)["ticket"]
    assert (ticket["status"], ticket["evidence"]) == ("in_review", "PR 12")
    assert world.updates[0]["fields"] == {"status": "in_review", "evidence": "PR 12"}


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("reply", {}, "unknown tool: reply"),
        ("get_ticket", {"project_id": 1}, "the argument ticket_id is missing"),
        ("get_ticket", {"project_id": 1, "ticket_id": 6}, "ticket not found"),
        ("get_ticket", {"project_id": 2, "ticket_id": 5}, "ticket not found"),
        ("get_ticket", {"project_id": True, "ticket_id": 5}, "project_id must be an id"),
        ("list_tasks", {"project_id": 2}, "project not found"),
        ("list_agents", {"page": 2}, "unknown argument 'page'"),
        ("update_ticket", {"project_id": 1, "ticket_id": 5}, "no field to change"),
        ("update_ticket", {"project_id": 1, "ticket_id": 5, "status": 3}, "status must be a text"),
        ("update_ticket", {"project_id": 1, "ticket_id": 5, "agent_id": 9}, "no agent 9"),
        ("update_ticket", {"project_id": 1, "ticket_id": 5, "id": 9}, "id can't be set"),
        ("post_message", {"channel_id": 11, "content": "Hi"}, "channel not found"),
        ("post_message", {"channel_id": 10, "content": " "}, "content must be a text"),
        ("post_message", {"channel_id": 10, "parent_id": 9, "content": "Hi"}, "thread not found"),
        ("list_message_thread", {"channel_id": 10, "parent_id": 9}, "thread not found"),
        ("react_message", {"message_id": 9, "emoji": "👍"}, "message not found"),
    ],
)
def test_a_call_that_cannot_be_right_is_refused_and_changes_nothing(
    tool: str, arguments: dict[str, object], reason: str
) -> None:
    world = _world()
    before = world.snapshot()

    with pytest.raises(CallRefusedError, match=reason):
        world.call(tool, arguments, agent=7, now=1.0, by="run")

    assert world.snapshot() == before


def test_people_s_changes_are_merged_by_id_and_change_the_revision() -> None:
    world = _world()

    world.merge({"tickets": [{"id": 5, "agent_id": 8}], "people": [{"id": 2, "name": "Sam"}]})

    ticket = _call(world, "get_ticket", project_id=1, ticket_id=5)["ticket"]
    assert ticket["agent"] == {"id": 8, "identifier": "bob"}
    assert ticket["title"] == "Fix the login form"
    assert ticket["updated_at"] == "2026-01-01T00:00:00.001Z"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"tickts": []}, "unknown field 'tickts'"),
        ({"tickets": [{"id": 5, "slugg": "x"}]}, r"tickets\[0\]: unknown field 'slugg'"),
        ({"tickets": [{"id": 6}]}, r"tickets\[0\]: the field 'project_id' is missing"),
        ({"tickets": [{"slug": "x"}]}, r"tickets\[0\]: the field 'id' is missing"),
        ({"tickets": [{"id": 5, "updated_at": "noon"}]}, r"tickets\[0\].updated_at: must be a"),
        ({"tickets": [{"id": 5}, {"id": 5}]}, r"tickets\[1\].id: 5 is there twice"),
        ({"messages": [{"id": 9, "channel_id": 10, "content": ""}]}, "exactly one of person and"),
        ({"messages": [{"id": 100, "person": 2}]}, "of somebody else"),
        ({"messages": ["Hi"]}, r"messages\[0\]: must be an object"),
        ({"agents": [{"id": 9, "identifier": "bob"}]}, "two of them are 'bob'"),
        ({"people": {}}, "team.people: must be a list"),
    ],
)
def test_a_slip_in_a_change_is_named_and_changes_nothing(
    change: dict[str, object], place: str
) -> None:
    world = _world()
    before = world.snapshot()

    with pytest.raises(BadInputError, match=place):
        world.merge({"people": [{"id": 3, "name": "Kim"}], **change})

    assert world.snapshot() == before


@pytest.mark.parametrize(
    "agents",
    [
        [{"id": 9, "identifier": "ada", "name": "Ada"}],
        [{"id": 7, "identifier": "bob", "name": "Bob"}],
    ],
)
def test_an_agent_of_two_ids_or_an_id_of_two_agents_is_refused(agents: list[object]) -> None:
    with pytest.raises(BadInputError, match="has the id"):
        _world(agents=agents)


def test_an_agent_without_an_id_gets_one() -> None:
    world = TeamWorld(TEAM, AgentIdentity(identifier="ada"))

    world.call("post_message", {"channel_id": 10, "content": "Hi"}, agent=None, now=1.0, by="run")

    assert world.own_id == 9
    assert len(world.posts) == 1


def test_what_is_posted_does_not_take_the_id_of_what_people_say_later() -> None:
    world = _world()
    _call(world, "post_message", channel_id=10, content="Hi")

    world.merge(
        {"messages": [{"id": 103, "channel_id": 10, "person": 1, "content": "Later"}]}, now=2.0
    )

    assert world.message(103)["content"] == "Later"
    assert world.posts[0]["content"] == "Hi"


_TEXTS = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text.strip() != "")
_STEPS = st.one_of(
    st.tuples(
        st.just("post_message"),
        st.fixed_dictionaries(
            {"channel_id": st.just(10), "content": _TEXTS},
            optional={"parent_id": st.sampled_from([100, 101, 102])},
        ),
    ),
    st.tuples(
        st.just("update_ticket"),
        st.fixed_dictionaries({"project_id": st.just(1), "ticket_id": st.just(5), "note": _TEXTS}),
    ),
    st.tuples(
        st.just("react_message"),
        st.fixed_dictionaries({"message_id": st.just(100), "emoji": _TEXTS}),
    ),
)


@given(st.lists(_STEPS, max_size=8))
def test_a_world_restored_from_json_is_the_same_world(
    steps: list[tuple[str, dict[str, object]]],
) -> None:
    world = _world()
    for at, (tool, arguments) in enumerate(steps):
        _call(world, tool, now=float(at), **arguments)

    restored = TeamWorld.restored(orjson.loads(orjson.dumps(world.snapshot())), ADA)

    assert restored.snapshot() == world.snapshot()
    for tool in ("list_activity", "list_agents", "list_projects"):
        assert _call(restored, tool) == _call(world, tool)


def test_a_state_that_this_program_did_not_write_is_refused() -> None:
    with pytest.raises(BadInputError, match="written"):
        TeamWorld.restored({"team": {}, "written": {"posts": [{"id": 1}]}}, ADA)


def test_every_tool_has_a_closed_schema_of_objects() -> None:
    for name, tool in TOOLS.items():
        assert tool.schema["type"] == "object"
        assert tool.schema["additionalProperties"] is (name == "update_ticket")
        assert tool.says
