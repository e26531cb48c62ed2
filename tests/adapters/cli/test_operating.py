"""`resolve` and `rebuild`: what an operator changes, on the record."""

import getpass
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.cli.conftest import Call
from tests.projections.histories import Book, a_day

from ov_es_adapters.errors import ConcurrentWriteError
from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.event_log.recorder_log import RecorderLog
from ov_es_adapters.event_log.watch_lock import watch_lock
from ov_es_domain.delivery import commands as d
from ov_es_domain.recorded import NewEvent, Recorded
from ov_es_domain.ticket.commands import BlockTicket

Keep = Callable[..., Path]
Document = Callable[..., Any]
WHO = f"operator:{getpass.getuser()}"


def undelivered() -> tuple[Book, str]:
    """Return a past with an answer of which nobody knows whether it's out."""
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    delivery = book.answer(turn)
    book.say(delivery, d.AttemptDelivery(epoch=1, rendered=1))
    book.say(delivery, d.LoseDelivery(reason="no answer", look_at=0.0, repost_after=0.0))
    return book, delivery


def blocked() -> Book:
    book = Book()
    turn = book.ticket(5)
    book.start(turn)
    book.say("ticket:1:5", BlockTicket(reason="push-needs-authorization", root=None))
    return book


@pytest.mark.parametrize(
    ("decision", "state", "kind"),
    [
        ("delivered", "delivered", "delivery.delivered@1"),
        ("abandoned", "abandoned", "delivery.abandoned@1"),
        ("retry", "planned", "delivery.replanned@1"),
    ],
)
def test_a_delivery_is_resolved_on_the_record(
    keep: Keep, document: Document, decision: str, state: str, kind: str
) -> None:
    book, delivery = undelivered()
    keep(book)

    told = document("resolve", delivery, "--as", decision, "--because", "I looked at the channel")

    assert (told["key"], told["state"]) == (delivery, state)
    last = told["events"][-1]
    assert (last["type"], last["cause"], last["correlation"]) == (kind, WHO, "thread:10:100")
    assert last["data"]["reason"] == "I looked at the channel"
    assert document("replay", "--verify")["verified"] is True
    assert decision == "retry" or document("audit")["findings"] == []


def test_an_operator_may_name_the_message(keep: Keep, document: Document) -> None:
    book, delivery = undelivered()
    keep(book)

    told = document(
        "resolve", delivery, "--as", "delivered", "--because", "there", "--message", "205"
    )

    assert told["fields"]["message_id"] == 205
    assert document("why", "205")["subject"] == delivery


def test_what_is_decided_already_changes_nothing(keep: Keep, document: Document) -> None:
    book, delivery = undelivered()
    keep(book)

    first = document("resolve", delivery, "--as", "delivered", "--because", "there")
    again = document("resolve", delivery, "--as", "delivered", "--because", "there")

    assert first == again


def test_tk_11_a_blocked_ticket_is_released_for_the_next_reconciliation(
    keep: Keep, document: Document
) -> None:
    book = blocked()
    book.settle("turn:ticket:1:5:1")
    keep(book)

    told = document("resolve", "COR-5", "--as", "retry", "--because", "the repository is set up")

    assert (told["key"], told["state"]) == ("ticket:1:5", "released")
    assert told["events"][-1]["data"]["reason"] == "the repository is set up"


def test_a_ticket_that_a_turn_holds_is_not_released_beside_it(keep: Keep, ov_es: Call) -> None:
    book = Book()
    book.start(book.ticket(5))
    keep(book)

    told = ov_es("resolve", "COR-5", "--as", "retry", "--because", "now")

    assert told.exit_code == 2
    assert "is held by turn:ticket:1:5:1" in told.stderr


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("COR-5", "--as", "delivered", "--because", "x"), "--as retry alone"),
        (("watch:ada", "--as", "retry", "--because", "x"), "is a watch"),
        (("205", "--as", "retry", "--because", "x"), "cannot replan while delivered"),
        (("205", "--as", "retry", "--because", " "), "--because is empty"),
        (("205", "--as", "retry", "--because", "x", "--message", "1"), "--as delivered alone"),
        (("205", "--as", "later", "--because", "x"), "'later' is not one of"),
        (("205", "--as", "retry"), "Missing option '--because'"),
        (("999", "--as", "retry", "--because", "x"), "nothing in the log is called"),
    ],
)
def test_what_can_not_be_decided_is_refused(
    ov_es: Call, arguments: tuple[str, ...], said: str
) -> None:
    told = ov_es("resolve", *arguments)

    assert told.exit_code == 2
    assert said in told.stderr


def test_a_watcher_that_is_faster_is_looked_at_again(
    keep: Keep, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    book, delivery = undelivered()
    path = keep(book)
    append = RecorderLog.append
    faster: list[bool] = []

    def append_later(self: RecorderLog, events: list[NewEvent], **more: Any) -> list[Recorded]:
        if not faster:
            faster.append(True)
            other = Book(events=list(book.events))
            other.say(delivery, d.LookForDelivery(reason="not-there-yet", look_at=9.0))
            with closing(open_log(f"sqlite:///{path}")) as log:
                append(log, other.new_events()[len(book.events) :])  # type: ignore[arg-type]
        return append(self, events, **more)

    monkeypatch.setattr(RecorderLog, "append", append_later)
    told = document("resolve", delivery, "--as", "abandoned", "--because", "too late")

    kinds = [event["type"] for event in told["events"]]
    assert kinds[-2:] == ["delivery.looked@1", "delivery.abandoned@1"]


def test_somebody_who_is_always_faster_is_told_in_the_end(
    keep: Keep, ov_es: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    book, delivery = undelivered()
    keep(book)

    def refuse(*_: object, **__: object) -> None:
        raise ConcurrentWriteError("somebody wrote first")

    monkeypatch.setattr(RecorderLog, "append", refuse)

    assert ov_es("resolve", delivery, "--as", "retry", "--because", "x").exit_code == 4


def test_nobody_needs_the_watchers_lock(keep: Keep, document: Document) -> None:
    book, delivery = undelivered()
    path = keep(book)

    with watch_lock(f"sqlite:///{path}"):
        assert document("status")["deliveries"]["open"] == 1
        told = document("resolve", delivery, "--as", "delivered", "--because", "there")

    assert told["state"] == "delivered"


def test_people_see_the_aggregate_after_the_decision(keep: Keep, ov_es: Call) -> None:
    book, delivery = undelivered()
    keep(book)

    told = ov_es("resolve", delivery, "--as", "delivered", "--because", "I saw it")

    assert f"{delivery} is delivered" in told.stdout
    assert "“I saw it”" in told.stdout


def test_rebuild_makes_all_projections_again(keep: Keep, document: Document, ov_es: Call) -> None:
    keep(a_day())

    told = document("rebuild")

    assert told["position"] == len(a_day().events)
    assert "story" in told["projections"]
    assert all(each["lag"] == 0 for each in document("status")["projections"])
    assert "built again" in ov_es("rebuild").stdout
