"""Reading frames: every spelling that the wire is known or likely to have, and every nonsense."""

import json
from collections.abc import Callable

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.websocket.frames import mention_arrival, read_frame
from ov_es_domain.signal.arrival import Arrival, ArrivalKind, Sender, Via

NOON = 1_767_268_800.0
MESSAGE = {
    "id": 100,
    "content": "@Ada what's the status?",
    "sender": {"id": 1, "name": "Maya", "kind": "person"},
}


def frame(kind: str, data: object) -> str:
    return json.dumps({"type": kind, "data": data})


def mention(data: dict[str, object]) -> Arrival:
    return read_frame(frame("agent:mention", data), at=NOON)


def test_a_mention_is_read_with_all_that_is_decided_about() -> None:
    text = frame("agent:mention", {"channel_id": 10, "message": {**MESSAGE, "parent_id": 90}})

    arrival = read_frame(text, at=NOON)

    assert arrival == Arrival(
        kind=ArrivalKind.MENTION,
        via=Via.SOCKET,
        at=NOON,
        wire_kind="agent:mention",
        channel_id=10,
        message_id=100,
        parent_id=90,
        text="@Ada what's the status?",
        sender=Sender(id=1, name="Maya"),
        digest=arrival.digest,
    )
    assert len(arrival.digest) == 32
    assert arrival.thread == "thread:10:90"


@pytest.mark.parametrize("kind", ["task:assigned", "task:created", "task:updated"])
@pytest.mark.parametrize(
    "data",
    [
        {"task": {"id": 5, "project_id": 1}},
        {"task": {"id": "5", "projectId": "1"}},
        {"task": {"id": 5}, "projectId": 1},
        {"task": {"id": 5, "project": {"id": 1}}},
        {"ticket": {"id": 5, "project_id": 1}},
        {"id": 5, "project_id": 1},
        {"id": 999, "taskId": 5, "projectId": 1},
        {"ticketId": 5, "project": {"id": 1}},
    ],
)
def test_ws_5_a_ticket_signal_gives_its_ids_in_each_spelling(kind: str, data: object) -> None:
    arrival = read_frame(frame(kind, data), at=NOON)

    assert arrival.kind == kind
    assert arrival.source == "ticket:1:5"
    assert arrival.problem == ""


def test_ws_5_nothing_else_of_a_ticket_signal_is_believed() -> None:
    told = {"id": 5, "project_id": 1, "title": "Push to main", "status": "done", "agent_id": 7}

    arrival = read_frame(frame("task:assigned", {"task": told}), at=NOON)

    assert arrival == Arrival(
        kind=ArrivalKind.TICKET_ASSIGNED,
        via=Via.SOCKET,
        at=NOON,
        wire_kind="task:assigned",
        project_id=1,
        ticket_id=5,
        digest=arrival.digest,
    )


@pytest.mark.parametrize("envelope", [("type", "data"), ("event", "payload"), ("kind", "data")])
def test_ws_5_the_envelope_may_be_spelled_in_several_ways(envelope: tuple[str, str]) -> None:
    kind, data = envelope

    arrival = read_frame(json.dumps({kind: "task:created", data: {"id": 5, "projectId": 1}}), at=0)

    assert arrival.source == "ticket:1:5"


def test_ws_5_a_frame_without_an_envelope_is_its_own_data() -> None:
    arrival = read_frame('{"type": "task:created", "task_id": 5, "project_id": 1}', at=NOON)

    assert arrival.source == "ticket:1:5"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"task": {"project_id": 1}}, "no-ticket-id"),
        ({"task": {"id": 5}}, "no-project-id"),
        ({"task": {"id": 5.5, "project_id": 1}}, "no-ticket-id"),
        ({"task": {"id": True, "project_id": 1}}, "no-ticket-id"),
        ({"task": {"id": [5], "project_id": 1}}, "no-ticket-id"),
        ({"task": {"id": "5:6", "project_id": 1}}, "no-ticket-id"),
        ({"task": {"id": "9" * 5000, "project_id": 1}}, "no-ticket-id"),
        ({"task": {"id": 5, "project_id": 10**30}}, "no-project-id"),
        ({}, "no-project-id"),
        (None, "no-project-id"),
        ("task", "no-project-id"),
    ],
)
def test_ws_6_a_ticket_signal_without_usable_ids_says_so(data: object, problem: str) -> None:
    arrival = read_frame(frame("task:assigned", data), at=NOON)

    assert arrival.kind is ArrivalKind.TICKET_ASSIGNED
    assert arrival.problem == problem
    assert arrival.source == f"frame:{arrival.digest}"


@pytest.mark.parametrize(
    ("data", "channel"),
    [
        ({"channel_id": 10, "channelId": 11}, 10),
        ({"channel_id": None, "channelId": 11}, 11),
        ({"channelId": "c-11"}, "c-11"),
        ({"channel_id": None, "channelId": None}, None),
        ({"channel_id": {}, "channelId": 11}, None),
        ({}, None),
    ],
)
def test_ws_7_the_channel_is_the_first_spelling_that_is_not_null(
    data: dict[str, object], channel: object
) -> None:
    arrival = mention({**data, "message": MESSAGE})

    assert arrival.channel_id == channel
    assert arrival.problem == ""


@pytest.mark.parametrize("message", [None, "hello", 5, [MESSAGE], True])
def test_ws_8_a_message_that_is_no_object_counts_as_empty(message: object) -> None:
    arrival = mention({"channel_id": 10, "message": message})

    assert arrival.kind is ArrivalKind.MENTION
    assert (arrival.text, arrival.message_id, arrival.sender) == ("", None, None)
    assert arrival.problem == "no-message-id"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "a", "body": "b", "text": "c"}, "a"),
        ({"content": "", "body": "b", "text": "c"}, "b"),
        ({"content": " \n", "body": None, "text": "c"}, "c"),
        ({"content": 5, "text": "c"}, "c"),
        ({"content": "a\r\n\t b\u00a0\u3000c\ufeffd\u2028e\x85f"}, "a b c d e f"),
        ({}, ""),
    ],
)
def test_ws_9_the_text_is_the_first_that_has_any_on_one_line(
    message: dict[str, object], text: str
) -> None:
    arrival = mention({"message": {"id": 100, **message}})

    assert arrival.text == text


def test_ws_9_a_long_text_is_never_cut() -> None:
    words = " ".join(f"word{n}" for n in range(200_000))

    arrival = mention({"message": {"id": 100, "content": words}})

    assert arrival.text == words


@pytest.mark.parametrize(
    ("message", "root"),
    [
        ({"id": 100, "parent_id": 90}, 90),
        ({"id": 100, "parentId": "90"}, 90),
        ({"id": 100, "parent_id": None, "parentId": 90}, 90),
        ({"id": 100, "parent_id": None}, 100),
        ({"id": 100}, 100),
    ],
)
def test_ws_10_the_thread_is_the_parents_or_the_messages_own(
    message: dict[str, object], root: int
) -> None:
    arrival = mention({"channel_id": 10, "message": message})

    assert arrival.root_id == root


@pytest.mark.parametrize(
    ("message", "sender"),
    [
        ({"sender": {"id": 1, "name": "Maya"}}, Sender(id=1, name="Maya")),
        ({"author": {"id": 8, "kind": "agent"}}, Sender(id=8, is_agent=True)),
        ({"user": {"name": "Bob", "type": "Agent"}}, Sender(name="Bob", is_agent=True)),
        ({"user": {"name": "Bob", "is_agent": True}}, Sender(name="Bob", is_agent=True)),
        ({"user": {"name": "Bob", "is_agent": "no"}}, Sender(name="Bob")),
        ({"sender": "Maya"}, Sender(name="Maya")),
        ({"sender": None, "author": {"id": "u1"}}, Sender(id="u1")),
        ({"sender": 5}, None),
        ({}, None),
    ],
)
def test_ws_11_the_sender_is_read_with_whether_it_is_an_agent(
    message: dict[str, object], sender: Sender | None
) -> None:
    arrival = mention({"message": {"id": 100, **message}})

    assert arrival.sender == sender


@pytest.mark.parametrize(
    ("listed", "mentions"),
    [
        ([7, "8", "ada"], (7, 8, "ada")),
        ([{"id": 7}, {"agent_id": 8}, {"identifier": "ada"}], (7, 8, "ada")),
        ([{"id": 7, "type": "agent"}, {"id": 7, "type": "user"}], (7, "user-7")),
        ([None, {}, [], 7, 7], (7,)),
        ([], ()),
        ("7", None),
        (None, None),
    ],
)
def test_the_backends_own_list_of_who_is_meant_is_taken(
    listed: object, mentions: tuple[object, ...] | None
) -> None:
    inside = mention({"message": {**MESSAGE, "mentions": listed}})
    beside = mention({"message": MESSAGE, "mentions": listed})

    assert inside.mentions == mentions
    assert beside.mentions == mentions


def test_ws_15_a_mention_without_an_id_has_its_words_for_one() -> None:
    message: dict[str, object] = {"content": "hello", "sender": {"id": 1, "name": "Maya"}}

    first = mention({"channel_id": 10, "message": message})
    again = mention({"message": {**message, "content": " hello\n"}, "channelId": 10})
    elsewhere = mention({"channel_id": 11, "message": message})
    by_another = mention({"channel_id": 10, "message": {**message, "sender": {"id": 2}}})

    assert first.problem == ""
    assert first.source == again.source == f"frame:{first.digest}"
    assert len({first.source, elsewhere.source, by_another.source}) == 3


def test_ws_17_a_mention_found_by_looking_is_the_same_value_as_from_the_socket() -> None:
    message = {**MESSAGE, "parent_id": 90, "mentions": [7]}
    socket = mention({"channel_id": 10, "message": message})

    found = mention_arrival(10, message, at=NOON, via=Via.SOCKET)
    by_default = mention_arrival(10, message, at=NOON)

    assert found == socket
    assert by_default.via is Via.RECONCILIATION
    assert by_default.source == socket.source


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not-json"),
        ("hello", "not-json"),
        (b"\xff\xfe\x00", "not-json"),
        ('{"type": "task:assigned"', "not-json"),
        ('{"type": "task:assigned", "data": NaN}', "not-json"),
        ("[" * 5000 + "]" * 5000, "not-json"),
        ('{"type": "task:assigned", "data": ' + '{"a":' * 5000 + "1" + "}" * 5001, "not-json"),
        ("[]", "not-an-object"),
        ("null", "not-an-object"),
        ("9" * 5000, "not-json"),
        ("9" * 300, "not-an-object"),
        ('"agent:mention"', "not-an-object"),
        ("{}", "unknown-kind"),
        ('{"type": null}', "unknown-kind"),
        ('{"type": ["agent:mention"]}', "unknown-kind"),
        ('{"type": "unknown"}', "unknown-kind"),
        ('{"type": "channel:agent:thinking", "data": {}}', "unknown-kind"),
    ],
)
def test_ws_19_what_cannot_be_read_arrives_with_its_problem(
    text: str | bytes, problem: str
) -> None:
    arrival = read_frame(text, at=NOON)

    assert arrival.kind is ArrivalKind.UNKNOWN
    assert arrival.problem == problem
    assert arrival.source == f"frame:{arrival.digest}"


def test_wsk_09_a_bad_frame_leaves_a_bounded_record_without_half_a_word() -> None:
    kind = "k" * 50 + " " + "x" * 1_000_000

    arrival = read_frame(json.dumps({"type": kind, "key": "S" * 5000}), at=NOON)
    noise = read_frame("see api_key=abcdefgh " * 100_000, at=NOON)

    assert arrival.wire_kind == "k" * 50 + "…"
    assert len(arrival.text) <= 201
    assert noise.text.endswith(("api_key=abcdefgh…", "see…"))


def test_a_request_with_half_an_emoji_in_it_is_not_lost() -> None:
    content = r"\\ud83d \ud83d\ude00 \ud83d"
    text = frame("agent:mention", {"message": {"id": 1, "content": "*"}}).replace("*", content)

    arrival = read_frame(text, at=NOON)

    assert arrival.text == "\\ud83d \U0001f600 \ufffd"


@pytest.mark.parametrize("change", [str.encode, lambda text: b"\xef\xbb\xbf" + text.encode()])
def test_bytes_and_a_byte_order_mark_change_nothing(change: Callable[[str], bytes]) -> None:
    text = frame("task:assigned", {"id": 5, "project_id": 1})

    assert read_frame(change(text), at=NOON) == read_frame(text, at=NOON)


NAMES = (
    *("type", "data", "task", "id", "project_id", "project", "message", "content", "body"),
    *("sender", "author", "name", "kind", "mentions", "channel_id", "parent_id"),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.text(st.characters(categories=["Cs", "Zs", "Nd"]))
    | st.just("agent:mention"),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=8)
    ),
    max_leaves=30,
)
KINDS = st.sampled_from([kind.value for kind in ArrivalKind])


def assert_can_be_recorded(arrival: Arrival) -> None:
    assert len(arrival.digest) == 32
    assert (arrival.kind is ArrivalKind.UNKNOWN) <= bool(arrival.problem)
    assert arrival.source
    stored = orjson.dumps(arrival)
    assert orjson.loads(stored)["text"] == arrival.text


@given(st.text(st.characters()) | st.text(st.characters(categories=["Cs"])) | st.binary())
def test_wsk_09_no_text_and_no_bytes_make_reading_fail(text: str | bytes) -> None:
    assert_can_be_recorded(read_frame(text, at=NOON))


@given(KINDS, JSON)
def test_wsk_09_no_json_makes_reading_fail(kind: str, data: object) -> None:
    text = json.dumps({"type": kind, "data": data})

    assert_can_be_recorded(read_frame(text, at=NOON))


@given(
    st.dictionaries(st.sampled_from(["id", "content", "sender", "mentions", "parent_id"]), JSON)
)
def test_ws_17_no_entry_of_the_teams_lists_makes_reading_fail(message: dict[str, object]) -> None:
    assert_can_be_recorded(mention_arrival(10, message, at=NOON))
