"""Thread memory: what was done and said, for the next run of the same conversation."""

from typing import Any

from hypothesis import given, settings
from tests.projections.histories import CHANNEL, Book, report
from tests.projections.made_histories import books

from ov_es_domain.delivery import commands as d
from ov_es_domain.recorded import Recorded
from ov_es_domain.ticket import commands as k
from ov_es_domain.ticket.events import TicketHandedOver, TicketSeen
from ov_es_domain.turn import commands as t
from ov_es_domain.turn.kinds import StopReason, Verdict
from ov_es_projections.inline import INLINE
from ov_es_projections.projection import MemoryTables, Row
from ov_es_projections.thread_memory import (
    ENTRIES_MAX,
    SUMMARY_CHARACTERS_MAX,
    THREAD_MEMORY,
    conversation_of,
    recalled,
)

THREAD = f"thread:{CHANNEL}:100"
TICKET = "ticket:1:5"


def _tables(book: Book) -> MemoryTables:
    tables = MemoryTables((THREAD_MEMORY,))
    for event in book.events:
        tables.apply(event)
    return tables


def _rows(book: Book, **equal: str) -> list[Row]:
    return _tables(book).select("thread_memory", **equal)


def _recalled(book: Book, conversation: str, *, but_not: str = "", **bounds: int) -> list[str]:
    return recalled(_rows(book, conversation=conversation), but_not=but_not, **bounds)


def _many(count: int) -> Book:
    """Return a log of tickets that were handed over, one after the other."""
    book = Book()
    for number in range(count):
        key = f"ticket:1:{number}"
        seen = TicketSeen(
            project_id=1, ticket_id=number, slug="", title="T", revision="r", reason="assigned"
        )
        book.events += [
            _recorded(key, 1, seen, len(book.events) + 1),
            _recorded(key, 2, TicketHandedOver(to="bob"), len(book.events) + 2),
        ]
    return book


def _recorded(key: str, version: int, body: Any, position: int) -> Recorded:
    return Recorded(key, version, body, 1.0, "test", key, position)


def test_mem_1_what_was_asked_and_what_was_said_are_remembered() -> None:
    book = Book()
    book.answered(100, 205, "It's merged.")

    assert _recalled(book, THREAD) == [
        "turn succeeded: @Ada how is it going?",
        "reply delivered: It's merged.",
    ]


def test_mem_1_a_newer_state_of_the_same_thing_replaces_the_older_one() -> None:
    book = Book()
    book.ticket(5)
    book.say(TICKET, k.PauseTicket(reason="time-limit", revision=None))
    book.say(TICKET, k.ReleaseTicket(reason="already-completed"))

    assert [row["state"] for row in _rows(book, key=TICKET)] == ["released"]


def test_mem_1_a_thread_that_was_stood_down_is_remembered_as_cancelled() -> None:
    book = Book()
    book.mention(100)
    book.stand_down(101, 100)

    assert _recalled(book, THREAD) == [
        "thread cancelled: Maya stood us down",
        "turn cancelled (thread-cancelled): @Ada how is it going?",
    ]


def test_mem_1_a_ticket_that_somebody_else_has_is_remembered_as_unassigned() -> None:
    book = Book()
    book.ticket(5)
    book.say(TICKET, k.HandOverTicket(to="bob"))

    assert _recalled(book, TICKET) == ["ticket unassigned: COR-5 Fix the login form"]


def test_mem_2_texts_are_folded_and_cut() -> None:
    book = Book()
    book.answered(100, 205, "so  long\n" * 500)

    [row] = _rows(book, kind="reply")
    summary = str(row["summary"])
    assert summary.startswith("so long so long")
    assert len(summary) <= SUMMARY_CHARACTERS_MAX
    assert summary.endswith("…")


def test_mem_3_only_the_same_conversation_is_recalled_whatever_the_words() -> None:
    book = Book()
    book.answered(100, 205, "About COR-5 in thread 10:300.")
    book.answered(300, 206, "Elsewhere.")
    book.ticket(5)

    assert _recalled(book, "thread:10:300") == [
        "turn succeeded: @Ada how is it going?",
        "reply delivered: Elsewhere.",
    ]
    assert _recalled(book, "thread:10:30") == []
    assert _recalled(book, TICKET) == []


def test_mem_4_the_oldest_entries_go_first() -> None:
    rows = _rows(_many(ENTRIES_MAX + 5))

    assert len(rows) == ENTRIES_MAX
    assert {row["key"] for row in rows} == {f"ticket:1:{n}" for n in range(5, ENTRIES_MAX + 5)}


def test_mem_4_an_old_entry_that_changes_is_not_old_any_more() -> None:
    book = _many(ENTRIES_MAX)
    book.events.append(
        _recorded("ticket:1:0", 3, TicketHandedOver(to="eve"), len(book.events) + 1)
    )
    position = len(book.events) + 1
    seen = TicketSeen(
        project_id=1, ticket_id=9999, slug="", title="T", revision="r", reason="assigned"
    )
    book.events.append(_recorded("ticket:1:9999", 1, seen, position))

    keys = {row["key"] for row in _rows(book)}
    assert "ticket:1:0" in keys
    assert "ticket:1:1" not in keys


def test_mem_6_memory_is_written_with_the_events_and_is_rebuilt_from_them() -> None:
    assert THREAD_MEMORY in INLINE


@settings(max_examples=40, deadline=None)
@given(books())
def test_mem_6_any_history_can_be_remembered_and_only_facts_are_recalled(book: Book) -> None:
    rows = _rows(book)

    for row in rows:
        is_fact = row["place"] is not None
        assert not is_fact or row["state"]
        assert row["key"] in {event.key for event in book.events}
        for line in recalled([row], but_not=""):
            assert "\n" not in line


def test_mem_7_the_conversation_is_the_tickets_else_the_threads_else_none() -> None:
    book = Book()
    ticket = book.state(book.ticket(5))
    mention = book.state(book.mention(100))

    assert conversation_of(ticket=ticket.ticket, thread=ticket.thread) == TICKET
    assert conversation_of(ticket=mention.ticket, thread=mention.thread) == THREAD
    assert conversation_of(ticket=TICKET, thread=THREAD) == TICKET
    assert conversation_of(ticket=None, thread=None) is None


def test_mem_8_an_entry_without_words_says_its_key() -> None:
    row: Row = {"key": "x:1", "kind": None, "state": None, "summary": None, "reason": None}

    assert recalled([{**row, "place": 1}], but_not="") == ["event observed: x:1"]


def test_mem_9_what_was_settled_last_is_there_for_the_next_run_in_the_order_of_the_log() -> None:
    book = Book()
    book.answered(100, 205, "First.")
    turn = book.mention(100 + 1, parent_id=100)
    book.start(turn, "run-2")
    book.settle(turn, Verdict.FAILED, reason="evidence-missing", missing=("a change",))

    assert _recalled(book, THREAD)[-1] == (
        "turn failed (evidence-missing; a change): @Ada how is it going?"
    )


def test_mem_10_the_last_eight_are_recalled_each_bounded() -> None:
    book = Book()
    for number in range(6):
        book.answered(100 + number, 300 + number, f"Answer {number}.")
    rows = [{**row, "conversation": THREAD} for row in _rows(book)]

    lines = recalled(rows, but_not="", characters_max=20)
    assert len(lines) == 8
    assert lines[-1] == "reply delivered: Ans"
    assert recalled(rows, but_not="")[-1] == "reply delivered: Answer 5."
    assert recalled(rows, but_not="", entries_max=0) == []


def test_mem_11_nothing_that_is_only_promised_and_nothing_of_itself_is_recalled() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn, seen=report("Soon."))
    delivery = book.answer(turn, "Soon.")
    assert _recalled(book, THREAD, but_not=turn) == []

    book.say(delivery, d.AttemptDelivery(epoch=1, rendered=1))
    book.say(delivery, d.LoseDelivery(reason="no answer", look_at=3.0, repost_after=4.0))
    assert _recalled(book, THREAD, but_not=turn) == ["reply not known to be delivered: Soon."]

    book.say(delivery, d.ReplanDelivery(reason="not-there", until=2.0))
    assert _recalled(book, THREAD, but_not=turn) == []


def test_mem_11_a_run_that_our_own_stop_cut_short_is_no_fact_yet() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.say(turn, t.InterruptTurn(reason=StopReason.CRASH))

    assert _recalled(book, THREAD) == []
