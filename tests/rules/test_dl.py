"""DL-1 to DL-9 and DL-12: the one road that a message takes, and what keeps it back."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
from tests.rules.dl_scenes import (
    EDIT,
    IN_REVIEW,
    READ,
    SAID,
    contents,
    fault,
    reasons,
    run,
    topics,
    written,
)
from tests.rules.rc_scenes import message, ticket
from tests.rules.scenes import answers, assigned, day, mention

from ov_es_adapters.simulation.tools import SimulatedTools
from ov_es_domain.delivery.events import (
    DeliveryAttempted,
    DeliveryDelivered,
    DeliveryLeftUnknown,
    DeliveryPlanned,
    DeliverySuppressed,
)
from ov_es_domain.thread.events import ThreadStoodDown
from ov_es_domain.turn.events import TurnQueued

KEY = "delivery:reply:10:100"
ASKED = message(100)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, object]]]:
    """Listen to the calls that the watcher makes."""
    heard: list[tuple[str, dict[str, object]]] = []
    call = SimulatedTools.call

    async def listen(self: SimulatedTools, tool: str, arguments: Mapping[str, object]) -> object:
        heard.append((tool, dict(arguments)))
        return await call(self, tool, arguments)

    monkeypatch.setattr(SimulatedTools, "call", listen)
    return heard


# --- what it is ----------------------------------------------------------------------------------


def test_dl_1_a_message_has_one_place_which_is_fixed_when_its_source_is_accepted() -> None:
    moved = {
        "projects": [{"id": 1, "name": "Core", "channel_id": 11}],
        "channels": [{"id": 11, "project_id": 1, "name": "new"}],
    }

    told = day(
        assigned(1, 5),
        {"at": 10, "team": moved},
        tickets=[ticket(5)],
        runs=[run(READ, EDIT, IN_REVIEW, SAID)],
    )

    [queued] = [e.body for e in told.events if isinstance(e.body, TurnQueued)]
    [planned] = [e.body for e in told.events if isinstance(e.body, DeliveryPlanned)]
    assert planned.target == queued.target
    assert (planned.target.channel_id, planned.target.parent_id) == (10, None)
    assert (planned.source, planned.ticket) == ("ticket:1:5", "ticket:1:5")
    assert [post.channel_id for post in told.truth.posts] == [10]


def test_dl_2_dl_8_whatever_is_posted_was_promised_and_its_place_was_read_right_before(
    calls: list[tuple[str, dict[str, object]]],
) -> None:
    """A reply, a blocker and a report, of which one is tried twice."""
    failed = {**run(takes=3, source="mention:10:101"), "exit": 1}

    told = day(
        mention(1, ASKED),
        mention(2, message(101, "@Ada and the other?")),
        assigned(3, 5),
        tickets=[ticket(5)],
        messages=[ASKED, message(101, "@Ada and the other?")],
        runs=[*answers(100), failed, failed, run(READ, EDIT, IN_REVIEW, SAID)],
        faults=[fault("post_message", "refused", 2)],
    )

    attempts = [e for e in told.events if isinstance(e.body, DeliveryAttempted)]
    planned = [e.body for e in told.events if isinstance(e.body, DeliveryPlanned)]
    posts = [n for n, (tool, _) in enumerate(calls) if tool == "post_message"]
    assert {plan.purpose.value for plan in planned} == {"reply", "blocker", "report"}
    assert (len(posts), len(attempts), len(contents(told))) == (4, 4, 3)
    for n in posts:
        looked = [c for c in calls[:n] if c[0] == "list_message_thread"][-1]
        place = {k: v for k, v in calls[n][1].items() if k != "content"}
        assert looked[1] == place


# --- its road ------------------------------------------------------------------------------------


def test_dl_3_the_intent_is_in_the_log_before_the_post_and_the_proof_after_it() -> None:
    told = day(
        mention(1, ASKED),
        messages=[ASKED],
        runs=answers(100),
        faults=[fault("post_message", "late", by=5)],
    )

    attempted = next(e for e in told.events if isinstance(e.body, DeliveryAttempted))
    delivered = next(e for e in told.events if isinstance(e.body, DeliveryDelivered))
    [post] = told.truth.posts
    assert told.times[attempted.position] < post.at <= told.times[delivered.position]
    assert (delivered.body.message_id, delivered.body.proof) == (post.message_id, "answered")


def test_dl_4_what_is_out_is_not_said_again_however_often_its_source_comes_again() -> None:
    told = day(
        mention(1, ASKED),
        {"at": 60, "crash": True},
        mention(70, ASKED),
        {"at": 80, "restart": True},
        mention(90, ASKED),
        {"at": 400, "disconnect": {"for": 5}},
        until=900,
        messages=[ASKED],
        runs=answers(100),
    )

    assert contents(told) == ["Answer 100."]
    assert topics(told, KEY)[-1] == "delivery.delivered"


def test_dl_5_a_thread_that_was_stood_down_before_the_look_is_not_even_read(
    calls: list[tuple[str, dict[str, object]]],
) -> None:
    told = day(
        mention(1, ASKED),
        mention(7, message(101, "@Ada please stop", parent_id=100)),
        messages=[ASKED],
        runs=answers(100),
        faults=[fault("list_message_thread", "refused")],
    )

    suppressed = [e.body for e in told.events if isinstance(e.body, DeliverySuppressed)]
    assert [(s.reason, s.rule) for s in suppressed] == [("thread-cancelled", "DL-5")]
    assert [tool for tool, _ in calls].count("list_message_thread") == 1
    assert contents(told) == []


def test_dl_5_a_thread_that_is_stood_down_during_the_look_gets_nothing_either() -> None:
    told = day(
        mention(1, ASKED),
        mention(10, message(101, "@Ada please stop", parent_id=100)),
        messages=[ASKED],
        runs=answers(100),
        faults=[fault("list_message_thread", "late", by=15)],
    )

    kinds = [type(event.body) for event in told.events]
    assert kinds.index(DeliveryPlanned) < kinds.index(ThreadStoodDown)
    assert reasons(told, KEY) == ["thread-cancelled"]
    assert contents(told) == []


# --- what is there already -----------------------------------------------------------------------


def test_dl_6_words_of_ours_that_are_there_are_not_said_again() -> None:
    told = day(
        mention(1, ASKED),
        written(3, 101, "Answer 100.", agent=7),
        {"at": 60, "restart": True},
        until=400,
        messages=[ASKED],
        runs=answers(100),
    )

    [said] = [e.body for e in told.events if isinstance(e.body, DeliverySuppressed)]
    assert (said.reason, said.rule, said.message_id) == ("same-content-rendered", "DL-6", 101)
    assert contents(told) == []


def test_dl_6_one_message_stands_for_one_answer_alone() -> None:
    first, second = message(101, parent_id=90), message(102, "@Ada really?", parent_id=90)
    yes = [run({"text": "Yes."}, takes=4, source=f"mention:10:{n}") for n in (101, 102)]

    told = day(
        mention(1, first),
        mention(2, second),
        {
            "at": 3,
            "team": {"messages": [message(103, "Yes.", parent_id=90, agent=7, person=None)]},
        },
        messages=[message(90, "Topic"), first, second],
        runs=yes,
    )

    ends = [topics(told, f"delivery:reply:10:{n}")[-1] for n in (101, 102)]
    assert ends == ["delivery.suppressed", "delivery.delivered"]
    assert contents(told) == ["Yes."]


@pytest.mark.parametrize(
    ("there", "author", "is_same"),
    [
        ("Answer  100.\n", {"agent": 7}, True),
        ("Answer 100.", {"agent": 8}, False),
        ("Answer 100.", {"person": 1}, False),
    ],
)
def test_dl_7_white_space_makes_no_difference_and_only_our_own_words_count(
    there: str, author: dict[str, Any], *, is_same: bool
) -> None:
    told = day(
        mention(1, ASKED), written(3, 101, there, **author), messages=[ASKED], runs=answers(100)
    )

    assert reasons(told, KEY) == (["same-content-rendered"] if is_same else [])
    assert contents(told) == ([] if is_same else ["Answer 100."])


# --- what can't be known now ---------------------------------------------------------------------


def test_dl_9_while_the_thread_cannot_be_read_a_first_try_waits_longer_and_longer(
    calls: list[tuple[str, dict[str, object]]],
) -> None:
    told = day(
        mention(1, ASKED),
        until=400,
        messages=[ASKED],
        runs=answers(100),
        faults=[fault("list_message_thread", "http", n, status=503) for n in (1, 2, 3)],
    )

    assert len(reasons(told, KEY)) == 3
    assert all(reason.startswith("thread-unreadable") for reason in reasons(told, KEY))
    times = [told.times[e.position] for e in told.events if e.key == KEY]
    assert [round(later - at) for at, later in pairwise(times[1:-1])] == [5, 10, 20]
    assert contents(told) == ["Answer 100."]
    assert [tool for tool, _ in calls].count("post_message") == 1


@pytest.mark.parametrize("kind", ["timeout_before", "timeout_after"])
def test_dl_9_after_a_try_that_may_have_worked_nothing_is_posted_unseen(
    kind: str, calls: list[tuple[str, dict[str, object]]]
) -> None:
    """DL-12: it's looked for, however long that can't be done, and posted once."""
    told = day(
        mention(1, ASKED),
        until=900,
        messages=[ASKED],
        runs=answers(100),
        faults=[
            fault("post_message", kind),
            *[fault("list_message_thread", "refused", n) for n in range(2, 7)],
        ],
    )

    assert contents(told) == ["Answer 100."]
    unknown = next(e for e in told.events if isinstance(e.body, DeliveryLeftUnknown))
    delivered = next(e for e in told.events if isinstance(e.body, DeliveryDelivered))
    assert delivered.at - unknown.at > 5 + 10 + 20 + 40 + 80
    is_out = kind == "timeout_after"
    assert [tool for tool, _ in calls].count("post_message") == (1 if is_out else 2)
    assert delivered.body.proof == ("rendered" if is_out else "answered")


def test_dl_12_before_it_is_tried_again_a_late_one_has_the_time_to_arrive() -> None:
    told = day(
        mention(1, ASKED),
        messages=[ASKED],
        runs=answers(100),
        faults=[fault("post_message", "late", by=55)],
    )

    assert contents(told) == ["Answer 100."]
    assert topics(told, KEY).count("delivery.attempted") == 1
