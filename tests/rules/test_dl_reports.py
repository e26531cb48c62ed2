"""DL-16 to DL-22: the completion report, which is owed from the moment a ticket is queued."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from tests.rules.dl_scenes import (
    EDIT,
    FIRST,
    IN_REVIEW,
    LEFT_OPEN,
    READ,
    SAID,
    SECOND,
    TOLD,
    changed,
    contents,
    reasons,
    reports,
    run,
)
from tests.rules.rc_scenes import NotedTeam, Process, ticket
from tests.rules.scenes import assigned, day, frame, lived

from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_domain.delivery.events import DeliveryOwed
from ov_es_domain.signal.events import SignalRefused
from ov_es_domain.turn.events import TurnQueued, TurnStarted

SLOT = f"report:1:5:{FIRST}"
KEY = f"delivery:{SLOT}"
WORK = run(READ, EDIT, IN_REVIEW, SAID)
FRUITLESS = run(READ, IN_REVIEW, SAID)
CHANGED = " Changed: login.py. Nothing of that is committed."


@pytest.fixture
def log() -> Iterator[EventLog]:
    with closing(open_log("sqlite:///:memory:")) as opened:
        yield opened


# --- owed ----------------------------------------------------------------------------------------


def test_dl_16_a_report_is_owed_from_the_commit_that_queues_the_work() -> None:
    told = day(assigned(1, 5), until=15, tickets=[ticket(5)], runs=[WORK])

    kinds = [type(event.body) for event in told.events]
    owed, queued = kinds.index(DeliveryOwed), kinds.index(TurnQueued)
    assert told.events[owed].at == told.events[queued].at
    assert max(owed, queued) < kinds.index(TurnStarted)
    assert reports(told) == [f"1:5:{FIRST} owed"]


def test_dl_16_coordination_owes_none() -> None:
    asked = ticket(5, title="Ask Bob about the date", description="")

    told = day(assigned(1, 5), tickets=[asked])

    assert "ticket:1:5" in {e.body.source for e in told.events if isinstance(e.body, TurnQueued)}
    assert reports(told) == []


# --- redeemed ------------------------------------------------------------------------------------


def test_dl_17_after_the_run_it_goes_to_the_top_of_the_projects_channel() -> None:
    told = lived(assigned(1, 5), tickets=[ticket(5)], runs=[WORK])

    [post] = told["posts"]
    assert (post["channel_id"], post["parent_id"], post["delivery"]) == (10, None, SLOT)
    assert post["content"] == TOLD + CHANGED


@pytest.mark.parametrize("has_frame", [True, False])
def test_dl_17_a_ticket_that_is_done_later_is_reported_with_what_the_run_had_shown(
    *, has_frame: bool
) -> None:
    """It's found by the news of it, else by the next look at the team, and no model runs again."""
    news = [frame(100, "task:updated", {"task": {"id": 5, "project_id": 1}})] if has_frame else []

    told = day(
        assigned(1, 5),
        changed(90, status="in_review"),
        *news,
        until=400,
        tickets=[ticket(5)],
        runs=[run(READ, EDIT, LEFT_OPEN, SAID)],
    )

    assert contents(told) == [TOLD + CHANGED]
    assert (told.truth.posts[0].at < 105) is has_frame


def test_dl_17_a_ticket_that_is_in_review_while_its_run_goes_on_is_reported_after_it() -> None:
    told = day(
        assigned(1, 5),
        {"at": 55, "disconnect": {"for": 2}},
        tickets=[ticket(5)],
        runs=[run(READ, EDIT, IN_REVIEW, *[{"shell": "make", "exit": 0}] * 4, SAID, takes=70)],
    )

    assert contents(told) == [TOLD + CHANGED]
    assert told.truth.posts[0].at > 70


def test_dl_17_a_ticket_that_waited_for_days_is_not_too_old_to_be_reported() -> None:
    days = 4 * 86_400.0

    told = day(
        assigned(1, 5),
        changed(days, status="in_review"),
        until=days + 400,
        tickets=[ticket(5)],
        runs=[run(READ, EDIT, LEFT_OPEN, SAID)],
    )

    assert contents(told) == [TOLD + CHANGED]


def test_dl_17_what_others_did_before_we_began_is_not_reported_as_ours() -> None:
    slow = run(READ, EDIT, IN_REVIEW, SAID, takes=60, source="ticket:1:6")

    told = day(
        assigned(1, 6),
        changed(5, updated_at=FIRST),
        assigned(6, 5),
        changed(30, status="done"),
        until=700,
        watch={"runtime": "scripted", "workdir": True, "concurrency": 1},
        tickets=[ticket(5, agent_id=None), ticket(6)],
        runs=[slow],
    )

    assert [said[:19] for said in contents(told)] == ["I've finished COR-6"]
    [theirs] = [key for key in reports(told) if key.startswith("1:5:")]
    key, state = theirs.rsplit(" ", 1)
    assert state == "suppressed"
    assert reasons(told, f"delivery:report:{key}") == ["none-of-our-work"]


# --- once ----------------------------------------------------------------------------------------


def test_dl_18_a_report_is_told_once_over_restarts_and_looks() -> None:
    told = day(
        assigned(1, 5),
        {"at": 60, "crash": True},
        {"at": 70, "restart": True},
        {"at": 400, "disconnect": {"for": 20}},
        {"at": 800, "restart": True},
        until=1600,
        tickets=[ticket(5)],
        runs=[WORK],
    )

    assert contents(told) == [TOLD + CHANGED]


@pytest.mark.parametrize("kind", ["crash_before", "crash_after", "timeout_after", "refused"])
def test_dl_18_a_report_that_went_wrong_is_made_up_for_without_another_run(kind: str) -> None:
    told = day(
        assigned(1, 5),
        until=900,
        tickets=[ticket(5)],
        runs=[WORK],
        faults=[{"tool": "post_message", "call": 1, "kind": kind}],
    )

    assert contents(told) == [TOLD + CHANGED]
    assert sum(isinstance(event.body, TurnStarted) for event in told.events) == 1


def test_dl_18_a_run_that_nobody_saw_the_end_of_is_not_repeated_and_not_vouched_for() -> None:
    told = day(
        assigned(1, 5),
        {"at": 55, "crash": True},
        {"at": 70, "restart": True},
        until=900,
        tickets=[ticket(5)],
        runs=[run(READ, EDIT, IN_REVIEW, *[{"shell": "make", "exit": 0}] * 4, SAID, takes=70)],
    )

    [said] = contents(told)
    assert said == (
        "COR-5 (Fix the login form) is now in review. I worked on it, but I was cut short before"
        " I could check what came of that."
    )
    assert sum(isinstance(event.body, TurnStarted) for event in told.events) == 1


def test_dl_18_work_that_begins_anew_owes_one_report_and_not_two() -> None:
    told = day(
        assigned(1, 5),
        changed(100, description="In login.py."),
        until=2000,
        tickets=[ticket(5)],
        runs=[run(READ, SAID), run(READ, SAID), WORK],
    )

    assert reports(told) == [f"1:5:{FIRST} suppressed", f"1:5:{SECOND} delivered"]
    assert reasons(told, KEY) == ["superseded"]
    assert contents(told)[1:] == [TOLD + CHANGED]


# --- what it says --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slug", "named"), [("COR-9", "COR-9 (Fix the login form)"), ("", "Fix the login form")]
)
def test_dl_19_it_names_the_ticket_as_people_do_and_never_by_its_id(slug: str, named: str) -> None:
    told = day(
        assigned(1, 4711),
        tickets=[ticket(4711, slug=slug)],
        runs=[run(READ, EDIT, IN_REVIEW, SAID, source="ticket:1:4711")],
    )

    [said] = contents(told)
    assert said.startswith(f"I've finished {named}, now in review. Fixed in PR 12.")
    assert "4711" not in said


def test_dl_19_what_no_run_could_show_is_not_reported_as_finished() -> None:
    """People have been told already that we couldn't show it."""
    told = day(assigned(1, 5), until=900, tickets=[ticket(5)], runs=[FRUITLESS, FRUITLESS])

    [said] = contents(told)
    assert "I don't claim that it's done" in said
    assert reasons(told, KEY) == ["work-not-shown"]


# --- not told ------------------------------------------------------------------------------------


def test_dl_20_the_report_of_a_ticket_that_was_given_away_is_dropped() -> None:
    told = day(
        assigned(1, 5),
        changed(100, agent_id=8),
        changed(500, agent_id=8, status="done"),
        until=1200,
        tickets=[ticket(5)],
        runs=[run(READ, EDIT, LEFT_OPEN, SAID)],
    )

    assert contents(told) == []
    assert reasons(told, KEY) == ["handed-over"]


async def test_dl_20_a_ticket_that_comes_back_as_it_was_owes_a_report_again(
    log: EventLog,
) -> None:
    """Where the server names no time of change, its revision is that of the first time."""
    timeless = ticket(5)
    del timeless["updated_at"]
    caller = NotedTeam()
    process = Process(log, caller)

    for owner in (7, 8, 7):
        there = {**timeless, "agent_id": owner}
        caller.lies = {"get_ticket": {"ticket": there}, "list_tasks": {"tasks": [there]}}
        await process.look()

    states = [row["state"] for row in process.ledger.view.rows("deliveries", ticket="ticket:1:5")]
    assert states == ["abandoned", "owed"]
    assert process.ledger.view.ticket("ticket:1:5").state == "queued"


def test_dl_21_a_server_without_comments_gets_the_whole_report_and_no_more_runs() -> None:
    told = day(
        assigned(1, 5),
        until=900,
        tickets=[ticket(5)],
        runs=[WORK],
        faults=[{"tool": "comment_ticket", "call": "all", "kind": "unlisted"}],
    )

    assert contents(told) == [TOLD + CHANGED]
    assert sum(isinstance(event.body, TurnStarted) for event in told.events) == 1


def test_dl_22_without_a_channel_the_report_is_given_up_with_the_reason() -> None:
    told = day(
        assigned(1, 5),
        until=900,
        tickets=[ticket(5)],
        projects=[{"id": 1, "name": "Core"}],
        channels=[],
        runs=[WORK],
    )

    assert contents(told) == []
    assert reasons(told, KEY) == ["no-channel"]


def test_dl_22_a_channel_that_cannot_be_read_now_is_not_one_that_is_missing() -> None:
    """DL-1: its place is fixed when it's accepted, so the ticket waits for the next look."""
    away = [{"tool": "list_channels", "call": 1}, {"tool": "list_projects", "call": 2}]

    told = day(
        until=700,
        tickets=[ticket(5)],
        runs=[WORK],
        faults=[{**fault, "kind": "refused"} for fault in away],
    )

    refused = [e.body.reason for e in told.events if isinstance(e.body, SignalRefused)]
    assert refused == ["channel-unreadable"]
    assert contents(told) == [TOLD + CHANGED]
