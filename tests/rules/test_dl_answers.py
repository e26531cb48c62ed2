"""DL-10 to DL-15: what an answer is known by, what it says, and who may post it."""

from dataclasses import replace

import pytest
from tests.rules.dl_scenes import (
    EDIT,
    IN_REVIEW,
    READ,
    SAID,
    TOLD,
    contents,
    fault,
    reasons,
    run,
    topics,
    written,
)
from tests.rules.rc_scenes import message, ticket
from tests.rules.scenes import answers, assigned, day, mention

from ov_es_adapters.ports import RunRequest
from ov_es_domain.delivery import commands as c
from ov_es_domain.delivery.aggregate import DELIVERY
from ov_es_domain.delivery.events import DeliveryPlanned
from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.lifecycle import Command, handle

KEY = "delivery:reply:10:100"
ASKED = message(100)
SILENT = run({"text": " "}, takes=4, source="mention:10:100")


# --- its key -------------------------------------------------------------------------------------


def test_dl_10_a_rerun_with_other_words_is_the_same_message() -> None:
    told = day(
        mention(1, ASKED),
        {"at": 30, "crash": True},
        {"at": 40, "restart": True},
        messages=[ASKED],
        runs=[
            run({"text": words}, takes=takes, source="mention:10:100")
            for words, takes in (("Never said.", 60), ("It's in review.", 4))
        ],
    )

    assert [e.key for e in told.events if isinstance(e.body, DeliveryPlanned)] == [KEY]
    assert contents(told) == ["It's in review."]


@pytest.mark.parametrize(
    "ends",
    [
        (),
        (c.SuppressDelivery(reason="thread-cancelled", rule="DL-5", message_id=None),),
        (c.AbandonDelivery(reason="refused", by="the team's server"),),
        (
            c.AttemptDelivery(epoch=1, rendered=0),
            c.ConfirmDelivery(message_id=101, proof="answered"),
        ),
    ],
    ids=["planned", "suppressed", "abandoned", "delivered"],
)
def test_dl_4_dl_10_a_key_is_promised_once_whatever_the_words_are_the_second_time(
    ends: tuple[Command, ...],
) -> None:
    plan = c.PlanDelivery(
        slot="reply:10:100",
        purpose=Purpose.REPLY,
        target=Target(channel_id=10, parent_id=100),
        content="It's in review.",
        source="mention:10:100",
        source_at=0.0,
        turn=None,
        ticket=None,
        thread="thread:10:100",
    )
    _, there = handle(DELIVERY, DELIVERY.initial, plan)
    for command in ends:
        _, there = handle(DELIVERY, there, command)

    assert handle(DELIVERY, there, replace(plan, content="It's done.")) == ([], there)


@pytest.mark.parametrize(
    ("kind", "is_tried_again"), [("refused", True), ("http", True), ("error", False)]
)
def test_dl_11_a_post_that_failed_does_not_count_as_said(
    kind: str, *, is_tried_again: bool
) -> None:
    more = {"status": 503} if kind == "http" else {}

    told = day(
        mention(1, ASKED),
        messages=[ASKED],
        runs=answers(100),
        faults=[fault("post_message", kind, **more)],
    )

    after = topics(told, KEY)[topics(told, KEY).index("delivery.attempted") + 1]
    assert after in {"delivery.refused", "delivery.abandoned", "delivery.left_unknown"}
    assert contents(told) == (["Answer 100."] if is_tried_again else [])
    assert ("delivery.delivered" in topics(told, KEY)) is is_tried_again


# --- who posts -----------------------------------------------------------------------------------


def test_dl_13_no_run_can_post_neither_the_first_nor_its_recovery(
    requests: list[RunRequest],
) -> None:
    post = {"tool": "post_message", "args": {"channel_id": 10, "content": "Done!"}}

    told = day(
        assigned(1, 5),
        tickets=[ticket(5)],
        runs=[run(READ, post, SAID), run(READ, post, EDIT, IN_REVIEW, SAID)],
    )

    assert len(requests) == 2
    assert all("post_message" in request.disabled_tools for request in requests)
    assert [said.startswith(TOLD) for said in contents(told)] == [True]


def test_dl_14_the_answer_is_the_final_text_of_the_run() -> None:
    told = day(
        mention(1, ASKED),
        messages=[ASKED],
        runs=[
            run(
                {"text": "I'll look at it."},
                {"tool": "get_ticket", "args": {"project_id": 1, "ticket_id": 5}},
                {"text": "It's in review."},
                source="mention:10:100",
            )
        ],
        tickets=[ticket(5, agent_id=8)],
    )

    assert contents(told) == ["It's in review."]


def test_dl_14_where_there_is_no_text_people_get_a_blocker_and_no_empty_answer() -> None:
    told = day(mention(1, ASKED), messages=[ASKED], runs=[SILENT, SILENT])

    [said] = contents(told)
    assert "came back without an answer" in said
    assert topics(told, KEY) == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [("Answer 100.", "same-content-rendered"), ("It's fine.", "someone-else-posts-as-us")],
)
def test_dl_15_what_a_run_has_said_by_some_way_of_its_own_is_not_said_again(
    words: str, reason: str
) -> None:
    told = day(
        mention(1, ASKED), written(3, 101, words, agent=7), messages=[ASKED], runs=answers(100)
    )

    assert reasons(told, KEY) == [reason]
    assert contents(told) == []
