"""Events as JSON and back: typed, small, and refused where they can't be what they say."""

from dataclasses import replace
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts.event_histories import Past, commands, connected

from ov_es_adapters.errors import CorruptLogError, StoreError
from ov_es_adapters.event_log.serialization import decode, encode
from ov_es_adapters.event_log.upcasts import UPCASTS
from ov_es_domain.catalogue import LIFECYCLES
from ov_es_domain.lifecycle import EVENTS, Event, event
from ov_es_domain.recorded import NewEvent
from ov_es_domain.ticket.commands import SeeTicket
from ov_es_domain.ticket.events import TicketSeen
from ov_es_domain.watch.commands import NoteConnection
from ov_es_domain.watch.events import WatchConnected, WatchDisconnected

STATE = encode(connected(1))


def ticket_seen(project: int | str) -> NewEvent:
    said = {"ticket_id": 5, "slug": "COR-5", "title": "Fix", "revision": "1", "reason": "assigned"}
    return NewEvent(
        key="ticket:1:5",
        version=1,
        body=TicketSeen(project_id=project, **cast(Any, said)),
        at=2.5,
        cause="operator:ada",
        correlation="ticket:1:5",
        command=SeeTicket(project_id=project, **cast(Any, said)),
    )


def read(state: object, topic: str = "watch.connected@1") -> Any:
    return decode(7, "watch:ada", 1, topic, cast(bytes, state))


# --- what is written -----------------------------------------------------------------------------


def test_a_command_leaves_out_what_its_event_repeats() -> None:
    stored = msgspec.json.decode(encode(ticket_seen(1)))

    assert stored["cmd"] == {"name": "see_ticket"}
    assert stored["data"]["title"] == "Fix"


@pytest.mark.parametrize("project", [1, "1"])
def test_an_id_keeps_its_type_in_event_and_command(project: int | str) -> None:
    new = ticket_seen(project)

    recorded = decode(1, new.key, 1, "ticket.seen@1", encode(new))

    assert recorded.body == new.body
    assert recorded.command == new.command


@given(asked=st.lists(commands(), min_size=1, max_size=12))
def test_every_answer_is_read_as_it_was_given(asked: list[tuple[str, Any]]) -> None:
    past = Past()

    events = [made for key, command in asked for made in past.answer(key, command, 1.5)]

    for new in events:
        recorded = decode(3, new.key, new.version, new.body.TOPIC, encode(new))
        assert recorded.body == new.body
        assert recorded.command == new.command
        assert (recorded.at, recorded.cause, recorded.correlation) == (
            new.at,
            new.cause,
            new.correlation,
        )


def test_a_value_that_is_only_equal_is_not_left_out() -> None:
    is_number = True
    new = replace(
        connected(1),
        body=WatchConnected(number=1),
        command=NoteConnection(number=cast(int, is_number)),
    )

    stored = msgspec.json.decode(encode(new))

    assert stored["cmd"] == {"name": "note_connection", "number": True}


@pytest.mark.parametrize(
    "body",
    [
        WatchConnected(number=cast(int, "one")),
        WatchConnected(number=cast(int, float("inf"))),
        WatchDisconnected(number=1, reason="half a character: \ud83c"),
    ],
)
def test_what_could_not_be_read_again_is_refused(body: Event) -> None:
    with pytest.raises(StoreError, match=r"watch:ada@1.*nothing was written"):
        encode(replace(connected(1), body=body))


def test_an_event_of_no_declared_topic_is_refused() -> None:
    class Undeclared(Event):
        TOPIC = "undeclared.happened@1"

    with pytest.raises(StoreError, match=r"undeclared\.happened@1 isn't declared"):
        encode(replace(connected(1), body=Undeclared()))


# --- what is read --------------------------------------------------------------------------------


def test_a_field_that_a_later_version_added_is_passed_over() -> None:
    state = b'{"at":1,"cause":"c","corr":"k","later":[],"data":{"number":1,"later":{"a":1}}}'

    assert read(state).body == WatchConnected(number=1)


def test_an_unknown_topic_is_named_with_its_position() -> None:
    with pytest.raises(CorruptLogError, match=r"position 7 .*'watch.sang@1'") as caught:
        read(STATE, "watch.sang@1")

    assert (caught.value.position, caught.value.key) == (7, "watch:ada")


@pytest.mark.parametrize(
    "state",
    [
        b"",
        b"null",
        b"\xff\xfe",
        b'{"at":1,"cause":"c","corr":"k","data":{}}',
        b'{"at":1,"cause":"c","corr":"k","data":{"number":"1"}}',
        b'{"at":1,"cause":"c\xff","corr":"k","data":{"number":1}}',
        b'{"at":1,"cause":"c","corr":"k","data":{"number":1},"more":' + b"[" * 99999,
        "no bytes at all \u00e9",
        17,
        None,
    ],
)
def test_a_state_that_is_not_what_its_topic_says_is_corrupt(state: object) -> None:
    with pytest.raises(CorruptLogError) as caught:
        read(state)

    assert caught.value.position == 7


@pytest.mark.parametrize(
    "command",
    [b"5", b"{}", b'{"name":"sing"}', b'{"name":"note_connection","number":"x"}', b'{"name":[]}'],
)
def test_an_unreadable_command_spoils_only_what_asks_for_it(command: bytes) -> None:
    recorded = read(STATE[:-1] + b',"cmd":' + command + b"}")

    assert recorded.body == WatchConnected(number=1)
    with pytest.raises(CorruptLogError, match="its command"):
        _ = recorded.command


@given(data=st.data())
def test_altered_bytes_are_read_as_an_event_or_refused_as_corrupt(data: st.DataObject) -> None:
    new = ticket_seen(1)
    state = bytearray(encode(new))
    for _ in range(data.draw(st.integers(1, 3))):
        state[data.draw(st.integers(0, len(state) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(state)))

    for altered in (bytes(state), bytes(state[:cut])):
        try:
            recorded = decode(7, new.key, 1, "ticket.seen@1", altered)
            command = recorded.command
        except CorruptLogError:
            continue
        assert isinstance(recorded.body, TicketSeen)
        assert command is None or isinstance(command, SeeTicket)


# --- events of old topics ------------------------------------------------------------------------


@pytest.fixture
def old_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two older versions of `watch.disconnected`, of which nobody has written a line."""
    monkeypatch.setitem(
        UPCASTS,
        "watch.disconnected@-1",
        ("watch.disconnected@0", lambda body: {**body, "why": body["why"] or "no reason"}),
    )
    monkeypatch.setitem(
        UPCASTS,
        "watch.disconnected@0",
        (
            "watch.disconnected@1",
            lambda body: {"number": body["nr"], "reason": body["why"]},
        ),
    )


@pytest.mark.usefixtures("old_topics")
def test_an_old_event_is_read_as_todays_step_by_step() -> None:
    state = b'{"at":1,"cause":"c","corr":"k","data":{"nr":3,"why":""}}'

    recorded = read(state, "watch.disconnected@-1")

    assert recorded.body == WatchDisconnected(number=3, reason="no reason")
    assert recorded.position == 7


@pytest.mark.usefixtures("old_topics")
def test_the_command_of_an_old_event_has_what_the_event_said_then_and_now() -> None:
    state = (
        b'{"at":1,"cause":"c","corr":"k","data":{"nr":3,"why":"late"},'
        b'"cmd":{"name":"note_outage"}}'
    )

    command = read(state, "watch.disconnected@0").command

    assert (command.number, command.reason) == (3, "late")


@pytest.mark.usefixtures("old_topics")
@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"nr":"x","why":"y"}', b'{"nr":1,"why":{}}'])
def test_an_old_event_that_cannot_be_brought_up_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptLogError, match="position 7"):
        read(b'{"at":1,"cause":"c","corr":"k","data":' + data + b"}", "watch.disconnected@0")


def test_a_topic_begins_with_the_kind_of_its_aggregate() -> None:
    """A check of a log relies on it."""
    assert {topic.partition(".")[0] for topic in EVENTS} <= set(LIFECYCLES)


def test_one_topic_is_one_event() -> None:
    with pytest.raises(ValueError, match=r"two events have the topic watch\.connected@1"):

        @event("watch.connected@1", transition="note_connection")
        class Another(Event):  # pyright: ignore[reportUnusedClass] - it can't be made
            number: int
