"""Recorded decisions are made again, and those that would come out otherwise are named."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from tests.projections.histories import Book, a_day, report, with_body
from tests.projections.made_histories import books

from ov_es_domain.catalogue import LIFECYCLES
from ov_es_domain.delivery.events import DeliveryDelivered
from ov_es_domain.errors import CommandRefusedError
from ov_es_domain.lifecycle import Lifecycle
from ov_es_domain.observation import RunReport
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal.events import SignalRefused, SignalSuppressed
from ov_es_domain.turn.events import TurnQueued, TurnSpawned
from ov_es_domain.turn.kinds import Verdict
from ov_es_projections.verification import verify


@settings(max_examples=40, deadline=None)
@given(books())
def test_what_the_rules_decided_is_decided_alike_again(book: Book) -> None:
    # Nobody asked the policies when the history was made: what they'd say differs, as an object.
    _, differences = verify(book.events)

    assert [each for each in differences if not isinstance(each.recorded, dict)] == []


def test_a_day_has_no_difference() -> None:
    book = a_day()
    commands = sum(1 for event in book.events if event.command is not None)

    decisions, differences = verify(book.events)

    assert differences == []
    assert decisions > commands


def test_a_field_that_no_rule_would_set_is_a_difference() -> None:
    events = a_day().events
    place = next(n for n, e in enumerate(events) if isinstance(e.body, DeliveryDelivered))
    changed = DeliveryDelivered(message_id=999, proof="answered")
    events[place] = with_body(events[place], changed)

    _, differences = verify(events)

    assert [each.position for each in differences] == [place + 1]
    assert differences[0].key == "delivery:reply:10:100"
    assert differences[0].recorded == [{"type": "delivery.delivered@1", "data": changed}]
    assert differences[0].now == [
        {"type": "delivery.delivered@1", "data": replace(changed, message_id=205)}
    ]


def test_only_the_first_difference_of_an_aggregate_is_named() -> None:
    book = Book()
    turn = book.mention(100)
    events = book.events
    book.start(turn)
    for place, event in enumerate(events):
        if isinstance(event.body, TurnQueued):
            events[place] = with_body(event, replace(event.body, title="another"))
        if isinstance(event.body, TurnSpawned):
            events[place] = with_body(event, replace(event.body, pid=1))

    _, differences = verify(events)

    assert [each.key for each in differences] == [turn]
    assert differences[0].position < len(events)


def test_a_transition_that_the_machine_lacks_is_a_difference() -> None:
    book = Book()
    turn = book.mention(100)
    book.write(turn, TurnSpawned(execution="x", pid=1, started="", marker=""))

    _, differences = verify(book.events)

    assert [each.position for each in differences] == [len(book.events)]
    assert differences[0].now == {"refused": "a turn cannot note_spawn while queued"}


def test_a_rule_that_would_refuse_today_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(aggregate: object, command: object) -> list[object]:
        del aggregate, command
        raise CommandRefusedError("not on Sundays")

    today: Lifecycle[Any] = replace(LIFECYCLES["ticket"], decide=refuse)
    book = a_day()
    monkeypatch.setitem(LIFECYCLES, "ticket", today)

    _, differences = verify(book.events)

    assert [each.key for each in differences] == ["ticket:1:5"]
    assert differences[0].now == {"refused": "not on Sundays"}


def test_ev_22_a_success_that_shows_nothing_is_judged_again() -> None:
    book = Book()
    turn = book.ticket(5)
    book.start(turn)
    book.settle(turn, seen=report(edits=0, ticket_read=False))

    _, differences = verify(book.events)

    assert [each.key for each in differences] == [turn]
    assert differences[0].recorded == {"verdict": "succeeded", "reason": "", "missing": []}
    assert "evidence-missing" in str(differences[0].now)


@pytest.mark.parametrize(
    ("verdict", "reason", "seen"),
    [
        (Verdict.FAILED, "empty-answer", report("")),
        (Verdict.SUCCEEDED, "", report("Yes.")),
    ],
)
def test_a_reply_is_judged_as_it_was(verdict: Verdict, reason: str, seen: RunReport) -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn, verdict, reason=reason, seen=seen)

    assert verify(book.events)[1] == []


def test_ws_14_a_repetition_that_was_refused_instead_is_a_difference() -> None:
    events = a_day().events
    place = next(n for n, e in enumerate(events) if isinstance(e.body, SignalSuppressed))
    suppressed = events[place].body
    assert isinstance(suppressed, SignalSuppressed)
    wrong = SignalRefused(arrival=suppressed.arrival, reason="empty-message", rule="WS-9")
    events[place] = _without_command(with_body(events[place], wrong))

    _, differences = verify(events)

    assert [each.position for each in differences] == [place + 1]
    assert differences[0].now == {
        "type": "signal.suppressed@1",
        "reason": "duplicate",
        "rule": "WS-14",
    }


def _without_command(event: Recorded) -> Recorded:
    return event._replace(read_command=None)


def test_progress_is_told_for_each_event() -> None:
    told: list[int] = []
    book = a_day()

    verify(book.events, progress=told.append)

    assert told == [event.position for event in book.events]
