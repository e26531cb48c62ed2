"""Every invariant of the audit: a past that it finds something in, and one that it doesn't."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from tests.projections.histories import Book, a_day, report, with_body
from tests.projections.made_histories import books

from ov_es_domain.delivery import commands as d
from ov_es_domain.delivery import events as de
from ov_es_domain.recorded import Recorded
from ov_es_domain.thread.commands import StandThreadDown, WakeThread
from ov_es_domain.ticket.commands import BlockTicket
from ov_es_domain.turn import commands as t
from ov_es_domain.turn import events as te
from ov_es_domain.turn.kinds import StopReason
from ov_es_domain.watch.commands import EndWatch
from ov_es_projections.audit import Severity, audit
from ov_es_projections.audit.report import INVARIANTS


def rules(events: list[Recorded], *, at: float | None = None) -> list[str]:
    return [finding.rule for finding in audit(events, at=at).findings]


def test_a_day_is_clean() -> None:
    found = audit(a_day().events)

    assert found.findings == ()
    assert found.is_clean


@settings(max_examples=40, deadline=None)
@given(books())
def test_what_the_rules_made_follows_the_machines_and_names_its_causes(book: Book) -> None:
    assert "broken-sequence" not in rules(book.events)
    assert "stale-result-applied" not in rules(book.events)
    assert "posted-into-stood-down-thread" not in _but_for_stand_downs(book)


def _but_for_stand_downs(book: Book) -> list[str]:
    """The exit asks about the thread, and the made histories have no exit."""
    return [] if any(e.key.startswith("thread:") for e in book.events) else rules(book.events)


# --- broken-sequence -------------------


def test_a_missing_version_is_found() -> None:
    events = [e for e in a_day().events if not isinstance(e.body, te.TurnStarted)]

    assert set(rules(events)) >= {"broken-sequence"}


def test_a_transition_that_the_machine_lacks_is_found() -> None:
    book = Book()
    turn = book.mention(100)
    book.write(turn, te.TurnSucceeded(execution="", attempt=0, report=report()))

    assert "cannot succeed while queued" in audit(book.events).findings[0].message


def test_a_cause_that_is_not_in_the_log_is_found() -> None:
    book = Book()
    turn = book.mention(100)
    book.say(turn, t.DeferTurn(reason="later", until=0.0), cause="signal:mention:10:100@9")

    assert rules(book.events) == ["broken-sequence"]


def test_positions_that_do_not_grow_are_found() -> None:
    first, second, *_ = a_day().events

    assert "broken-sequence" in rules([first, second._replace(position=1)])


# --- posted-twice -------------------


def delivered_again(book: Book, first: str, *, content: str, message: int, slot: str) -> str:
    """Post something else for the source of a delivery, as no rule would."""
    plan = next(
        e.body for e in book.events if e.key == first and isinstance(e.body, de.DeliveryPlanned)
    )
    key = f"delivery:{slot}"
    book.write(key, replace(plan, slot=slot, content=content))
    book.post(key, message)
    return key


def test_dl_10_two_answers_to_one_message_are_found() -> None:
    book = Book()
    first = book.answered(100, 205)
    delivered_again(book, first, content="Really done.", message=206, slot="other")

    (found,) = audit(book.events).findings

    assert (found.rule, found.key) == ("posted-twice", "delivery:other")


def test_dl_6_the_same_words_for_one_source_in_one_place_are_found() -> None:
    book = Book()
    first = book.answered(100, 205)
    delivered_again(book, first, content="Done.", message=206, slot="other")

    assert rules(book.events) == ["posted-twice", "posted-twice"]


def test_one_message_that_proves_two_deliveries_is_found() -> None:
    book = Book()
    book.answered(100, 205, "Yes.")
    book.answered(101, 205, "No.")

    (found,) = audit(book.events).findings

    assert found.message == "message 205 proves delivery:reply:10:100 already"


def test_a_second_honest_answer_with_the_same_words_is_no_finding() -> None:
    book = Book()
    book.answered(100, 205, "ok")
    book.answered(101, 206, "ok")

    assert rules(book.events) == []


def test_what_an_operator_vouches_for_is_no_second_post() -> None:
    book = Book()
    first = book.answered(100, 205)
    plan = next(
        e.body for e in book.events if e.key == first and isinstance(e.body, de.DeliveryPlanned)
    )
    book.write("delivery:other", replace(plan, slot="other"))
    book.say("delivery:other", d.ConfirmDelivery(message_id=205, proof="operator"))

    assert rules(book.events) == []


# --- lost -------------------


def test_an_accepted_signal_without_a_turn_is_lost() -> None:
    book = Book()
    book.mention(100)
    events = [e for e in book.events if not e.key.startswith("turn:")]

    assert rules(events) == ["lost"]


def test_a_reply_that_succeeded_without_a_delivery_is_lost() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)

    assert rules(book.events) == ["lost"]


def test_tk_28_a_ticket_that_was_blocked_at_once_is_not_lost() -> None:
    book = Book()
    book.ticket(5)
    events = [e for e in book.events if not e.key.startswith(("turn:", "delivery:"))]
    book.events = events[:-1]
    book.say("ticket:1:5", BlockTicket(reason="no-workspace", root=None))

    assert "lost" not in rules(book.events)


# --- two-runs-at-once -------------------


def test_q_107_two_replies_at_once_are_found() -> None:
    book = Book()
    first, second = book.mention(100), book.mention(101)
    book.start(first, "run-1")
    book.start(second, "run-2")

    found = [f for f in audit(book.events).findings if f.rule == "two-runs-at-once"]

    assert [f.key for f in found] == [second]


def test_q_111_two_runs_in_one_directory_are_found() -> None:
    book = Book()
    first, second = book.ticket(5), book.ticket(6)
    book.start(first, "run-1")
    book.start(second, "run-2")

    assert "two-runs-at-once" in rules(book.events)


def test_runs_in_directories_of_their_own_may_overlap() -> None:
    book = Book()
    book.watch()
    first, second = book.ticket(5, group="/src/a"), book.ticket(6, group="/src/b")
    book.start(first, "run-1")
    book.start(second, "run-2")

    assert "two-runs-at-once" not in rules(book.events)


def test_a_run_after_the_end_of_another_is_no_finding() -> None:
    book = Book()
    book.watch()
    first, second = book.ticket(5), book.ticket(6)
    book.start(first, "run-1")
    book.say(first, t.InterruptTurn(reason=StopReason.CRASH))
    book.start(second, "run-2")

    assert "two-runs-at-once" not in rules(book.events)


# --- posted-into-stood-down-thread -------------------


def test_th_10_an_attempt_in_a_cancelled_thread_is_found() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    delivery = book.answer(turn)
    book.say("thread:10:100", StandThreadDown(by="Maya", source="mention:10:101", at=book.now))
    book.post(delivery, 205)

    (found,) = audit(book.events).findings

    assert (found.rule, found.key) == ("posted-into-stood-down-thread", delivery)


def test_th_11_an_attempt_in_a_thread_that_was_woken_is_no_finding() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    delivery = book.answer(turn)
    book.say("thread:10:100", StandThreadDown(by="Maya", source="mention:10:101", at=book.now))
    book.say("thread:10:100", WakeThread(source="mention:10:102"))
    book.post(delivery, 205)

    assert rules(book.events) == []


# --- stale-result-applied -------------------


def test_a_success_of_a_run_that_does_not_hold_the_turn_is_found() -> None:
    events = a_day().events
    place = next(n for n, e in enumerate(events) if isinstance(e.body, te.TurnSucceeded))
    body = events[place].body
    assert isinstance(body, te.TurnSucceeded)
    events[place] = with_body(events[place], replace(body, execution="another"))

    assert rules(events) == ["stale-result-applied"]


def test_a_stale_result_that_was_refused_is_no_finding() -> None:
    book = a_day()
    stale = t.RecoverTurn(
        execution="old", attempt=1, report=report(), missing=(), next_execution="new"
    )
    book.say("turn:mention:10:100:1", stale)

    assert rules(book.events) == []


# --- missing-evidence -------------------


@pytest.mark.parametrize(
    "lacking", [{"edits": 0}, {"ticket_read": False}, {"ticket_updated": False}]
)
def test_ev_22_a_success_that_can_not_be_shown_is_found(lacking: dict[str, Any]) -> None:
    book = Book()
    turn = book.ticket(5)
    book.start(turn)
    seen = report(**lacking)
    unchanged = replace(seen.workspace, changed=False, commits=0)
    book.settle(turn, seen=replace(seen, workspace=unchanged))

    assert "missing-evidence" in rules(book.events)


def test_a_success_that_shows_everything_is_no_finding() -> None:
    book = Book()
    turn = book.ticket(5)
    book.start(turn)
    book.settle(turn)

    assert rules(book.events) == []


# --- stuck, undeliverable, orphaned-run -------------------


def test_a_message_that_is_promised_for_ten_minutes_is_stuck() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    book.answer(turn)

    assert rules(book.events, at=book.now + 300) == []
    assert rules(book.events, at=book.now + 700) == ["stuck"]


def test_dl_22_a_message_that_was_given_up_is_for_a_person_to_look_at() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    delivery = book.answer(turn)
    book.say(delivery, d.AbandonDelivery(reason="no-channel", by="DL-22"))

    (found,) = audit(book.events).findings

    assert (found.rule, found.severity) == ("undeliverable", Severity.WARNING)
    assert not audit(book.events).is_clean


def test_a_message_that_an_operator_gave_up_is_no_finding() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    delivery = book.answer(turn)
    book.say(delivery, d.AbandonDelivery(reason="said it myself", by="operator:maya"))

    assert rules(book.events) == []


def test_a_run_that_nobody_watches_is_orphaned() -> None:
    book = Book()
    book.watch()
    book.start(book.mention(100))

    assert rules(book.events) == []
    book.say("watch:ada", EndWatch(epoch=1, reason="stopped"))
    assert rules(book.events) == ["orphaned-run"]


# --- the report -------------------


def test_every_invariant_says_what_it_forbids() -> None:
    names = [invariant.rule for invariant in INVARIANTS]

    assert len(set(names)) == len(names)
    assert all(invariant.explanation for invariant in INVARIANTS)


def test_the_figures_count_what_happened() -> None:
    told: dict[str, Any] = audit(a_day().events).as_data()

    assert told["events"] == len(a_day().events)
    assert told["agents"] == ["ada"]
    assert told["tickets"] == 1
    assert told["turns"] == {"cancelled": 1, "succeeded": 2}
    assert told["deliveries"] == {"delivered": 2}
    assert told["suppressed"] == {"duplicate": 1}
    assert told["refused"] == {"explicit-other-recipient": 1}
    assert told["latency"]["replies"] == 1
    assert told["latency"]["p50"] == told["latency"]["p99"] > 0
    assert (told["duplicates"], told["lost"], told["stuck"], told["findings"]) == (0, 0, 0, [])


def test_findings_come_in_the_order_of_the_log() -> None:
    book = Book()
    book.answered(100, 205, "Yes.")
    book.answered(101, 205, "No.")
    turn = book.mention(102)
    book.start(turn)
    book.settle(turn)

    positions = [finding.position for finding in audit(book.events).findings]

    assert positions == sorted(positions)
    assert len(positions) == 2
