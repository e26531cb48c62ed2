"""The team's answers in every shape that they come in, and what's asked for them."""

import logging
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.errors import (
    CallRefusedError,
    CallUnknownError,
    PeerRefusedError,
    ToolCallError,
    ToolNotAdvertisedError,
)
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.mcp.ticket_reading import read_ticket
from ov_es_adapters.mcp.wire_values import moment, rows
from ov_es_domain.policy.team_facts import ChannelFacts, ProjectFacts, TicketFacts
from ov_es_domain.signal.arrival import ArrivalKind, Via

CORE = (
    "list_agents",
    "list_projects",
    "list_tasks",
    "get_ticket",
    "update_ticket",
    "post_message",
)


Tools = frozenset[str] | Exception


class TeamOnPaper:
    """Answers calls from a table, and notes them."""

    def __init__(self, answers: Mapping[str, object], *, tools: Tools | None = None) -> None:
        self._answers = answers
        self._tools: Tools = frozenset([*CORE, *answers]) if tools is None else tools
        self.calls: list[tuple[str, dict[str, object]]] = []

    async def call(self, tool: str, arguments: Mapping[str, object]) -> object:
        self.calls.append((tool, dict(arguments)))
        answer = self._answers[tool]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def advertised(self, *, refresh: bool = False) -> frozenset[str]:
        del refresh
        if isinstance(self._tools, Exception):
            raise self._tools
        return self._tools


def team(**answers: object) -> TeamClient:
    return TeamClient(TeamOnPaper(answers))


TICKET: dict[str, object] = {
    "id": 5,
    "project_id": 1,
    "slug": "COR-5",
    "title": "Fix the login form",
    "description": "It\nbreaks",
    "status": "In Review",
    "priority": "High",
    "agent_id": 7,
    "agent": {"id": 7, "identifier": "ada"},
    "updated_at": "2026-01-01T00:00:00Z",
    "surprise": [],
}


async def test_a_ticket_is_read_as_the_backend_gives_it() -> None:
    caller = TeamOnPaper({"get_ticket": {"ticket": TICKET}})

    facts = await TeamClient(caller).ticket(1, 5)

    assert facts == TicketFacts(
        project_id=1,
        ticket_id=5,
        slug="COR-5",
        title="Fix the login form",
        description="It\nbreaks",
        status="In Review",
        is_completed=False,
        is_in_review=True,
        priority="High",
        revision="2026-01-01T00:00:00Z",
        agent_id=7,
        agent_identifier="ada",
        updated_at=1767225600.0,
    )
    assert caller.calls == [("get_ticket", {"project_id": 1, "ticket_id": 5})]


@pytest.mark.parametrize(
    "answer", [{"ticket": TICKET}, {"task": TICKET}, TICKET, {"ticket": None, **TICKET}]
)
async def test_tk_2_the_ticket_is_ticket_else_task_else_the_answer(answer: object) -> None:
    facts = await team(get_ticket=answer).ticket(1, 5)

    assert facts.slug == "COR-5"


@pytest.mark.parametrize("answer", ["ok", None, [], {}, {"ticket": {"id": 6, "project_id": 1}}])
async def test_an_answer_about_no_ticket_or_another_is_a_failure(answer: object) -> None:
    with pytest.raises(CallUnknownError):
        await team(get_ticket=answer).ticket(1, 5)


@pytest.mark.parametrize(
    ("fields", "owner"),
    [
        ({"agent_id": "7", "agent": {"id": 8}}, (7, "")),
        ({"agentId": 7}, (7, "")),
        ({"agent": {"id": 7, "identifier": "ada"}}, (7, "ada")),
        ({"assigned_agent": {"id": "7", "identifier": "ada"}}, (7, "ada")),
        ({"agent_id": None, "agent": {"identifier": "ada"}}, (None, "ada")),
        ({"agent": "ada"}, (None, "")),
        ({}, (None, "")),
    ],
)
def test_tk_4_the_owner_is_found_where_it_is_first_named(
    fields: dict[str, object], owner: tuple[object, str]
) -> None:
    facts = read_ticket({"id": 5, "project_id": 1, **fields})

    assert facts is not None
    assert (facts.agent_id, facts.agent_identifier) == owner


@pytest.mark.parametrize(
    "status", ["Done", "COMPLETED", "closed", "resolved", "Cancelled", "canceled"]
)
def test_a_status_that_counts_as_completed(status: str) -> None:
    facts = read_ticket({"id": 5, "project_id": 1, "status": status})

    assert facts is not None
    assert (facts.is_completed, facts.is_in_review) == (True, False)


@pytest.mark.parametrize(
    "status",
    ["review", "in_review", "In Review", "awaiting-review", "Ready for review", "pendingReview"],
)
def test_a_status_that_counts_as_in_review(status: str) -> None:
    facts = read_ticket({"id": 5, "project_id": 1, "status": {"id": 3, "name": status}})

    assert facts is not None
    assert (facts.is_completed, facts.is_in_review) == (False, True)


@pytest.mark.parametrize("status", ["todo", "in progress", "blocked", "reviewing", "", "undone"])
def test_any_other_status_is_actionable(status: str) -> None:
    facts = read_ticket({"id": 5, "project_id": 1, "status": status})

    assert facts is not None
    assert (facts.is_completed, facts.is_in_review) == (False, False)


def test_without_a_time_of_change_the_revision_is_a_digest_that_our_status_leaves_alone() -> None:
    plain = {"id": 5, "project_id": 1, "title": "Fix", "agent_id": 7, "priority": "low"}

    same = read_ticket({**plain, "status": "in_review"})
    others = [
        read_ticket({**plain, name: value})
        for name, value in [("title", "Fx"), ("agent_id", 8), ("priority", "high"), ("body", "x")]
    ]

    first = read_ticket(plain)
    assert first is not None
    assert same is not None
    assert len(first.revision) == 64
    assert same.revision == first.revision
    assert len({first.revision, *(o.revision for o in others if o is not None)}) == 5


async def test_tk_29_a_ticket_without_a_slug_keeps_none() -> None:
    facts = await team(get_ticket={"id": 5, "project_id": 1, "title": "Fix"}).ticket(1, 5)

    assert (facts.slug, facts.title) == ("", "Fix")


LISTED = [{"id": "5"}, {"title": "no id"}, "noise"]


@pytest.mark.parametrize(
    "answer", [{"tasks": LISTED}, {"items": LISTED}, LISTED, {"data": {"tasks": LISTED}}]
)
async def test_tasks_are_read_from_every_kind_of_list(answer: object) -> None:
    caller = TeamOnPaper({"list_tasks": answer})

    found = await TeamClient(caller).tasks(1)

    assert [(facts.project_id, facts.ticket_id) for facts in found] == [(1, 5)]
    assert caller.calls == [("list_tasks", {"project_id": 1})]


@pytest.mark.parametrize("answer", ["", None, {}, {"count": 0}, 5])
async def test_an_answer_without_a_list_is_a_failure_and_no_empty_list(answer: object) -> None:
    client = team(list_message_thread=answer, list_tasks=answer, list_agents=answer)

    for asking in (client.thread(10, 100), client.tasks(1), client.agents()):
        with pytest.raises(CallUnknownError, match="no list of"):
            await asking


async def test_agents_and_projects_are_read() -> None:
    client = team(
        list_agents={"agents": [{"id": 7, "identifier": "ada", "name": "Ada"}, {"id": 8}]},
        list_projects=[{"id": 1, "name": "Core", "channel_id": 10}, {"id": "2", "title": "Side"}],
    )

    agents, projects = await client.agents(), await client.projects()

    assert [(a.id, a.identifier, a.name) for a in agents] == [(7, "ada", "Ada"), (8, "", "")]
    assert projects == [
        ProjectFacts(id=1, name="Core", channel_id=10),
        ProjectFacts(id=2, name="Side", channel_id=None),
    ]


THREAD = [
    {
        "id": 102,
        "channel_id": 10,
        "parent_id": 100,
        "content": "Done.\n",
        "sender": {"id": 7, "name": "Ada", "kind": "agent", "identifier": "ada"},
        "created_at": "2026-01-01T00:00:02Z",
    },
    {
        "id": 100,
        "parent_id": None,
        "content": "Status?",
        "sender": {"id": 7, "name": "Maya", "kind": "person"},
        "created_at": "2026-01-01T00:00:01Z",
    },
    {"id": 90, "parent_id": 80, "content": "elsewhere", "created_at": "2025-01-01T00:00:00Z"},
]


async def test_a_thread_is_what_belongs_to_it_oldest_first() -> None:
    caller = TeamOnPaper({"list_message_thread": {"messages": THREAD}})

    found = await TeamClient(caller).thread(10, 100)

    assert [(m.id, m.channel_id, m.parent_id, m.text) for m in found] == [
        (100, 10, None, "Status?"),
        (102, 10, 100, "Done.\n"),
    ]
    assert caller.calls == [("list_message_thread", {"channel_id": 10, "parent_id": 100})]


async def test_the_top_of_a_channel_is_a_thread_without_a_root() -> None:
    caller = TeamOnPaper({"list_message_thread": {"messages": THREAD}})

    found = await TeamClient(caller).thread(10, None)

    assert [m.id for m in found] == [100]
    assert caller.calls == [("list_message_thread", {"channel_id": 10})]


async def test_a_person_with_our_number_is_not_us() -> None:
    root, ours = await team(list_message_thread=THREAD).thread(10, 100)

    assert (root.is_agent, root.author_agent_id, root.author_name) == (False, None, "Maya")
    assert (ours.is_agent, ours.author_agent_id, ours.author_identifier) == (True, 7, "ada")


async def test_without_times_a_thread_keeps_the_servers_order() -> None:
    found = await team(list_message_thread=[{"id": 3}, {"id": 1, "created_at": 5}]).thread(
        10, None
    )

    assert [m.id for m in found] == [3, 1]


async def test_tk_30_the_channel_of_a_project_is_the_one_that_names_it() -> None:
    client = team(
        list_channels={"channels": [{"id": 9, "name": "all"}, {"id": 10, "project_id": "1"}]}
    )

    assert await client.project_channel(1) == 10
    assert (await client.channels())[1] == ChannelFacts(id=10, project_id=1, name="")


@pytest.mark.parametrize(
    "channels",
    [
        [],
        [{"id": 11, "project_id": 1}, {"id": 10, "project_id": 1}],
        ToolNotAdvertisedError("list_channels", "not-advertised"),
        CallUnknownError("list_channels", "no answer"),
    ],
)
async def test_tk_30_else_it_is_the_one_that_the_project_names(channels: object) -> None:
    client = team(list_channels=channels, list_projects=[{"id": 1, "channel_id": 10}])

    assert await client.project_channel(1) == 10


async def test_tk_30_a_project_without_a_channel_is_no_error() -> None:
    assert await team(list_channels=[], list_projects=[{"id": 1}]).project_channel(1) is None


@pytest.mark.parametrize("projects", [[{"id": 1}], CallUnknownError("list_projects", "silence")])
async def test_tk_30_a_channel_that_cannot_be_read_is_not_taken_for_none(projects: object) -> None:
    silent = CallUnknownError("list_channels", "silence")

    with pytest.raises(CallUnknownError, match="silence"):
        await team(list_channels=silent, list_projects=projects).project_channel(1)


async def test_rc_12_the_activity_gives_mentions_as_arrivals() -> None:
    said = {"id": 100, "content": "@Ada status?", "sender": {"id": 1, "name": "Maya"}}
    client = team(
        list_activity={
            "activity": [
                {"id": 1, "kind": "mention", "channel_id": 10, "message": said},
                {"id": 2, "kind": "task_assigned", "task": {"id": 5}},
            ]
        }
    )

    [arrival] = await client.activity(at=7.0)

    assert (arrival.kind, arrival.via, arrival.at) == (
        ArrivalKind.MENTION,
        Via.RECONCILIATION,
        7.0,
    )
    assert arrival.source == "mention:10:100"
    assert arrival.sender is not None
    assert arrival.sender.name == "Maya"


async def test_rc_14_without_an_activity_list_there_is_nothing_to_call() -> None:
    caller = TeamOnPaper({}, tools=frozenset(CORE))

    with pytest.raises(ToolNotAdvertisedError):
        await TeamClient(caller).activity(at=0.0)

    assert caller.calls == []


@pytest.mark.parametrize(
    ("answer", "message_id"),
    [
        ({"message": {"id": 101}}, 101),
        ({"id": "101"}, 101),
        ({"message_id": 101, "ok": True}, 101),
        ("posted", None),
        (None, None),
    ],
)
async def test_a_post_gives_the_id_where_there_is_one(answer: object, message_id: object) -> None:
    caller = TeamOnPaper({"post_message": answer})

    assert await TeamClient(caller).post(10, None, "Hello") == message_id

    assert caller.calls == [("post_message", {"channel_id": 10, "content": "Hello"})]


async def test_a_post_into_a_thread_names_its_root() -> None:
    caller = TeamOnPaper({"post_message": {"id": 101}})

    await TeamClient(caller).post(10, 100, "Hello")

    [(_, arguments)] = caller.calls
    assert arguments == {"channel_id": 10, "content": "Hello", "parent_id": 100}


async def test_an_update_gives_the_ticket_as_it_is_now() -> None:
    caller = TeamOnPaper({"update_ticket": {"ticket": TICKET}})

    facts = await TeamClient(caller).update_ticket(1, 5, {"status": "in_review"})

    assert facts is not None
    assert facts.is_in_review
    assert caller.calls[0][1] == {"project_id": 1, "ticket_id": 5, "status": "in_review"}


async def test_mcp_118_an_optional_tool_that_is_not_listed_is_not_called() -> None:
    caller = TeamOnPaper({}, tools=frozenset(CORE))

    outcome = await TeamClient(caller).comment(1, 5, "note")

    assert not outcome
    assert outcome.reason == "not-advertised"
    assert caller.calls == []


@pytest.mark.parametrize(
    "problem", [CallUnknownError("tools/list", "cut"), PeerRefusedError("no credentials")]
)
async def test_mcp_120_a_failed_discovery_is_warned_about_once_and_leaves_the_tool_out(
    problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    client = TeamClient(TeamOnPaper({}, tools=problem))

    outcomes = [await client.comment(1, 5, "note") for _ in range(3)]

    assert [bool(outcome) for outcome in outcomes] == [False] * 3
    assert outcomes[0].reason.startswith("not-advertised")
    assert len(caplog.records) == 1


async def test_mcp_119_a_tool_that_turns_out_to_be_unknown_counts_as_not_called() -> None:
    client = team(
        comment_ticket=ToolNotAdvertisedError("comment_ticket", "not-advertised: unknown")
    )

    outcome = await client.comment(1, 5, "note")

    assert (bool(outcome), outcome.reason) == (False, "not-advertised: unknown")


async def test_mcp_119_any_other_error_is_an_error() -> None:
    client = team(comment_ticket=CallRefusedError("comment_ticket", "no permission"))

    with pytest.raises(ToolCallError):
        await client.comment(1, 5, "note")


async def test_an_advertised_optional_tool_is_called() -> None:
    caller = TeamOnPaper({"comment_ticket": {}})

    assert await TeamClient(caller).comment(1, 5, "note")

    assert caller.calls == [
        ("comment_ticket", {"project_id": 1, "ticket_id": 5, "content": "note"})
    ]


async def test_mcp_117_missing_core_tools_are_named_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    client = TeamClient(TeamOnPaper({}, tools=frozenset(CORE[:-2])))

    await client.optional("comment_ticket")
    await client.optional("react_message")

    [record] = caplog.records
    assert record.getMessage() == "the team's server lacks post_message, update_ticket"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "tasks", "agent", "status", "updated_at", "title", "project"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_answer_makes_a_reader_fail(answer: object) -> None:
    found = rows(answer, "tasks") or []

    for row in found:
        facts = read_ticket(row, 1)
        assert facts is None or facts.revision


@given(st.one_of(st.floats(), st.integers(), st.text(), st.booleans(), st.none()))
def test_any_time_at_all_gives_seconds_or_nothing(value: object) -> None:
    found = moment(value)

    assert found is None or isinstance(found, float)


@pytest.mark.parametrize(
    "value",
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00", "2026-01-01T01:00:00+01:00", 1767225600,
     1767225600000, "1767225600", 1767225600.0],
)  # fmt: skip
def test_a_time_is_read_however_it_is_written(value: object) -> None:
    assert moment(value) == 1767225600.0
