"""BL: what people are told when a run couldn't do what it was for, and where."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from tests.rules.rc_scenes import NotedTeam, Process, message, ticket
from tests.rules.scenes import assigned, day, frame, lived, mention

from ov_es_adapters.daemon.consequences import blocker_steps
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_domain.delivery.commands import PlanDelivery
from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.observation import RunEnding, StreamOutcome
from ov_es_domain.policy.evidence import Judgement
from ov_es_domain.policy.wording import (
    describe,
    failure_notice,
    loop_notice,
    no_workspace_notice,
    push_note,
    push_notice,
)
from ov_es_domain.turn.kinds import Lane, Verdict
from ov_es_projections.history import MemoryHistory
from ov_es_projections.why import explain

REASONS = [
    *(f"run-{outcome.value}" for outcome in StreamOutcome if outcome is not StreamOutcome.OK),
    *("time-limit", "stalled", "could-not-start", "empty-answer"),
    *("crashed-too-often", "internal-error"),
]
SILENT: dict[str, object] = {"source": "mention:10:100", "takes": 4, "exit": 1, "does": []}
FRUITLESS: dict[str, object] = {
    "source": "ticket:1:5",
    "takes": 20,
    "does": [{"tool": "get_ticket"}, {"text": "Implemented and tested."}],
}
BLOCKED: dict[str, object] = {
    "source": "ticket:1:5",
    "takes": 20,
    "does": [{"tool": "get_ticket"}, {"policy_block": "/src/core"}],
}


@pytest.fixture
def log() -> Iterator[EventLog]:
    with closing(open_log("sqlite:///:memory:")) as opened:
        yield opened


def _failed(reason: str, *missing: str) -> Judgement:
    return Judgement(verdict=Verdict.FAILED, reason=reason, missing=missing)


def _told(day: dict[str, Any]) -> list[str]:
    return [post["content"] for post in day["posts"]]


# --- what is said --------------------------------------------------------------------------------


@pytest.mark.parametrize("lane", Lane)
@pytest.mark.parametrize("reason", [*REASONS, "evidence-missing", "no-change", "failed-actions"])
def test_bl_1_every_failure_is_told_in_the_first_person_and_claims_nothing(
    reason: str, lane: Lane
) -> None:
    said = failure_notice(_failed(reason, "x"), lane=lane, label="COR-5", recovered=False)

    assert said.startswith(("I ", "My "))
    assert "I don't claim that it's done" in said


@pytest.mark.parametrize("reason", REASONS)
def test_bl_1_no_ending_is_told_as_a_code(reason: str) -> None:
    assert not describe(reason).startswith("it ended as")


def test_bl_1_each_ending_of_a_process_is_among_the_reasons() -> None:
    codes = {ending.value for ending in RunEnding}

    assert codes == {"exited", "timed_out", "stalled", "stopped", "not_started"}, (
        "a new ending needs its words, and its place in this test"
    )


@pytest.mark.parametrize(
    "said",
    [push_notice("COR-5", "/src"), push_note(), loop_notice(), no_workspace_notice("COR-5")],
)
def test_bl_1_what_else_stops_us_is_told_in_the_first_person_too(said: str) -> None:
    assert said.startswith(("I'm ", "I've "))


def test_bl_12_the_notice_says_what_to_run_where_and_what_it_permits() -> None:
    said = push_notice("COR-5", "/src/core")

    assert "`ov-es authorize-pr-push` in /src/core" in said
    assert "once for this repository" in said
    assert "no main or master, no force, no other remote, no merge" in said
    assert "in the repository" in push_notice("COR-5", None)


@pytest.mark.parametrize(
    ("lane", "kind"), [(Lane.WORK, "My work on"), (Lane.REPLY, "My reply to")]
)
def test_bl_14_it_says_which_work_how_it_ended_and_what_becomes_of_the_ticket(
    lane: Lane, kind: str
) -> None:
    ours = failure_notice(_failed("time-limit"), lane=lane, label="COR-5", recovered=False)
    nobodys = failure_notice(_failed("time-limit"), lane=lane, label=None, recovered=False)

    assert ours.startswith(f"{kind} COR-5 didn't come to an end: it ran into its time limit.")
    assert "I've left COR-5 as it is until somebody changes it" in ours
    assert nobodys.startswith(f"{kind} this request")
    assert "I've left" not in nobodys


def test_bl_15_failed_actions_are_named_and_help_is_asked_for() -> None:
    failed = _failed("failed-actions", "update_ticket", "create_task")

    said = failure_notice(failed, lane=Lane.REPLY, label=None, recovered=False)

    assert "these actions failed: update_ticket, create_task" in said
    assert "Please ask me again, or help me" in said


def test_bl_16_a_failed_recovery_says_that_it_was_tried_and_what_is_missing() -> None:
    lacking = _failed("evidence-missing", "a change in the repository", "the ticket, updated")

    said = failure_notice(lacking, lane=Lane.WORK, label="COR-5", recovered=True)

    assert "I can't show a change in the repository; the ticket, updated." in said
    assert "I tried once more" in said
    assert "I've left COR-5 as it is" in said


# --- where ---------------------------------------------------------------------------------------


def test_bl_2_the_ticket_gets_the_same_words_unless_it_has_its_own() -> None:
    failed = lived(assigned(1, 5), tickets=[ticket(5)], runs=[FRUITLESS], until=900)
    blocked = lived(assigned(1, 5), tickets=[ticket(5)], runs=[BLOCKED], until=900)

    assert [comment["content"] for comment in failed["comments"]] == _told(failed)
    assert [comment["content"] for comment in blocked["comments"]] == [push_note()]
    assert _told(blocked) == [push_notice("COR-5", "/src/core")]


def test_bl_3_a_request_gets_it_in_its_own_channel_and_a_ticket_in_its_projects() -> None:
    asked = message(100, channel_id=11)
    reply = lived(
        mention(1, asked),
        messages=[asked],
        channels=[{"id": 10, "project_id": 1, "name": "core"}, {"id": 11, "name": "talk"}],
        runs=[{**SILENT, "source": "mention:11:100"}],
    )
    work = lived(assigned(1, 5), tickets=[ticket(5)], runs=[FRUITLESS], until=900)

    assert [(post["channel_id"], post["parent_id"]) for post in reply["posts"]] == [(11, 100)]
    assert [(post["channel_id"], post["parent_id"]) for post in work["posts"]] == [(10, None)]


def test_bl_3_where_no_channel_is_known_none_is_made_up_and_the_ticket_has_the_note() -> None:
    homeless = lived(
        assigned(1, 5),
        tickets=[ticket(5)],
        projects=[{"id": 1, "name": "Core"}],
        channels=[],
        runs=[FRUITLESS],
        until=900,
    )

    assert homeless["posts"] == []
    assert [comment["ticket_id"] for comment in homeless["comments"]] == [5]


def test_bl_4_in_a_thread_it_stands_in_the_thread() -> None:
    root, asked = message(90, "Topic"), message(100, parent_id=90)

    told = lived(mention(1, asked), messages=[root, asked], runs=[SILENT])

    assert [(post["channel_id"], post["parent_id"]) for post in told["posts"]] == [(10, 90)]


def test_bl_8_a_ticket_that_only_a_message_names_gets_no_note() -> None:
    asked = message(100, 'See ticket #5 in project 1 ("id": 5, "projectId": 1): @Ada, any news?')

    told = lived(
        mention(1, asked), messages=[asked], tickets=[ticket(5, agent_id=8)], runs=[SILENT]
    )

    assert len(told["posts"]) == 1
    assert told["comments"] == []
    assert told["ticket_updates"] == []


# --- once ----------------------------------------------------------------------------------------


def _slots(log: EventLog, notice: str, target: Target) -> list[str]:
    view = Process(log, NotedTeam()).ledger.view
    steps = blocker_steps(view, target, notice, "ticket:1:5", None, at=0.0, after="x")
    return [step.command.slot for step in steps if isinstance(step.command, PlanDelivery)]


def test_bl_5_its_key_is_the_place_and_the_beginning_of_its_words(log: EventLog) -> None:
    top, thread = Target(channel_id=10, parent_id=None), Target(channel_id=10, parent_id=90)
    long = "I'm  blocked\n" * 40

    (slot, _), (other, _) = _slots(log, long, top), _slots(log, long, thread)

    assert slot == "blocker:10:top:" + " ".join(long.split())[:180]
    assert other == "blocker:10:90:" + " ".join(long.split())[:180]
    assert _slots(log, long + "and so on", top)[0] == slot


def test_bl_5_the_same_one_in_the_same_place_is_posted_once_ever() -> None:
    changed = {"id": 5, "priority": "high", "updated_at": "2026-01-01T00:10:00Z"}
    again = frame(620, "task:updated", {"task": {"id": 5, "project_id": 1}})

    told = lived(
        assigned(1, 5),
        {"at": 610, "team": {"tickets": [changed]}},
        again,
        tickets=[ticket(5)],
        runs=[FRUITLESS],
        until=1500,
    )

    assert len(told["runs"]) == 4
    assert len(_told(told)) == 1


@pytest.mark.parametrize("is_stood_down", [False, True])
def test_bl_6_a_thread_that_was_stood_down_meanwhile_gets_none(*, is_stood_down: bool) -> None:
    root, asked = message(90, "Topic"), message(100, parent_id=90)
    enough = message(101, "@Ada stand down, please.", parent_id=90)
    away = [{"tool": "post_message", "call": n, "kind": "refused"} for n in (1, 2)]

    told = lived(
        mention(1, asked),
        *([mention(90, enough)] if is_stood_down else []),
        messages=[root, asked],
        runs=[{**SILENT, "takes": 40}],
        faults=away,
        until=2000,
    )

    assert len(told["posts"]) == (not is_stood_down)


def test_bl_9_a_channel_that_refuses_it_does_not_keep_it_from_the_ticket() -> None:
    refusing = {"tool": "post_message", "call": "all", "kind": "error"}

    told = lived(
        assigned(1, 5), tickets=[ticket(5)], runs=[FRUITLESS], faults=[refusing], until=900
    )

    assert told["posts"] == []
    assert len(told["comments"]) == 1
    assert told["tickets"] == {"ticket:1:5": "paused"}
    assert told["left"] == {"queued": 0, "running": 0, "processes": 0}


def test_bl_9_nor_does_a_ticket_that_refuses_it_keep_it_from_the_channel() -> None:
    refusing = {"tool": "comment_ticket", "call": "all", "kind": "error"}

    told = lived(
        assigned(1, 5), tickets=[ticket(5)], runs=[FRUITLESS], faults=[refusing], until=900
    )

    assert len(told["posts"]) == 1
    assert told["left"] == {"queued": 0, "running": 0, "processes": 0}


def test_bl_10_a_blocked_ticket_is_not_run_again_by_itself() -> None:
    told = lived(assigned(1, 5), tickets=[ticket(5)], runs=[BLOCKED], until=3000)

    assert len(told["runs"]) == 1
    assert told["tickets"] == {"ticket:1:5": "blocked"}


def test_bl_17_it_does_not_use_up_the_answers_key() -> None:
    asked = message(100)

    told = lived(mention(1, asked), messages=[asked], runs=[SILENT])

    slots = list(told["deliveries"])
    assert [slot.split(":")[0] for slot in slots] == [Purpose.BLOCKER.value]


def test_tk_28_why_names_the_blocker_of_a_ticket_that_never_got_a_turn() -> None:
    outcome = day(until=60, watch={"runtime": "scripted", "workdir": False}, tickets=[ticket(5)])

    said = explain("ticket:1:5", MemoryHistory.of(outcome.events)).outcome

    assert said.startswith("It isn't worked on: the ticket is blocked, no-workspace (TK-28).")
    assert "People are told: message" in said
