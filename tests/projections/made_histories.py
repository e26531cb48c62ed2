"""Histories that hypothesis makes: any commands in any order, as far as the rules allow them."""

from collections.abc import Callable

from hypothesis import strategies as st
from tests.projections.histories import Book, report

from ov_es_domain.delivery import commands as d
from ov_es_domain.errors import CommandRefusedError
from ov_es_domain.lifecycle import Command
from ov_es_domain.thread.commands import RedirectThread, WakeThread
from ov_es_domain.ticket import commands as k
from ov_es_domain.turn import commands as t
from ov_es_domain.turn.kinds import StopReason, Verdict
from ov_es_domain.watch import commands as w

TURN_COMMANDS: tuple[Callable[[], Command], ...] = (
    lambda: t.DeferTurn(reason="later", until=9.0),
    lambda: t.InterruptTurn(reason=StopReason.CRASH),
    lambda: t.InterruptTurn(reason=StopReason.PERSON),
    lambda: t.RequeueTurn(reason="lost-in-a-crash", not_before=5.0),
    lambda: t.RequestStop(reason=StopReason.SHUTDOWN, by="the watcher's stop"),
    lambda: t.CancelTurn(reason=StopReason.HANDED_OVER, by="the team"),
    lambda: t.FailTurn(reason="internal-error"),
    lambda: t.ReleaseTurn(reason="already-completed"),
    lambda: t.SettleTurn(
        execution="stale",
        attempt=9,
        verdict=Verdict.FAILED,
        reason="",
        report=report(),
        missing=(),
    ),
)
TICKET_COMMANDS: tuple[Callable[[], Command], ...] = (
    lambda: k.BlockTicket(reason="push-needs-authorization", root="/src"),
    lambda: k.PauseTicket(reason="time-limit", revision=None),
    lambda: k.NoteTicketRevision(revision="r2"),
    lambda: k.ReleaseTicket(reason="already-completed"),
    lambda: k.HandOverTicket(to="bob"),
)
DELIVERY_COMMANDS: tuple[Callable[[], Command], ...] = (
    lambda: d.DeferDelivery(reason="thread-unreadable", until=7.0),
    lambda: d.AttemptDelivery(epoch=1, rendered=2),
    lambda: d.ConfirmDelivery(message_id=900, proof="answered"),
    lambda: d.RefuseDelivery(reason="busy", until=8.0),
    lambda: d.LoseDelivery(reason="no answer", look_at=3.0, repost_after=4.0),
    lambda: d.LookForDelivery(reason="not-there-yet", look_at=4.0),
    lambda: d.ReplanDelivery(reason="not-there", until=2.0),
    lambda: d.SuppressDelivery(reason="thread-cancelled", rule="DL-5", message_id=None),
    lambda: d.AbandonDelivery(reason="no-channel", by="DL-22"),
)
THREAD_COMMANDS: tuple[Callable[[], Command], ...] = (
    lambda: RedirectThread(by="Maya", source="mention:10:99", at=1.0),
    lambda: WakeThread(source="mention:10:98"),
)
WATCH_COMMANDS: tuple[Callable[[], Command], ...] = (
    lambda: w.NoteOutage(number=1, reason="gone"),
    lambda: w.NoteConnection(number=2),
    lambda: w.NoteAgent(agent_id=7),
    lambda: w.NoteReconciliation(reason="interval", tickets=1, mentions=0, problem=""),
    lambda: w.EndWatch(epoch=1, reason="stopped"),
    lambda: w.BeginWatch(agent="ada", host="other", pid=2, program="ov-es 0.1"),
)
_COMMANDS = {
    "turn": TURN_COMMANDS,
    "ticket": TICKET_COMMANDS,
    "delivery": DELIVERY_COMMANDS,
    "thread": THREAD_COMMANDS,
    "watch": WATCH_COMMANDS,
}


def _step(book: Book, draw: st.DrawFn) -> None:
    kind = draw(st.integers(0, 7))
    message = draw(st.integers(100, 104))
    if kind == 0:
        book.mention(message)
    elif kind == 1:
        book.ticket(draw(st.integers(5, 6)))
    elif kind == 2:
        book.duplicate(message)
    elif kind == 3:
        book.refused(message + 50)
    else:
        key = draw(st.sampled_from(sorted({event.key for event in book.events})))
        of_kind = key.partition(":")[0]
        state = book.state(key)
        if of_kind == "turn" and kind == 4:
            book.start(key, f"run-{len(book.events)}")
        elif of_kind == "turn" and kind == 5:
            book.settle(key, draw(st.sampled_from(Verdict)), reason="time-limit")
        elif of_kind == "turn" and kind == 6 and state.slot and state.state == "succeeded":
            book.answer(key)
        elif of_kind in _COMMANDS:
            commands = _COMMANDS[of_kind]
            book.say(key, commands[draw(st.integers(0, len(commands) - 1))]())


@st.composite
def books(draw: st.DrawFn) -> Book:
    """Make a past of up to sixty decisions; what a rule refuses doesn't happen."""
    book = Book()
    book.watch()
    for _ in range(draw(st.integers(0, 60))):
        try:
            _step(book, draw)
        except CommandRefusedError:
            continue
    return book
