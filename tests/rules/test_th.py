"""TH: threads, and who is meant by a message."""

from typing import Any, cast

import pytest
from tests.rules.rc_scenes import message, ticket
from tests.rules.scenes import answers, assigned, day, lived, mention

from ov_es_adapters.simulation.result import Outcome, result
from ov_es_domain.policy.addressing import Audience, address
from ov_es_domain.thread.events import ThreadStoodDown, ThreadWoken

CODE = "@Ada please fix the bug in file login.py"
LONG: dict[str, object] = {"source": "mention:10:100", "takes": 60, "does": [{"text": "Late."}]}


def _answered(told: dict[str, Any]) -> list[tuple[object, str]]:
    return [(post["parent_id"], post["content"]) for post in told["posts"]]


def _told(outcome: Outcome) -> dict[str, Any]:
    return cast("dict[str, Any]", result(outcome))


def _reasons(told: dict[str, Any]) -> list[str]:
    """Return why each arrival was refused; "accepted" for one that wasn't."""
    return [signal["reason"] or signal["outcome"] for signal in told["signals"]]


def _by_bob(number: int, content: str) -> dict[str, Any]:
    said = message(number, content, agent=8)
    del said["person"]
    return said


def _from_bob(at: float, said: dict[str, Any]) -> dict[str, object]:
    sender = {"id": 8, "name": "Bob", "is_agent": True}
    whole = {**{k: v for k, v in said.items() if k != "agent"}, "sender": sender}
    data = {"channel_id": said["channel_id"], "message": whole}
    return {"at": at, "frame": {"type": "agent:mention", "data": data}}


# --- who is meant --------------------------------------------------------------------------------


def test_th_1_the_class_of_a_mention_is_known_before_any_program_starts() -> None:
    ours, others = message(100), message(101, "@Bob what about you?")

    told = lived(mention(1, ours), mention(2, others), messages=[ours, others], runs=answers(100))

    assert _reasons(told) == ["accepted", "explicit-other-recipient"]
    assert [run["source"] for run in told["runs"]] == ["mention:10:100"]


@pytest.mark.parametrize(
    ("text", "audience"),
    [
        ("@ada and @ADA LOVELACE", Audience.US),
        ("@ada lovelace, please", Audience.US),
        ("@ada-lovelace, please", Audience.US),
        ("@adam, please", Audience.OTHERS),
        ("@ada_2, please", Audience.OTHERS),
        ("ada, please", Audience.NOBODY),
    ],
)
def test_th_2_each_of_our_names_counts_in_any_case_and_as_a_whole_word(
    text: str, audience: Audience
) -> None:
    found = address(text, aliases=("ada", "Ada Lovelace"), own_id=None, mentions=None)

    assert found.audience is audience


def test_th_3_what_names_only_others_stays_silent() -> None:
    said = message(100, "@Bob, @Carol: who takes this?")

    told = lived(mention(1, said), messages=[said])

    assert (_reasons(told), told["runs"], told["posts"]) == (["explicit-other-recipient"], [], [])


def test_th_4_work_that_is_given_to_somebody_else_in_its_thread_is_cancelled() -> None:
    asked, given = message(100), message(101, "@Bob please take over", parent_id=100)

    told = lived(mention(1, asked), mention(10, given), messages=[asked, given], runs=[LONG])

    assert _reasons(told) == ["accepted", "redirected"]
    assert [run["outcome"] for run in told["runs"]] == ["cancelled"]
    assert told["posts"] == []


def test_th_4_an_agent_that_asks_another_takes_no_work_away() -> None:
    asked, chat = message(100), _by_bob(101, "@Carol please have a look")
    chat["parent_id"] = 100

    told = lived(mention(1, asked), _from_bob(10, chat), messages=[asked, chat], runs=[LONG])

    assert _answered(told) == [(100, "Late.")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("Deployed the site.", "other-agent-chatter"), ("@Ada deployed, please look", "accepted")],
)
def test_th_6_another_agent_is_heard_only_if_it_speaks_to_us(text: str, reason: str) -> None:
    said = _by_bob(100, text)

    told = lived(_from_bob(1, said), messages=[said], runs=answers(100))

    assert _reasons(told) == [reason]
    assert len(told["runs"]) == (reason == "accepted")


# --- standing down, and waking up ----------------------------------------------------------------


def test_th_7_a_stand_down_gets_no_run_of_its_own() -> None:
    enough = message(100, "@Ada please stand down.")

    told = lived(mention(1, enough), messages=[enough])

    assert (_reasons(told), told["runs"], told["posts"]) == (["accepted"], [], [])


def test_th_8_it_is_remembered_with_who_said_it_and_both_lanes_are_stopped() -> None:
    asked, again = message(100), message(101, CODE, parent_id=100)
    enough = message(102, "@Ada stand down.", parent_id=100)
    coding = {"source": "mention:10:101", "takes": 60, "does": [{"edit": "login.py"}]}

    steps = [mention(1, asked), mention(2, again), mention(10, enough)]
    outcome = day(*steps, messages=[asked, again, enough], runs=[LONG, coding])

    runs = [(run["lane"], run["outcome"]) for run in _told(outcome)["runs"]]
    assert sorted(runs) == [("reply", "cancelled"), ("work", "cancelled")]
    said = [e.body for e in outcome.events if isinstance(e.body, ThreadStoodDown)]
    assert [(each.by, each.source) for each in said] == [("Maya", "mention:10:102")]


def test_th_9_a_thread_is_known_by_its_channel_and_its_root() -> None:
    here, there = message(100), message(100, channel_id=11)
    enough = message(101, "@Ada stand down.", parent_id=100, channel_id=11)
    elsewhere = {"id": 11, "project_id": 1, "name": "site"}

    told = lived(
        mention(1, here),
        mention(2, there),
        mention(3, enough),
        messages=[here],
        channels=[{"id": 10, "project_id": 1, "name": "core"}, elsewhere],
        runs=answers(100),
    )

    assert _answered(told) == [(100, "Answer 100.")]


def test_th_10_a_thread_that_was_stood_down_stays_so_over_a_restart() -> None:
    asked, enough = message(100), message(101, "@Ada stand down.", parent_id=100)
    older = message(99, "@Ada and this?", parent_id=100)

    told = lived(
        mention(1, asked),
        mention(2, enough),
        {"at": 3, "crash": True},
        mention(20, older),
        messages=[asked, enough],
        runs=[LONG],
    )

    assert _reasons(told) == ["accepted", "accepted", "older-than-the-stand-down"]
    assert told["posts"] == []


def test_th_11_only_a_newer_message_for_us_wakes_it_again() -> None:
    asked, enough = message(100), message(101, "@Ada stand down.", parent_id=100)
    again = message(102, "@Ada please go on after all", parent_id=100)

    steps = [mention(1, asked), mention(2, enough), mention(3, asked), mention(20, again)]
    outcome = day(*steps, messages=[asked, enough, again], runs=[LONG, *answers(102)])

    assert _answered(_told(outcome)) == [(100, "Answer 102.")]
    woken = [e.body.source for e in outcome.events if isinstance(e.body, ThreadWoken)]
    assert woken == ["mention:10:102"]


@pytest.mark.parametrize("words", ["@Ada please stop.", "@Bob you take it"])
@pytest.mark.parametrize("is_found_by_a_look", [False, True])
def test_th_11_what_was_said_before_a_newer_request_does_not_end_it(
    words: str, *, is_found_by_a_look: bool
) -> None:
    root, older = message(100, "The login is broken."), message(101, words, parent_id=100)
    newer = message(102, "@Ada how is it now?", parent_id=100)
    slow = {"source": "mention:10:102", "takes": 400, "does": [{"text": "Answer 102."}]}

    comes = {"at": 2, "team": {"messages": [older]}} if is_found_by_a_look else mention(2, older)

    told = lived(mention(1, newer), comes, messages=[root], until=900, runs=[slow])

    assert _answered(told) == [(100, "Answer 102.")]


def test_th_11_nor_does_a_stop_that_follows_an_older_request_which_was_missed_as_well() -> None:
    root, older = message(100, "The login is broken."), message(101, "@Ada look?", parent_id=100)
    enough = message(102, "@Ada stop.", parent_id=100)
    newer = message(103, "@Ada how is it now?", parent_id=100)
    slow = {"source": "mention:10:103", "takes": 400, "does": [{"text": "Answer 103."}]}

    told = lived(
        mention(1, newer),
        mention(2, older),
        mention(3, enough),
        messages=[root],
        until=900,
        runs=[slow, *answers(101)],
    )

    assert (100, "Answer 103.") in _answered(told)


@pytest.mark.parametrize("number", ["\u00b2", "\u0663", "x", ""])
def test_th_11_an_id_that_is_no_number_has_no_place_in_time(number: str) -> None:
    asked, enough = message(100), message(101, "@Ada stand down.", parent_id=100)
    odd = {**message(0, "@Ada and this?", parent_id=100), "id": number}

    told = lived(mention(1, asked), mention(2, enough), mention(3, odd), messages=[asked, enough])

    assert len(told["signals"]) == 3


def test_th_12_a_tickets_own_run_is_in_no_thread() -> None:
    asked, enough = message(100), message(101, "@Ada stand down.", parent_id=100)
    work = [
        {"tool": "get_ticket"},
        {"edit": "login.py"},
        {"tool": "update_ticket", "args": {"status": "in_review"}},
        {"text": "Fixed."},
    ]

    told = lived(
        assigned(1, 5),
        mention(1, asked),
        mention(10, enough),
        tickets=[ticket(5)],
        messages=[asked, enough],
        runs=[{"source": "ticket:1:5", "takes": 30, "does": work}, LONG],
    )

    outcomes = {run["source"]: run["outcome"] for run in told["runs"]}
    assert outcomes == {"ticket:1:5": "succeeded", "mention:10:100": "cancelled"}


# --- where an answer goes ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lane"), [(CODE, "work"), ("@Ada how is the bug in file login.py?", "reply")]
)
def test_th_13_only_an_action_with_a_target_is_work(text: str, lane: str) -> None:
    asked = message(100, text)

    told = lived(mention(1, asked), messages=[asked], runs=answers(100))

    assert {run["lane"] for run in told["runs"]} == {lane}


def test_th_14_coding_that_a_message_asks_for_is_answered_in_its_thread() -> None:
    root, asked = message(100, "The login is broken."), message(101, CODE, parent_id=100)
    work = [{"edit": "login.py"}, {"text": "Fixed."}]

    told = lived(
        mention(1, asked),
        messages=[root, asked],
        runs=[{"source": "mention:10:101", "takes": 20, "does": work}],
    )

    assert [(run["lane"], run["outcome"]) for run in told["runs"]] == [("work", "succeeded")]
    assert _answered(told) == [(100, "Fixed.")]


def test_th_15_two_messages_at_top_level_are_two_conversations() -> None:
    first, second = message(100), message(101)

    told = lived(
        mention(1, first), mention(2, second), messages=[first, second], runs=answers(100, 101)
    )

    assert _answered(told) == [(100, "Answer 100."), (101, "Answer 101.")]


def test_th_16_each_request_gets_one_answer_and_none_is_merged_with_another() -> None:
    first, nudge = message(100), message(101, "@Ada any news?", parent_id=100)

    told = lived(
        mention(1, first),
        mention(2, nudge),
        mention(3, nudge),
        messages=[first, nudge],
        runs=answers(100, 101),
    )

    assert _answered(told) == [(100, "Answer 100."), (100, "Answer 101.")]


def test_th_17_an_answer_that_is_ready_is_not_posted_into_a_thread_that_was_stood_down() -> None:
    asked, enough = message(100), message(101, "@Ada stand down.", parent_id=100)

    told = lived(
        mention(1, asked),
        mention(8, enough),
        messages=[asked, enough],
        faults=[{"tool": "list_message_thread", "call": "all", "kind": "timeout_before"}],
        runs=answers(100),
    )

    assert [run["outcome"] for run in told["runs"]] == ["succeeded"]
    assert told["posts"] == []
    assert list(told["deliveries"].values()) == ["suppressed"]
