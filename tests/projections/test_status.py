"""Who is connected, what runs, waits and is blocked: at one moment."""

from typing import Any

from tests.projections.histories import Book, a_day

from ov_es_domain.delivery import commands as d
from ov_es_domain.ticket.commands import PauseTicket
from ov_es_domain.turn import commands as t
from ov_es_domain.turn.kinds import Lane, StopReason
from ov_es_domain.watch import commands as w
from ov_es_projections import status
from ov_es_projections.history import MemoryHistory


def waiting(book: Book, lane: Lane, *, slots: int = 3, now: float | None = None) -> list[Any]:
    rows = MemoryHistory.of(book.events).rows("open_turns")
    return status.queue(rows, lane, slots=slots, now=book.now if now is None else now)


def agents(book: Book) -> list[Any]:
    return status.agents(MemoryHistory.of(book.events).rows("watches"), now=book.now + 60)


def test_a_watcher_that_is_connected_is_named_with_its_process() -> None:
    book = Book()
    book.watch()

    (ada,) = agents(book)

    assert (ada["agent"], ada["state"], ada["seconds"]) == ("ada", "connected", 60.0)
    assert ada["holder"]["host"] == "laptop"
    assert ada["holder"]["epoch"] == 1


def test_an_outage_says_since_when_and_why() -> None:
    book = Book()
    book.watch()
    book.say("watch:ada", w.NoteOutage(number=1, reason="the server closed it"))
    book.say(
        "watch:ada", w.NoteReconciliation(reason="start", tickets=0, mentions=0, problem="tasks")
    )

    (ada,) = agents(book)

    assert (ada["state"], ada["reason"], ada["problem"]) == (
        "outage",
        "the server closed it",
        "tasks",
    )


def test_after_an_orderly_stop_nobody_holds_the_watch() -> None:
    book = Book()
    book.watch()
    book.say("watch:ada", w.EndWatch(epoch=1, reason="stopped"))

    (ada,) = agents(book)

    assert (ada["state"], ada["holder"]) == ("not_watched", None)


def test_q_107_replies_start_one_at_a_time_in_the_order_of_their_arrival() -> None:
    book = Book()
    first, second = book.mention(100), book.mention(101)

    entries = waiting(book, Lane.REPLY, slots=status.REPLY_SLOTS)

    assert [(e["key"], e["deferral"]) for e in entries] == [(first, None), (second, "lane-full")]


def test_q_111_a_turn_whose_group_is_taken_is_overtaken_and_says_by_whom() -> None:
    book = Book()
    running = book.ticket(5)
    blocked = book.ticket(6)
    free = book.ticket(7, group="/src/COR-7")
    behind = book.ticket(8, group="/src/COR-7")
    book.start(running)

    entries = waiting(book, Lane.WORK)

    assert [(e["key"], e["deferral"], e["behind"]) for e in entries] == [
        (free, None, None),
        (blocked, "group-busy", running),
        (behind, "group-busy", free),
    ]


def test_a_turn_that_waits_for_a_time_comes_after_those_that_do_not() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.say(turn, t.InterruptTurn(reason=StopReason.CRASH))
    book.say(turn, t.RequeueTurn(reason="lost-in-a-crash", not_before=book.now + 100))
    other = book.mention(101)

    entries = waiting(book, Lane.REPLY)

    assert [e["key"] for e in entries] == [other, turn]
    assert entries[1]["deferral"] == "not-before"
    assert entries[1]["reason"] == "lost-in-a-crash"
    assert entries[1]["until"] is not None


def test_an_interrupted_turn_waits_too() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.say(turn, t.InterruptTurn(reason=StopReason.CRASH))

    assert [e["state"] for e in waiting(book, Lane.REPLY)] == ["interrupted"]


def test_what_runs_is_shown_with_its_time_and_not_as_waiting() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    rows = MemoryHistory.of(book.events).rows("open_turns")

    (shown,) = status.running(rows, now=book.now + 9)

    assert (shown["key"], shown["state"], shown["seconds"]) == (turn, "running", 10.0)
    assert waiting(book, Lane.REPLY) == []


def test_tickets_that_wait_for_people_are_shown() -> None:
    book = a_day()
    book.ticket(6)
    book.say("ticket:1:6", PauseTicket(reason="time-limit", revision=None))

    rows = MemoryHistory.of(book.events).rows("tickets")
    (shown,) = status.waiting_tickets(rows, now=book.now)

    assert (shown["key"], shown["slug"], shown["state"]) == ("ticket:1:6", "COR-6", "paused")


def test_a_message_that_is_promised_for_ten_minutes_is_late() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    delivery = book.answer(turn)
    book.say(delivery, d.DeferDelivery(reason="thread-unreadable", until=book.now))
    rows = MemoryHistory.of(book.events).rows("deliveries")

    early: dict[str, Any] = status.deliveries(rows, now=book.now + 60)
    late: dict[str, Any] = status.deliveries(rows, now=book.now + 700)

    assert (early["states"], early["open"], early["late"]) == ({"planned": 1}, 1, [])
    assert [(e["key"], e["reason"]) for e in late["late"]] == [(delivery, "thread-unreadable")]


def test_an_owed_report_is_not_late() -> None:
    book = Book()
    book.ticket(5)
    rows = MemoryHistory.of(book.events).rows("deliveries")

    told: dict[str, Any] = status.deliveries(rows, now=book.now + 9999)

    assert (told["states"], told["open"], told["late"]) == ({"owed": 1}, 0, [])


def test_lags_say_where_each_projection_is() -> None:
    assert status.lags({"story": 3, "open_turns": 0}, 10) == [
        {"name": "open_turns", "lag": 0, "position": 10},
        {"name": "story", "lag": 3, "position": 7},
    ]
