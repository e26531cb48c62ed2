"""RC: a look at the whole team, and what follows from it."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from tests.adapters.mcp.scripted_server import (
    Answer,
    Asked,
    Cut,
    ScriptedServer,
    http,
    result,
)
from tests.rules.rc_scenes import (
    ROOT,
    Noon,
    NotedTeam,
    Process,
    arrivals,
    looks,
    message,
    outcomes,
    queued,
    ticket,
)

from ov_es_adapters.errors import CallUnknownError
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.mcp.tool_caller import McpToolCaller
from ov_es_domain.signal.arrival import Via
from ov_es_domain.ticket.commands import BlockTicket, PauseTicket, ReleaseTicket, StartTicket

FIVE = "ticket:1:5"


@pytest.fixture
def log() -> Iterator[EventLog]:
    with closing(open_log("sqlite:///:memory:")) as opened:
        yield opened


# --- how it looks --------------------------------------------------------------------------------


async def test_rc_3_looks_never_overlap_and_what_is_asked_meanwhile_is_one_more(
    log: EventLog,
) -> None:
    team = NotedTeam()
    team.gate = asyncio.Event()
    process = Process(log, team)

    async with process.running() as reconciliation:
        reconciliation.request("connection")
        await team.is_asked.wait()
        for _ in range(3):
            reconciliation.request("connection")
            await asyncio.sleep(0)
        team.gate.set()
        await reconciliation.finished()

    assert team.tools.count("list_agents") == 2
    assert team.looking_most == 1
    assert process.caught_up == 1


async def test_rc_3_a_project_that_cannot_be_listed_hides_no_other(log: EventLog) -> None:
    two = [{"id": 1, "name": "Core", "channel_id": 10}, {"id": 2, "name": "Site"}]
    team = NotedTeam(projects=two, tickets=[ticket(5, project_id=2, slug="SIT-5")])
    team.closed_projects = frozenset({1})

    await Process(log, team).look()

    assert queued(log) == ["ticket:2:5"]
    assert "project 1 is closed to you" in looks(log)[0].problem


@pytest.mark.parametrize("failure", [CallUnknownError("list_tasks", "no answer"), KeyError("x")])
async def test_rc_3_a_look_that_fails_ends_and_the_next_one_starts_clean(
    log: EventLog, failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    """A failed call is told by the log, a defect of ours by the program's own messages."""
    team = NotedTeam(tickets=[ticket(5)])
    team.lies["list_tasks"] = failure
    process = Process(log, team)
    await process.look()

    assert queued(log) == []
    told = [each.problem for each in looks(log)] + [record.message for record in caplog.records]
    assert any("list_tasks" in each or "a defect" in each for each in told)

    team.lies.clear()
    await process.look()

    assert queued(log) == [FIVE]


async def test_rc_4_a_look_that_fails_leaves_the_session_and_its_calls_alone(
    log: EventLog,
) -> None:
    release = asyncio.Event()

    async def handle(asked: Asked) -> Answer:
        match asked.params["name"]:
            case "list_projects":
                return Cut(http(200, b'{"jsonrpc"')[:-5])
            case "get_ticket":
                await release.wait()
        return result(asked, {"structuredContent": {"agents": []}})

    async with ScriptedServer() as server:
        server.on["tools/call"] = handle
        caller = McpToolCaller(server.url, "key-of-ada", "ada", clock=Noon())
        reading = asyncio.create_task(caller.call("get_ticket", {}))
        await server.until("tools/call", 1)

        await Process(log, caller).look()
        release.set()

        assert await reading == {"agents": []}
        assert "list_projects" in looks(log)[0].problem
        assert (server.sessions, server.of("DELETE")) == (1, [])
        await caller.aclose()


async def test_rc_5_it_reads_who_we_are_the_projects_their_tasks_and_the_activity(
    log: EventLog,
) -> None:
    team = NotedTeam(
        projects=[{"id": 1, "name": "Core", "channel_id": 10}, {"id": 2, "name": "Site"}]
    )

    await Process(log, team).look()

    assert team.calls == [
        ("list_agents", {}),
        ("list_projects", {}),
        ("list_tasks", {"project_id": 1}),
        ("list_tasks", {"project_id": 2}),
        ("list_activity", {}),
    ]


# --- tickets -------------------------------------------------------------------------------------


async def test_rc_6_only_what_is_ours_and_open_is_taken_up(log: EventLog) -> None:
    team = NotedTeam(
        tickets=[
            ticket(1, agent_id=8),
            ticket(2, agent_id=None),
            ticket(3, status="Done"),
            ticket(4, status="in review"),
            ticket(5),
        ]
    )

    await Process(log, team).look()

    assert outcomes(log) == [(FIVE, "accepted", "assigned")]


@pytest.mark.parametrize(
    ("change", "is_taken_up"),
    [({}, False), ({"updated_at": "2026-01-02T00:00:00Z"}, True)],
)
async def test_rc_6_a_paused_ticket_waits_until_people_change_it(
    log: EventLog, change: dict[str, str], *, is_taken_up: bool
) -> None:
    team = NotedTeam(tickets=[ticket(5)])
    process = Process(log, team)
    await process.look()
    revision = process.ledger.view.ticket(FIVE).revision
    await process.say(FIVE, PauseTicket(reason="evidence-missing", revision=revision))
    team.world.merge({"tickets": [{"id": 5, **change}]} if change else {})

    await process.look()

    assert queued(log) == [FIVE] * (1 + is_taken_up)


@pytest.mark.parametrize(
    ("root", "roots", "is_freed"),
    [(ROOT, (ROOT,), True), (ROOT, ("/src/site",), False), (None, (ROOT,), False)],
)
async def test_rc_6_a_blocked_ticket_is_freed_once_its_repository_is_authorized(
    log: EventLog, root: str | None, roots: tuple[str, ...], *, is_freed: bool
) -> None:
    team = NotedTeam(tickets=[ticket(5)])
    process = Process(log, team)
    await process.look()
    await process.say(FIVE, BlockTicket(reason="policy", root=root))

    await Process(log, team, roots=roots).look()

    assert queued(log) == [FIVE] * (1 + is_freed)


async def test_rc_7_the_most_urgent_first_then_the_longest_unchanged(log: EventLog) -> None:
    late, early = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
    listed = [
        ticket(1, priority="whenever", updated_at=early),
        ticket(2, priority="Low", updated_at=early),
        ticket(3, priority="medium", updated_at=early),
        ticket(4, priority="high", updated_at=late),
        ticket(5, priority="HIGH", updated_at=early),
        ticket(6, priority="high", updated_at=early),
        ticket(7, priority="critical", updated_at=late),
    ]
    team = NotedTeam(tickets=listed)
    # The team in memory gives each ticket a time, so a list without one has to be told.
    timeless = [{**each, "updated_at": None} if each["id"] == 6 else each for each in listed]
    team.lies["list_tasks"] = {"tasks": timeless}

    await Process(log, team).look()

    assert queued(log) == [f"ticket:1:{number}" for number in (7, 6, 5, 4, 3, 2, 1)]


async def test_rc_8_every_candidate_is_verified_like_one_from_the_socket(log: EventLog) -> None:
    team = NotedTeam(tickets=[ticket(4), ticket(5), ticket(6, agent_id=8)])
    # The list is older than the truth: it still shows the third one as ours.
    team.lies["list_tasks"] = {"tasks": [ticket(4), ticket(5), ticket(6)]}

    await Process(log, team).look()

    read = [given["ticket_id"] for tool, given in team.calls if tool == "get_ticket"]
    assert read == [4, 5, 6]
    assert outcomes(log) == [
        ("ticket:1:4", "accepted", "assigned"),
        (FIVE, "accepted", "assigned"),
        ("ticket:1:6", "refused", "not-ours"),
    ]
    assert {arrival.via for arrival in arrivals(log)} == {Via.RECONCILIATION}


@pytest.mark.parametrize("is_running", [False, True])
async def test_rc_9_what_is_queued_or_running_is_left_out(
    log: EventLog, *, is_running: bool
) -> None:
    team = NotedTeam(tickets=[ticket(5)])
    process = Process(log, team)
    await process.look()
    if is_running:
        await process.say(FIVE, StartTicket(turn="turn:ticket:1:5:1", execution="run-1"))
    team.calls.clear()

    await process.look()

    assert "get_ticket" not in team.tools
    assert outcomes(log) == [(FIVE, "accepted", "assigned")]


async def test_rc_10_an_unchanged_team_queues_nothing_and_what_was_lost_is_taken_up(
    log: EventLog,
) -> None:
    """RC-11: nothing of it is in memory, so a new process takes it up as well."""
    team = NotedTeam(tickets=[ticket(number) for number in (3, 4, 5)])
    process = Process(log, team)
    await process.look(times=3)
    assert queued(log) == ["ticket:1:3", "ticket:1:4", FIVE]
    revision = process.ledger.view.ticket("ticket:1:4").revision
    await process.say("ticket:1:3", BlockTicket(reason="policy", root=ROOT))
    await process.say("ticket:1:4", PauseTicket(reason="time-limit", revision=revision))
    await process.say(FIVE, ReleaseTicket(reason="ticket-unreadable"))

    await Process(log, team).look(times=3)

    assert queued(log) == ["ticket:1:3", "ticket:1:4", FIVE, FIVE]


# --- mentions ------------------------------------------------------------------------------------


async def test_rc_12_each_mention_that_was_missed_goes_the_road_of_one_from_the_socket(
    log: EventLog,
) -> None:
    """However many there are; WS-17: on both roads the same one is the same."""
    said = [message(number) for number in range(100, 140)]
    team = NotedTeam(messages=[*said, message(140, "@Bob hello")])
    process = Process(log, team)

    await process.look(times=2)

    assert [source for source, outcome, _ in outcomes(log) if outcome == "accepted"] == [
        f"mention:10:{number}" for number in range(100, 140)
    ]
    assert len(queued(log)) == len(outcomes(log)) == 40
    first = replace(arrivals(log)[0], via=Via.SOCKET)
    await process.intake.take(first)
    assert outcomes(log)[-1] == ("mention:10:100", "suppressed", "duplicate")
    assert len(queued(log)) == 40


async def test_rc_13_an_empty_activity_makes_nothing_old_new_and_nothing_new_old(
    log: EventLog,
) -> None:
    team = NotedTeam(messages=[message(100)])
    process = Process(log, team)
    await process.look()
    team.lies["list_activity"] = {"activity": []}
    await process.look()
    del team.lies["list_activity"]
    team.world.merge({"messages": [message(101)]})

    await process.look()

    assert queued(log) == ["mention:10:100", "mention:10:101"]


async def test_rc_14_without_an_activity_list_the_rest_is_done_all_the_same(
    log: EventLog,
) -> None:
    team = NotedTeam(tickets=[ticket(5)], messages=[message(100)])
    team.unlisted = frozenset({"list_activity"})

    await Process(log, team).look()

    assert queued(log) == [FIVE]
    assert "list_activity" not in team.tools
    assert [each.problem for each in looks(log)] == [""]


async def test_rc_14_an_activity_list_that_fails_leaves_the_tickets_alone(log: EventLog) -> None:
    team = NotedTeam(tickets=[ticket(5)])
    team.lies["list_activity"] = CallUnknownError("list_activity", "no answer")

    await Process(log, team).look()

    assert queued(log) == [FIVE]
    assert "list_activity" in looks(log)[0].problem
