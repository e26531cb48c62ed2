"""Each read model says what the aggregates say, however it came about."""

from hypothesis import given, settings
from tests.projections.histories import Book, a_day
from tests.projections.made_histories import books

from ov_es_domain.catalogue import lifecycle_of
from ov_es_domain.lifecycle import fold
from ov_es_projections.history import MemoryHistory
from ov_es_projections.inline import INLINE
from ov_es_projections.open_turns import in_order
from ov_es_projections.projection import MemoryTables
from ov_es_projections.story import TRACKED


def states(book: Book, kind: str) -> dict[str, str]:
    keys = {event.key for event in book.events if event.key.startswith(f"{kind}:")}
    return {
        key: fold(lifecycle_of(key), (e.body for e in book.events if e.key == key)).state
        for key in keys
    }


@settings(max_examples=60, deadline=None)
@given(books())
def test_the_rows_are_in_the_states_of_their_aggregates(book: Book) -> None:
    history = MemoryHistory.of(book.events)

    turns = {row["key"]: row["state"] for row in history.rows("open_turns")}
    tickets = {row["key"]: row["state"] for row in history.rows("tickets")}
    deliveries = {row["key"]: row["state"] for row in history.rows("deliveries")}
    signals = {row["source"]: row["outcome"] for row in history.rows("signals")}
    watches = {row["key"]: row["state"] for row in history.rows("watches")}

    open_turns = {key for key in states(book, "turn") if book.state(key).is_open}
    waiting_for_a_person = {
        key
        for key in open_turns
        if book.state(key).state == "interrupted" and not book.state(key).stop.resumes
    }
    assert turns.keys() == open_turns - waiting_for_a_person
    assert turns == {key: book.state(str(key)).state for key in turns}
    assert tickets == states(book, "ticket")
    assert deliveries == states(book, "delivery")
    assert watches == states(book, "watch")
    assert {f"signal:{source}" for source in signals} == states(book, "signal").keys()


@settings(max_examples=30, deadline=None)
@given(books())
def test_an_open_turn_has_the_attempt_and_the_group_of_its_aggregate(book: Book) -> None:
    history = MemoryHistory.of(book.events)

    for row in history.rows("open_turns"):
        turn = book.state(str(row["key"]))
        assert (row["attempt"], row["turn_group"]) == (turn.attempt, turn.group)
        assert (row["not_before"], row["ticket"]) == (turn.not_before, turn.ticket)
        assert row["execution"] == (turn.execution if turn.is_running else "")


@settings(max_examples=30, deadline=None)
@given(books())
def test_a_delivery_has_the_attempts_and_the_message_of_its_aggregate(book: Book) -> None:
    history = MemoryHistory.of(book.events)

    for row in history.rows("deliveries"):
        delivery = book.state(str(row["key"]))
        message = None if delivery.message_id is None else str(delivery.message_id)
        assert (row["attempts"], row["message_id"]) == (delivery.attempts, message)
        assert row["slot"] == delivery.slot


@settings(max_examples=30, deadline=None)
@given(books())
def test_folding_in_two_pieces_gives_what_folding_in_one_does(book: Book) -> None:
    half = len(book.events) // 2
    whole = MemoryTables((*INLINE, *TRACKED))
    pieces = MemoryTables((*INLINE, *TRACKED))

    for event in book.events:
        whole.apply(event)
    for event in (*book.events[:half], *book.events[half:]):
        pieces.apply(event)

    assert whole.rows == pieces.rows


def test_a_settled_turn_leaves_the_queue() -> None:
    history = MemoryHistory.of(a_day().events)

    assert list(history.rows("open_turns")) == []


def test_q_103_a_turn_that_waits_again_keeps_its_place() -> None:
    book = Book()
    first = book.mention(100)
    second = book.mention(101)
    history = MemoryHistory.of(book.events)

    assert [row["key"] for row in in_order(history.rows("open_turns"))] == [first, second]


def test_a_story_is_found_by_its_correlation_and_its_message() -> None:
    history = MemoryHistory.of(a_day().events)

    assert {row["key"] for row in history.rows("story", correlation="ticket:1:5")} == {
        "signal:ticket:1:5",
        "ticket:1:5",
        "turn:ticket:1:5:1",
        "delivery:report:1:5:r1",
    }
    assert [row["key"] for row in history.rows("story", message_id="205")] == [
        "delivery:reply:10:100"
    ]


def test_a_memory_history_finds_events_by_reference() -> None:
    book = a_day()
    history = MemoryHistory.of(book.events)

    assert history.find("signal:mention:10:100", 2) in book.events
    assert history.find("signal:mention:10:100", 3) is None
    assert history.find("signal:mention:10:100", 0) is None
    assert history.position == len(book.events)
    assert history.keys[0] == "watch:ada"
