"""What is asked at the one exit: too old, too many, taken back, given away, said by another."""

import pytest

from ov_es_domain.delivery import commands as c
from ov_es_domain.delivery.aggregate import DELIVERY, Delivery
from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.errors import CommandRefusedError
from ov_es_domain.lifecycle import handle
from ov_es_domain.policy.admission import Ourselves
from ov_es_domain.policy.settling import NextStep, look
from ov_es_domain.policy.team_facts import RenderedMessage, TicketFacts
from ov_es_domain.policy.withholding import (
    held_until,
    is_expired,
    posted_by_someone_else,
    source_is_gone,
    ticket_moved_on,
)

_DAY = 86_400.0
_US = Ourselves(aliases=("ada",), identifier="ada", id=7)


def _message(number: int, text: str = "words", *, agent: int | None = None) -> RenderedMessage:
    return RenderedMessage(
        id=number,
        channel_id=10,
        parent_id=None if number == 90 else 90,
        author_agent_id=agent,
        author_identifier="",
        author_name="",
        is_agent=agent is not None,
        text=text,
        created_at=None,
    )


def _planned(content: str = "It's done.", *, purpose: Purpose = Purpose.REPLY) -> Delivery:
    plan = c.PlanDelivery(
        slot="reply:10:100",
        purpose=purpose,
        target=Target(channel_id=10, parent_id=90),
        content=content,
        source="mention:10:100",
        source_at=0.0,
        turn=None,
        ticket=None,
        thread="thread:10:90",
    )
    return handle(DELIVERY, DELIVERY.initial, plan)[1]


def _facts(*, agent: int | None = 7, status: str = "in_review") -> TicketFacts:
    return TicketFacts(
        project_id=1,
        ticket_id=5,
        slug="COR-5",
        title="Fix",
        description="",
        status=status,
        is_completed=status == "done",
        is_in_review=status == "in_review",
        priority="",
        revision="2",
        agent_id=agent,
        agent_identifier="",
        updated_at=None,
    )


# --- DUP-14 --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("thread", "is_gone"),
    [
        ([90, 100], False),
        ([90, 101], True),
        ([90], True),
        ([99, 101], True),
        ([101, 102], False),
        ([], False),
    ],
)
def test_dup_14_only_a_list_that_must_show_it_proves_that_it_is_gone(
    thread: list[int], *, is_gone: bool
) -> None:
    there = [_message(number) for number in thread]

    assert source_is_gone(there, source=100, root=90, lists_roots=True) is is_gone


@pytest.mark.parametrize(("lists_roots", "is_gone"), [(True, True), (False, False)])
def test_dup_14_a_root_is_missed_only_where_roots_are_listed(
    *, lists_roots: bool, is_gone: bool
) -> None:
    answers = [_message(101)]

    found = source_is_gone(answers, source=90, root=90, lists_roots=lists_roots)

    assert found is is_gone


def test_dup_14_a_message_without_its_words_was_taken_back() -> None:
    thread = [_message(90), _message(100, " ")]

    assert source_is_gone(thread, source=100, root=90, lists_roots=True)


# --- OWN-04 --------------------------------------------------------------------------------------


def test_own_04_only_an_unknown_message_of_ours_behind_the_source_stands_against_an_answer() -> (
    None
):
    thread = [
        _message(90),
        _message(95, "before", agent=7),
        _message(100),
        _message(101, "a person's"),
        _message(102, "another agent's", agent=8),
        _message(103, "bound", agent=7),
        _message(104, "lost   answer", agent=7),
        _message(105, "somebody else's", agent=7),
    ]

    found = posted_by_someone_else(
        _planned(),
        thread,
        source=100,
        own={95, 103, 104, 105},
        bound={"103"},
        unproven=[_planned("lost answer")],
    )

    assert found is not None
    assert found.id == 105


def test_own_04_only_answers_are_withheld_and_only_where_their_source_is_seen() -> None:
    thread = [_message(90), _message(100), _message(105, "x", agent=7)]

    def ask(purpose: Purpose, source: int) -> RenderedMessage | None:
        return posted_by_someone_else(
            _planned(purpose=purpose),
            thread,
            source=source,
            own={105},
            bound=set(),
            unproven=[],
        )

    assert ask(Purpose.REPLY, 100) is not None
    assert ask(Purpose.BLOCKER, 100) is not None
    assert ask(Purpose.REPORT, 100) is None
    assert ask(Purpose.REPLY, 999) is None


# --- LUP-05, OUT-14, STP-07 ----------------------------------------------------------------------


def test_lup_05_the_sixth_message_of_a_minute_waits_for_the_first_to_be_a_minute_old() -> None:
    posts = [3.0, 1.0, 2.0, 5.0, 4.0]

    assert held_until(posts, most=5, now=30.0) == 61.0
    assert held_until(posts, most=5, now=61.0) is None
    assert held_until(posts, most=5, now=-600.0) is None, "a clock that jumped back holds nothing"


def test_out_14_what_nobody_tried_for_a_day_waits_for_an_operator() -> None:
    old = _planned()

    assert is_expired(old, now=3 * _DAY, most_seconds=_DAY)
    assert not is_expired(old, now=_DAY / 2, most_seconds=_DAY)


def test_out_14_an_operators_retry_releases_it_and_then_it_is_posted() -> None:
    _, given_up = handle(DELIVERY, _planned(), c.AbandonDelivery(reason="expired", by="OUT-14"))

    _, released = handle(DELIVERY, given_up, c.ReplanDelivery(reason="still true", until=3 * _DAY))

    assert released.is_released
    assert not is_expired(released, now=9 * _DAY, most_seconds=_DAY)
    assert look(released, None, now=9 * _DAY).step is NextStep.POST
    assert look(released, _message(105), now=9 * _DAY).step is NextStep.POST


def test_out_01_a_released_one_that_was_ever_unknown_is_still_looked_for() -> None:
    _, tried = handle(DELIVERY, _planned(), c.AttemptDelivery(epoch=1, rendered=0))
    lose = c.LoseDelivery(reason="no answer", look_at=1.0, repost_after=2.0)
    _, unknown = handle(DELIVERY, tried, lose)
    _, given_up = handle(DELIVERY, unknown, c.AbandonDelivery(reason="enough", by="operator:x"))
    _, released = handle(DELIVERY, given_up, c.ReplanDelivery(reason="again", until=3.0))

    assert look(released, _message(105), now=4.0).step is NextStep.ALREADY_OUT


def test_dl_17_a_report_that_was_only_owed_has_no_words_that_could_be_tried_again() -> None:
    owe = c.OweDelivery(
        slot="report:1:5:2",
        purpose=Purpose.REPORT,
        target=Target(channel_id=10, parent_id=None),
        source="ticket:1:5",
        source_at=0.0,
        ticket="ticket:1:5",
    )
    _, owed = handle(DELIVERY, DELIVERY.initial, owe)
    _, dropped = handle(DELIVERY, owed, c.AbandonDelivery(reason="handed-over", by="the team"))

    with pytest.raises(CommandRefusedError, match="never had any words"):
        handle(DELIVERY, dropped, c.ReplanDelivery(reason="again", until=3.0))


def test_a_wait_by_itself_is_no_release() -> None:
    _, waiting = handle(DELIVERY, _planned(), c.DeferDelivery(reason="busy", until=9.0))

    assert not waiting.is_released


def test_stp_07_news_of_a_ticket_are_told_while_it_is_ours_and_done() -> None:
    report, blocker = _planned(purpose=Purpose.REPORT), _planned(purpose=Purpose.BLOCKER)
    given_away, reopened = _facts(agent=8), _facts(status="todo")

    assert ticket_moved_on(report, _facts(), _US) is None
    assert ticket_moved_on(blocker, reopened, _US) is None
    for delivery in (report, blocker):
        found = ticket_moved_on(delivery, given_away, _US)
        assert found is not None
        assert found.reason == "handed-over"
    superseded = ticket_moved_on(report, reopened, _US)
    assert superseded is not None
    assert superseded.reason == "superseded"
