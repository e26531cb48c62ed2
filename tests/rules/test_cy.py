"""CY: what a cycle is given, how it settles, and what people see of it."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.rules.dl_scenes import (
    EDIT,
    IN_REVIEW,
    LEFT_OPEN,
    READ,
    SAID,
    changed,
    contents,
    fault,
    reports,
    run,
)
from tests.rules.rc_scenes import message, ticket
from tests.rules.scenes import answers, assigned, day, frame, lived, mention

from ov_es_adapters.daemon.settings import AgentIdentity, WatchSettings
from ov_es_adapters.ports import RunRequest
from ov_es_adapters.team.world import TeamWorld
from ov_es_domain.policy.lanes import model_for
from ov_es_domain.turn.events import TurnRecovering, TurnStarted
from ov_es_domain.turn.kinds import TurnKind

FIVE = "ticket:1:5"
WORK = run(READ, EDIT, IN_REVIEW, SAID)
FRUITLESS = run(READ, {"text": "I'm on it."})
BLOCKED = run(READ, {"policy_block": "/src/core"})
FAILED: dict[str, object] = {"source": FIVE, "takes": 4, "exit": 1, "does": []}
SETTINGS = WatchSettings(agent=AgentIdentity(identifier="ada", name="Ada"))
TOOLS = {
    *("list_agents", "list_projects", "list_tasks", "list_activity", "list_channels"),
    *("get_ticket", "list_message_thread", "post_message", "comment_ticket", "update_ticket"),
}


def _outcomes(told: dict[str, Any]) -> list[str]:
    return [each["outcome"] for each in told["runs"]]


# --- what runs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TurnKind)
@pytest.mark.parametrize(
    ("main", "chat", "has_one_model", "for_code", "for_all_else"),
    [
        ("large", "small", False, "large", "small"),
        ("large", None, False, "large", "large"),
        ("large", "small", True, "large", "large"),
        (None, "small", False, None, "small"),
        (None, None, False, None, None),
    ],
)
def test_cy_3_the_main_model_codes_and_the_chat_model_does_all_else(
    main: str | None,
    chat: str | None,
    has_one_model: bool,  # noqa: FBT001 - likewise
    for_code: str | None,
    for_all_else: str | None,
    kind: TurnKind,
) -> None:
    expected = for_code if kind is TurnKind.FULL else for_all_else

    assert model_for(kind, main=main, chat=chat, has_one_model=has_one_model) == expected


def test_cy_6_nothing_is_spent_on_a_program_before_the_second_look() -> None:
    outcome = day(
        until=100,
        tickets=[ticket(5)],
        faults=[fault("get_ticket", "late", 2, by=15)],
        runs=[WORK],
    )

    [started] = [event for event in outcome.events if isinstance(event.body, TurnStarted)]
    assert started.at - outcome.events[0].at >= 15


def test_cy_6_what_is_remembered_is_there_when_the_run_starts(requests: list[RunRequest]) -> None:
    first, second = message(100), message(101, "@Ada and now?", parent_id=100)

    lived(
        mention(1, first),
        mention(50, second),
        messages=[first, second],
        runs=answers(100, 101),
    )

    assert "Answer 100." not in requests[0].prompt
    assert "Answer 100." in requests[1].prompt


def test_cy_7_cy_17_a_recovery_has_the_same_options_and_the_main_model(
    requests: list[RunRequest],
) -> None:
    lived(assigned(1, 5), until=300, tickets=[ticket(5)], runs=[FRUITLESS, WORK])

    first, recovery = requests
    assert first.disabled_tools == recovery.disabled_tools == {"post_message"}
    assert first.directory == recovery.directory == "/workspace/COR-5"
    assert first.model == recovery.model
    assert first.kind == recovery.kind == TurnKind.FULL.value
    assert first.execution != recovery.execution


def test_cy_10_runs_that_code_have_more_time_and_both_limits_are_settings(
    requests: list[RunRequest],
) -> None:
    asked = message(100)

    lived(
        assigned(1, 5),
        mention(2, asked),
        tickets=[ticket(5)],
        messages=[asked],
        runs=[WORK, *answers(100)],
    )

    limits = {request.lane: request.time_limit_seconds for request in requests}
    assert limits == {
        "work": SETTINGS.work_limit_seconds,
        "reply": SETTINGS.reply_limit_seconds,
    }
    assert limits["reply"] < limits["work"]


# --- how it settles ------------------------------------------------------------------------------


def test_cy_11_a_cancelled_run_publishes_nothing_at_all() -> None:
    told = lived(
        assigned(1, 5),
        {"at": 10, "interrupt": {"turn": FIVE}},
        until=400,
        tickets=[ticket(5)],
        runs=[run(READ, EDIT, IN_REVIEW, SAID, takes=100)],
    )

    assert _outcomes(told) == ["interrupted"]
    assert (told["posts"], told["comments"]) == ([], [])


def test_cy_11_nor_does_one_that_is_cancelled_during_its_recovery() -> None:
    told = lived(
        assigned(1, 5),
        changed(60, agent_id=8),
        frame(61, "task:updated", {"task": {"id": 5, "project_id": 1}}),
        until=400,
        tickets=[ticket(5)],
        runs=[FRUITLESS, run(READ, EDIT, IN_REVIEW, SAID, takes=200)],
    )

    assert len(told["runs"]) == 2
    assert told["tickets"] == {FIVE: "handed_over"}
    assert (told["posts"], told["comments"]) == ([], [])


def test_cy_12_a_policy_block_is_told_and_has_no_recovery() -> None:
    told = lived(assigned(1, 5), until=400, tickets=[ticket(5)], runs=[BLOCKED, WORK])

    assert _outcomes(told) == ["blocked"]
    assert told["tickets"] == {FIVE: "blocked"}
    assert ["ov-es authorize-pr-push" in post["content"] for post in told["posts"]] == [True]


def test_cy_13_cy_20_any_other_end_is_told_and_the_ticket_paused() -> None:
    told = lived(assigned(1, 5), until=400, tickets=[ticket(5)], runs=[FAILED, WORK])

    assert _outcomes(told) == ["failed"]
    assert told["tickets"] == {FIVE: "paused"}
    [post] = told["posts"]
    assert post["content"].startswith("My work on COR-5 didn't come to an end")


def test_cy_13_a_reply_that_fails_twice_is_told_too() -> None:
    asked = message(100)
    failed = {"source": "mention:10:100", "takes": 4, "exit": 1, "does": []}

    told = lived(mention(1, asked), messages=[asked], runs=[failed, failed])

    assert len(told["runs"]) == 2
    assert [(post["parent_id"], "My reply" in post["content"]) for post in told["posts"]] == [
        (100, True)
    ]


@pytest.mark.parametrize("runs", [[FRUITLESS, WORK], [FAILED, WORK]])
def test_cy_15_only_a_good_end_that_lacks_evidence_has_a_recovery(
    runs: list[dict[str, object]],
) -> None:
    outcome = day(assigned(1, 5), until=400, tickets=[ticket(5)], runs=runs)

    recoveries = [e for e in outcome.events if isinstance(e.body, TurnRecovering)]
    assert len(recoveries) == (runs[0] is FRUITLESS)


def test_cy_18_the_evidence_of_both_runs_counts_together() -> None:
    edited, updated = run(EDIT, SAID), run(READ, IN_REVIEW, SAID)

    told = lived(assigned(1, 5), until=400, tickets=[ticket(5)], runs=[edited, updated])

    assert told["tickets"] == {FIVE: "reported"}
    assert _outcomes(told) == ["recovering", "succeeded"]


def test_cy_18_a_recovery_that_fails_is_no_success_whatever_was_shown() -> None:
    shown = {**run(READ, EDIT, LEFT_OPEN, SAID), "exit": 1}

    told = lived(assigned(1, 5), until=400, tickets=[ticket(5)], runs=[FRUITLESS, shown])

    assert told["tickets"] == {FIVE: "paused"}
    assert "That was my second try." in told["posts"][0]["content"]


def test_cy_19_there_is_no_second_recovery_and_what_is_missing_is_named() -> None:
    told = lived(assigned(1, 5), until=900, tickets=[ticket(5)], runs=[FRUITLESS, FRUITLESS, WORK])

    assert len(told["runs"]) == 2
    assert told["tickets"] == {FIVE: "paused"}
    [post] = told["posts"]
    assert "I can't show" in post["content"]


def test_cy_19_a_recovery_that_ends_at_a_policy_block_is_told_as_one() -> None:
    told = lived(assigned(1, 5), until=400, tickets=[ticket(5)], runs=[FRUITLESS, BLOCKED])

    assert told["tickets"] == {FIVE: "blocked"}
    assert ["ov-es authorize-pr-push" in post["content"] for post in told["posts"]] == [True]


def test_cy_20_what_a_run_only_claims_is_not_reported() -> None:
    outcome = day(
        assigned(1, 5), until=400, tickets=[ticket(5)], runs=[run(READ, IN_REVIEW, SAID)] * 2
    )

    assert "Fixed in PR 12." not in " ".join(contents(outcome))
    assert [said.split()[-1] for said in reports(outcome)] == ["suppressed"]


def test_cy_21_a_success_is_answered_or_reported_and_remembered(
    requests: list[RunRequest],
) -> None:
    asked = message(100)

    told = lived(
        assigned(1, 5),
        mention(2, asked),
        changed(100, description="And the footer."),
        frame(101, "task:updated", {"task": {"id": 5, "project_id": 1}}),
        until=400,
        tickets=[ticket(5)],
        messages=[asked],
        runs=[WORK, WORK, *answers(100)],
    )

    assert min(post["content"].split(".")[0] for post in told["posts"]) == "Answer 100"
    again = [request for request in requests if request.source == FIVE][1]
    assert "Fixed in PR 12." in again.prompt


@pytest.mark.parametrize("first", [FAILED, BLOCKED, run(LEFT_OPEN), run(READ, IN_REVIEW)])
def test_cy_22_whatever_happens_to_one_the_queue_goes_on(first: dict[str, object]) -> None:
    told = lived(
        until=400,
        watch={"runtime": "scripted", "workdir": True, "concurrency": 1},
        tickets=[ticket(5, priority="critical"), ticket(6)],
        runs=[first, first, run(READ, EDIT, IN_REVIEW, SAID, source="ticket:1:6")],
    )

    assert told["tickets"]["ticket:1:6"] == "reported"
    assert told["left"] == {"queued": 0, "running": 0, "processes": 0}


# --- what people see -----------------------------------------------------------------------------


def test_cy_23_a_day_is_made_of_these_calls_and_no_presence_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: set[str] = set()
    call = TeamWorld.call

    def listen(self: TeamWorld, tool: str, arguments: Mapping[str, object], **more: Any) -> object:
        called.add(tool)
        return call(self, tool, arguments, **more)

    monkeypatch.setattr(TeamWorld, "call", listen)
    asked = message(100)

    lived(
        assigned(1, 5),
        mention(2, asked),
        until=900,
        tickets=[ticket(5), ticket(6)],
        messages=[asked],
        runs=[WORK, FAILED | {"source": "ticket:1:6"}, *answers(100)],
    )

    assert called <= TOOLS
    assert {"post_message", "comment_ticket"} <= called


@pytest.mark.parametrize(
    ("runs", "topic", "reason"),
    [
        ([BLOCKED], "turn.blocked", "push-needs-authorization"),
        ([FRUITLESS, FRUITLESS], "turn.failed", "no-change"),
    ],
)
def test_cy_24_the_words_to_search_for_are_events_of_the_turn(
    runs: list[dict[str, object]], topic: str, reason: str
) -> None:
    outcome = day(assigned(1, 5), until=400, tickets=[ticket(5)], runs=runs)

    found = [event.body for event in outcome.events if event.body.TOPIC.startswith(topic)]
    assert [getattr(body, "reason", None) for body in found] == [reason]
