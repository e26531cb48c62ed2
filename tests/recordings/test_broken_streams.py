"""Streams that nobody meant to print: whatever the bytes, a reader comes to a conclusion."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.recordings.folders import Recording, recordings

from ov_es_adapters.runtimes.streams import DIALECTS, parser_for
from ov_es_domain.observation import StreamObservation, StreamOutcome

LINES_MAX = 60
LINE_BYTES_MAX = 20_000
EXITS = st.sampled_from([None, 0, 1, 143, -9, -15])

SMALL = [
    recording
    for recording in recordings()
    if len(recording.lines) <= LINES_MAX and max(map(len, recording.lines)) <= LINE_BYTES_MAX
]
WORDS = sorted(
    {
        word
        for recording in SMALL
        for line in recording.lines[:12]
        for word in line.decode(errors="replace").replace('"', " ").split()
        if word.isidentifier() and len(word) < 24
    }
)


def read(dialect: str, lines: Sequence[bytes], exit_status: int | None) -> StreamObservation:
    parser = parser_for(dialect)
    for line in lines:
        parser.feed(line)
    return parser.conclude(exit_status)


def assert_sound(dialect: str, lines: Sequence[bytes], exit_status: int | None) -> None:
    first, again = (read(dialect, lines, exit_status) for _ in range(2))

    assert first == again
    assert first.text.encode() is not None
    assert all(call.reason.encode() is not None for call in first.calls)
    assert first.outcome is not StreamOutcome.OK or first.text.strip()


@st.composite
def broken(draw: st.DrawFn) -> tuple[Recording, list[bytes]]:
    recording = draw(st.sampled_from(SMALL))
    lines = list(recording.lines)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        middle = draw(st.integers(0, len(line)))
        match draw(st.sampled_from(["cut", "flip", "drop", "repeat", "swap", "insert", "join"])):
            case "cut":
                lines[at] = line[:middle]
            case "flip":
                lines[at] = line[:middle] + draw(st.binary(max_size=3)) + line[middle + 1 :]
            case "drop":
                lines[at] = b""
            case "repeat":
                lines.insert(draw(st.integers(0, len(lines))), line)
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], line
            case "insert":
                lines.insert(at, draw(st.binary(max_size=40)))
            case _:
                lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    return recording, lines


@given(broken(), EXITS)
@settings(max_examples=300, deadline=None)
def test_mutated_recordings_never_raise(
    mutated: tuple[Recording, list[bytes]], exit_status: int | None
) -> None:
    recording, lines = mutated

    assert_sound(recording.dialect, lines, exit_status)


@given(st.sampled_from(SMALL), st.data())
@settings(max_examples=150, deadline=None)
def test_what_a_stream_proves_is_never_more_than_what_its_whole_does(
    recording: Recording, data: st.DataObject
) -> None:
    length = data.draw(st.integers(0, len(recording.stream)))

    seen = read(recording.dialect, recording.stream[:length].split(b"\n"), -9)

    truth = recording.meta["truth"]
    done = Counter(call["tool"] for call in truth["mcp_calls"] if call["ok"])
    assert not Counter(call.tool for call in seen.calls if call.ok) - done
    assert (seen.posts or 0) <= len(truth["messages_posted"])
    assert not (seen.ticket_updated and not truth["ticket_updated"])


@given(st.sampled_from(DIALECTS), st.lists(st.binary(max_size=60), max_size=6), EXITS)
def test_any_bytes_are_taken(dialect: str, lines: list[bytes], exit_status: int | None) -> None:
    assert_sound(dialect, lines, exit_status)


def nonsense(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.sampled_from(WORDS) | st.text(),
    nonsense,
    max_leaves=12,
)


@st.composite
def grafted(draw: st.DrawFn) -> tuple[str, list[bytes]]:
    """Put nonsense in place of fields of real events, wherever they are."""
    recording = draw(st.sampled_from(SMALL))
    lines = [line for line in recording.lines if line]
    for _ in range(min(3, len(lines))):
        at = draw(st.integers(0, len(lines) - 1))
        event = orjson.loads(lines[at])
        node: Any = event
        while isinstance(node, dict) and node:
            name = draw(st.sampled_from(sorted(node)))
            if isinstance(node[name], dict | list) and node[name] and draw(st.booleans()):
                node = node[name] if isinstance(node[name], dict) else node[name][0]
                continue
            node[name] = draw(VALUES)
            break
        lines[at] = orjson.dumps(event, option=orjson.OPT_NON_STR_KEYS)
    return recording.dialect, lines


@given(grafted(), EXITS)
@settings(max_examples=300, deadline=None)
def test_fields_of_any_type_are_taken(
    given_stream: tuple[str, list[bytes]], exit_status: int | None
) -> None:
    dialect, lines = given_stream

    assert_sound(dialect, lines, exit_status)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "line",
    [
        b'{"type": ' + b"[" * 100_000,
        b'{"type": ' * 2_000 + b"1" + b"}" * 2_000,
        b'{"type": "text", "part": {"text": "\\ud83d"}}',
        b'{"type": "\xff\xfe"}',
        b'{"type": 1e999, "id": ' + b"9" * 5_000 + b"}",
        b'{"type": NaN}',
        b"null",
        b"\x00",
        b'{"type": "result"}' * 2,
    ],
)
def test_str_01_hostile_lines_are_counted_and_survived(dialect: str, line: bytes) -> None:
    seen = read(dialect, [line], None)

    assert seen.unreadable_lines + seen.unknown_events <= 1
    assert seen.outcome is StreamOutcome.UNKNOWN
