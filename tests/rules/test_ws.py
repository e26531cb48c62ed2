"""WS: what the daemon makes of what arrives; how it's read is shown with the readers."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from tests.rules.rc_scenes import NotedTeam, Process, arrivals, message, outcomes, ticket
from tests.rules.scenes import answers, frame, lived, mention

from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.ports import RunRequest


@pytest.fixture
def log() -> Iterator[EventLog]:
    with closing(open_log("sqlite:///:memory:")) as opened:
        yield opened


def _signals(told: dict[str, Any]) -> list[tuple[str, str]]:
    return [(signal["outcome"], signal["reason"]) for signal in told["signals"]]


# --- after a connection --------------------------------------------------------------------------


def test_ws_3_what_is_new_waits_for_what_was_missed_in_its_thread() -> None:
    root, missed = message(90, "Topic"), message(100, "@Ada first?", parent_id=90)
    new = message(101, "@Ada second?", parent_id=90)

    told = lived(
        {"at": 10, "disconnect": {"for": 50}},
        {"at": 20, "team": {"messages": [missed]}},
        mention(60.01, new),
        messages=[root, new],
        runs=answers(100, 101),
    )

    assert [post["content"] for post in told["posts"]] == ["Answer 100.", "Answer 101."]


def test_ws_3_a_team_that_does_not_answer_holds_nobody_up_for_long() -> None:
    silent = {"tool": "list_agents", "call": "all", "kind": "timeout_before"}

    told = lived(mention(1, message(100)), messages=[message(100)], faults=[silent])

    assert [run["started"] for run in told["runs"]] == [pytest.approx(10, abs=0.5)]


# --- what a frame is worth -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [({"task": {"id": 5}}, "no-project-id"), ({"task": {"project_id": 1}}, "no-ticket-id")],
)
def test_ws_6_a_ticket_signal_without_usable_ids_is_refused_with_the_reason(
    data: object, reason: str
) -> None:
    told = lived(frame(1, "task:assigned", data))

    assert _signals(told) == [("refused", reason)]
    assert told["runs"] == []


def test_ws_12_a_mention_wakes_us_and_its_own_words_decide() -> None:
    """Nor does the first one make the conversation ours: what goes on with it is others' talk."""
    first, second = message(100, "@Bob can you look?"), message(101, "and then?", parent_id=100)

    told = lived(mention(1, first), mention(30, second), messages=[first, second])

    assert _signals(told) == [
        ("refused", "explicit-other-recipient"),
        ("refused", "talk-among-others"),
    ]
    assert told["runs"] == []


def test_ws_13_each_of_a_burst_gets_its_own_run_and_its_own_answer(
    requests: list[RunRequest],
) -> None:
    numbers = (100, 101, 102)
    said = [message(n, f"@Ada question {n}?") for n in numbers]

    told = lived(*[mention(1, each) for each in said], messages=said, runs=answers(*numbers))

    assert [(post["parent_id"], post["content"]) for post in told["posts"]] == [
        (n, f"Answer {n}.") for n in numbers
    ]
    assert [run["source"] for run in told["runs"]] == [f"mention:10:{n}" for n in numbers]
    asked = [[n for n in numbers if f"question {n}?" in each.prompt] for each in requests]
    assert asked == [[n] for n in numbers]


def test_ws_13_a_burst_in_one_thread_is_not_merged_either() -> None:
    said = [message(100), *(message(n, f"@Ada and {n}?", parent_id=100) for n in (101, 102))]

    told = lived(*[mention(1, each) for each in said], messages=said, runs=answers(100, 101, 102))

    assert [post["content"] for post in told["posts"]] == [
        "Answer 100.",
        "Answer 101.",
        "Answer 102.",
    ]
    assert {post["parent_id"] for post in told["posts"]} == {100}


# --- what was seen -------------------------------------------------------------------------------


def test_ws_16_an_activity_entry_is_handled_once_over_all_looks_and_restarts() -> None:
    told = lived(
        {"at": 400, "restart": True},
        {"at": 800, "crash": True},
        until=2000,
        messages=[message(100)],
        runs=answers(100),
    )

    assert _signals(told) == [("accepted", "")]
    assert [post["content"] for post in told["posts"]] == ["Answer 100."]


async def test_ws_18_only_what_is_kept_at_hand_is_bounded_and_the_log_forgets_nothing(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ov_es_adapters.daemon.ledger._CACHED_AGGREGATES_MAX", 8)
    process = Process(log, NotedTeam(messages=[message(n) for n in range(100, 150)]))
    await process.look()
    oldest = arrivals(log)[0]

    await process.intake.take(oldest)

    assert oldest.source == "mention:10:100"
    assert outcomes(log)[-1] == (oldest.source, "suppressed", "duplicate")
    # One decision may add what it touches, and no more.
    assert len(process.ledger.view._cache) < 16


# --- what the run is given -----------------------------------------------------------------------


def test_ws_20_a_run_is_given_the_mentions_own_words_and_not_sent_to_look_for_them(
    requests: list[RunRequest],
) -> None:
    said = message(101, f"@Ada {'how is it going? ' * 200}the end", parent_id=100)

    lived(mention(1, said), messages=[message(100, "Topic"), said])

    [asked] = requests
    assert said["content"] in asked.prompt
    assert "From: Maya (a person)" in asked.prompt
    assert '{"channel_id": 10, "parent_id": 100}' in asked.prompt
    assert "Don't look through the inbox" in asked.prompt


def test_ws_20_a_run_is_given_its_ticket_as_it_is(requests: list[RunRequest]) -> None:
    lived(
        frame(1, "task:assigned", {"task": {"id": 5, "project_id": 1, "title": "Rubbish"}}),
        tickets=[ticket(5)],
    )

    prompt = requests[0].prompt
    assert "Fix the login form" in prompt
    assert "It drops the password in login.py." in prompt
    assert '{"project_id": 1, "ticket_id": 5}' in prompt
    assert "Rubbish" not in prompt
