"""Why something was posted, or why nothing was: by causes alone."""

import pytest
from tests.projections.histories import Book, a_day, report

from ov_es_domain.delivery import commands as d
from ov_es_domain.policy.evidence import MISSING_CHANGE
from ov_es_domain.thread.commands import WakeThread
from ov_es_domain.ticket.commands import BlockTicket, PauseTicket, ReleaseTicket, SeeTicket
from ov_es_domain.turn import commands as t
from ov_es_domain.turn.kinds import StopReason, Verdict
from ov_es_projections.history import MemoryHistory
from ov_es_projections.subjects import find_subject
from ov_es_projections.why import Explanation, explain


def why(book: Book, text: str) -> Explanation:
    history = MemoryHistory.of(book.events)
    key = find_subject(text, history)
    assert key is not None, f"nothing is called {text}"
    return explain(key, history)


def types(explanation: Explanation) -> list[str]:
    return [link.type for link in explanation.chain]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("205", "delivery:reply:10:100"),
        ("reply:10:100", "delivery:reply:10:100"),
        ("delivery:reply:10:100", "delivery:reply:10:100"),
        ("100", "signal:mention:10:100"),
        ("mention:10:100", "signal:mention:10:100"),
        ("signal:mention:10:100", "signal:mention:10:100"),
        ("signal:mention:10:100@1", "signal:mention:10:100"),
        ("ticket:1:5", "ticket:1:5"),
        ("cor-5", "ticket:1:5"),
        ("turn:ticket:1:5:1", "turn:ticket:1:5:1"),
        ("thread:10:100", "thread:10:100"),
        ("watch:ada", "watch:ada"),
    ],
)
def test_things_are_found_by_what_people_call_them(text: str, key: str) -> None:
    history = MemoryHistory.of(a_day().events)

    assert find_subject(text, history) == key


@pytest.mark.parametrize("text", ["", "  ", "999", "COR-99", "nothing", "turn:", "delivery:x"])
def test_what_the_log_does_not_know_is_not_found(text: str) -> None:
    history = MemoryHistory.of(a_day().events)

    assert find_subject(text, history) is None


def test_a_post_is_explained_from_the_frame_on() -> None:
    explanation = why(a_day(), "205")

    assert types(explanation) == [
        "signal.accepted@1",
        "turn.queued@1",
        "turn.started@1",
        "turn.spawned@1",
        "turn.succeeded@1",
        "delivery.planned@1",
        "delivery.attempted@1",
        "delivery.delivered@1",
    ]
    assert explanation.chain[0].cause == "socket:agent:mention"
    assert explanation.outcome.startswith("Posted as message 205 in channel 10, thread 100")


def test_every_link_but_the_first_is_caused_by_one_in_the_chain() -> None:
    explanation = why(a_day(), "205")
    references = [f"{link.key}@" for link in explanation.chain]

    for link in explanation.chain[1:]:
        assert any(link.cause.startswith(reference) for reference in references)


def test_a_mention_is_explained_by_its_answer_and_shows_its_duplicate() -> None:
    explanation = why(a_day(), "mention:10:100")

    assert explanation.subject == "signal:mention:10:100"
    assert "Posted as message 205" in explanation.outcome
    assert [each.relation for each in explanation.siblings] == [
        "another arrival of the same source"
    ]
    assert "duplicate (WS-14)" in explanation.siblings[0].summary


def test_ws_14_a_source_whose_only_arrival_was_suppressed_names_what_it_repeats() -> None:
    book = Book()
    book.duplicate(100)

    assert "suppressed, duplicate of" in why(book, "100").outcome
    assert "(WS-14)" in why(book, "100").outcome


def test_th_3_a_message_for_others_is_refused_with_its_rule() -> None:
    explanation = why(a_day(), "mention:10:101")

    assert explanation.outcome == (
        "Nothing was posted: it's refused, explicit-other-recipient (TH-3)."
    )
    assert types(explanation) == ["signal.refused@1"]


def test_th_8_a_turn_that_was_stood_down_leads_back_to_whoever_did_it() -> None:
    explanation = why(a_day(), "mention:10:110")

    assert "stood down by Maya, thread-cancelled (TH-8)" in explanation.outcome
    assert "thread.stood_down@1" in types(explanation)
    assert {"signal:mention:10:110", "signal:mention:10:111"} >= {
        link.key for link in explanation.chain if link.type == "signal.accepted@1"
    }


def test_th_7_the_message_that_stands_down_is_explained_by_what_it_stopped() -> None:
    explanation = why(a_day(), "mention:10:111")

    assert "its thread is stood down (TH-7)" in explanation.outcome
    assert "turn.cancelled@1" in types(explanation)


def test_dl_5_a_suppressed_answer_names_who_stood_the_thread_down() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    delivery = book.answer(turn)
    book.stand_down(101, root=100)
    suppress = d.SuppressDelivery(reason="thread-cancelled", rule="DL-5", message_id=None)
    book.say(delivery, suppress)

    explanation = why(book, "mention:10:100")

    assert "Maya stood it down with mention:10:101" in explanation.outcome
    assert "(DL-5)" in explanation.outcome
    assert "thread.stood_down@1" in types(explanation)


def test_dl_6_an_answer_that_was_there_already_names_the_message() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    delivery = book.answer(turn)
    reason = "same-content-rendered"
    book.say(delivery, d.SuppressDelivery(reason=reason, rule="DL-6", message_id=150))

    assert "message 150 says it already (DL-6)" in why(book, delivery).outcome


def test_a_ticket_is_explained_by_its_report() -> None:
    explanation = why(a_day(), "COR-5")

    assert explanation.outcome.startswith("Posted as message 301 in channel 10")
    assert types(explanation)[0] == "signal.accepted@1"
    assert "turn.succeeded@1" in types(explanation)
    assert explanation.siblings == ()


def test_dl_17_a_report_is_the_outcome_though_the_turn_came_to_nothing() -> None:
    book = Book()
    turn = book.ticket(5)
    book.say(turn, t.ReleaseTurn(reason="already-in-review"))
    book.say("ticket:1:5", ReleaseTicket(reason="already-in-review"), cause=book.last(turn))
    delivery = "delivery:report:1:5:r1"
    owed = book.state(delivery)
    plan = d.PlanDelivery(
        slot=owed.slot,
        purpose=owed.purpose,
        target=owed.target,
        content="I've finished COR-5.",
        source=owed.source,
        source_at=owed.source_at,
        turn=None,
        ticket="ticket:1:5",
        thread=None,
    )
    book.say(delivery, plan, cause=book.last("ticket:1:5"))
    book.post(delivery, 601)

    for subject in ("COR-5", "signal:ticket:1:5", "601"):
        explanation = why(book, subject)
        assert explanation.outcome.startswith("Posted as message 601 in channel 10")
        assert {"turn.released@1", "ticket.released@1"} <= set(types(explanation))
    assert "already-in-review (TK-22)" in why(book, turn).outcome


def test_an_earlier_cycle_of_a_ticket_is_a_sibling() -> None:
    book = Book()
    first = book.ticket(5)
    book.reported(first, 301)
    book.reported(book.ticket(5), 302)

    explanation = why(book, "COR-5")

    assert explanation.outcome.startswith("Posted as message 302")
    assert (first, "another turn of the same source") in [
        (each.key, each.relation) for each in explanation.siblings
    ]
    assert "delivery:report:1:5:r1" in [each.key for each in explanation.siblings]


def test_ev_22_a_run_without_evidence_is_told_with_the_blocker_that_people_got() -> None:
    book = Book()
    turn = book.ticket(5)
    book.start(turn)
    seen = report(edits=0)
    missing = (MISSING_CHANGE,)
    book.settle(turn, Verdict.FAILED, reason="evidence-missing", missing=missing, seen=seen)
    pause = PauseTicket(reason="evidence-missing", revision=None)
    book.say("ticket:1:5", pause, cause=book.last(turn))
    book.post(book.blocker(turn), 400)

    explanation = why(book, "COR-5")

    assert "missing: a change in the repository (EV-22)" in explanation.outcome
    assert "message 400 is out" in explanation.outcome
    assert {"ticket.paused@1", "delivery.delivered@1"} <= set(types(explanation))


@pytest.mark.parametrize(
    ("verdict", "reason", "said"),
    [
        (Verdict.TIMED_OUT, "time-limit", "time limit (CY-13)"),
        (Verdict.BLOCKED, "push-needs-authorization", "(BL-11)"),
        (Verdict.FAILED, "empty-answer", "(DL-14)"),
    ],
)
def test_a_turn_that_did_not_succeed_says_why(verdict: Verdict, reason: str, said: str) -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn, verdict, reason=reason)

    assert why(book, turn).outcome.startswith("Nothing was posted: ")
    assert said in why(book, turn).outcome


def test_tk_22_a_turn_that_was_let_go_says_why() -> None:
    book = Book()
    turn = book.ticket(5)
    book.say(turn, t.ReleaseTurn(reason="already-completed"))

    assert "already-completed (TK-22)" in why(book, "COR-5").outcome


def test_an_interrupted_turn_will_run_again() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.say(turn, t.InterruptTurn(reason=StopReason.CRASH))

    assert "it will run again" in why(book, turn).outcome


def test_tk_28_a_ticket_that_never_got_a_turn_says_why() -> None:
    book = Book()
    key = "ticket:1:5"
    see = SeeTicket(
        project_id=1, ticket_id=5, slug="COR-5", title="Fix", revision="r1", reason="assigned"
    )
    book.say(key, see)
    book.say(key, BlockTicket(reason="no-workspace", root=None))

    explanation = why(book, "COR-5")

    assert explanation.outcome == (
        "It isn't worked on: the ticket is blocked, no-workspace (TK-28)."
    )


def test_q_111_a_waiting_turn_names_the_one_that_it_waits_behind() -> None:
    book = Book()
    first = book.ticket(5)
    second = book.ticket(6)
    book.start(first)

    assert why(book, first).outcome.startswith(f"Nothing is posted yet: {first} is running")
    assert f"behind {first} (Q-111)" in why(book, second).outcome


def test_a_retried_turn_says_for_what_it_waits() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    retry = t.RetryTurn(
        execution="run-1", attempt=1, report=report(""), reason="empty-answer", not_before=0.0
    )
    book.say(turn, retry)

    assert "still waiting, empty-answer in the reply lane" in why(book, turn).outcome


def test_each_state_of_a_promised_message_has_its_own_sentence() -> None:
    book = Book()
    turn = book.mention(100)
    book.start(turn)
    book.settle(turn)
    delivery = book.answer(turn)
    told = [why(book, delivery).outcome]

    for command in (
        d.DeferDelivery(reason="thread-unreadable", until=0.0),
        d.AttemptDelivery(epoch=1, rendered=1),
        d.LoseDelivery(reason="no answer", look_at=0.0, repost_after=0.0),
        d.LookForDelivery(reason="not-there-yet", look_at=0.0),
        d.ReplanDelivery(reason="not-there", until=0.0),
        d.AttemptDelivery(epoch=1, rendered=1),
        d.RefuseDelivery(reason="busy", until=0.0),
        d.AbandonDelivery(reason="no-channel", by="DL-22"),
        d.ConfirmDelivery(message_id=None, proof="operator", reason="I saw it"),
    ):
        book.say(delivery, command)
        told.append(why(book, delivery).outcome)

    assert "is promised" in told[0]
    assert "thread-unreadable (DL-9)" in told[1]
    assert "Attempt 1 to post" in told[2]
    assert "Nobody knows yet" in told[3]
    assert "Nobody knows yet" in told[4]
    assert "will be tried again" in told[5]
    assert "busy (DL-9)" in told[7]
    assert "given up by DL-22: no-channel" in told[8]
    assert "Posted in channel 10, thread 100" in told[9]


def test_dl_16_a_report_that_is_owed_is_not_yet_posted() -> None:
    book = Book()
    book.ticket(5)

    assert "is owed until its ticket is done (DL-16)" in why(book, "report:1:5:r1").outcome


def test_nearly_equal_messages_in_one_place_are_siblings() -> None:
    book = Book()
    book.answered(100, 205, "The login form is fixed and in review now.")
    turn = book.mention(102, "@Ada really?", parent_id=100)
    book.start(turn)
    book.settle(turn)
    other = book.answer(turn, "The login form is fixed, and in review now.")

    explanation = why(book, "205")

    assert [(each.key, each.relation) for each in explanation.siblings] == [
        (other, "nearly the same words in the same place")
    ]


def test_two_messages_with_the_same_words_are_shown_together() -> None:
    book = Book()
    book.answered(100, 205)
    book.answered(101, 206)

    explanation = why(book, "mention:10:100")

    assert ("signal:mention:10:101", "another message with the same words") in [
        (each.key, each.relation) for each in explanation.siblings
    ]


def test_a_thread_is_explained_by_its_last_change() -> None:
    book = a_day()

    assert "Maya stood it down" in why(book, "thread:10:110").outcome
    book.say("thread:10:110", WakeThread(source="mention:10:112"))
    assert "We're wanted in it" in why(book, "thread:10:110").outcome


def test_a_watch_is_explained_too() -> None:
    assert "connection 1 is open" in why(a_day(), "watch:ada").outcome


def test_an_accepted_signal_that_came_to_nothing_says_so() -> None:
    book = a_day()
    lost = [event for event in book.events if not event.key.startswith(("turn:", "delivery:"))]
    history = MemoryHistory.of(lost)

    told = explain("signal:mention:10:100", history)

    assert "no turn was queued" in told.outcome


@pytest.mark.parametrize("version", ["\u00b2", "\u0663", "x", ""])
def test_a_version_that_is_no_number_is_no_version(version: str) -> None:
    book = a_day()
    key = book.events[0].key

    assert find_subject(f"{key}@{version}", MemoryHistory.of(book.events)) != ""
