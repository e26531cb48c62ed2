"""Lines and tails out of bytes, however they're chunked."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.runtimes.jsonl import LineSplitter, Tail

STREAMS = st.lists(
    st.one_of(st.binary(max_size=40), st.just(b"\n"), st.text(max_size=20).map(str.encode))
).map(b"".join)


@st.composite
def chunked(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
    """A stream, and the same stream as it might be read."""
    stream = draw(STREAMS)
    cuts = draw(st.lists(st.integers(0, len(stream)), max_size=12))
    borders = [0, *sorted(cuts), len(stream)]
    return stream, [stream[start:end] for start, end in pairwise(borders)]


def read_all(splitter: LineSplitter, chunks: list[bytes]) -> list[bytes]:
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines + splitter.close()


@given(chunked())
def test_any_chunking_gives_the_same_lines(case: tuple[bytes, list[bytes]]) -> None:
    stream, chunks = case

    lines = read_all(LineSplitter(), chunks)

    *complete, last = stream.split(b"\n")
    assert lines == ([*complete, last] if last else complete)


@given(chunked(), st.integers(0, 12))
def test_a_line_beyond_the_cap_is_dropped_whole_and_counted(
    case: tuple[bytes, list[bytes]], cap: int
) -> None:
    stream, chunks = case
    splitter = LineSplitter(line_bytes_max=cap)

    lines = read_all(splitter, chunks)

    *complete, last = stream.split(b"\n")
    all_lines = [*complete, last] if last else complete
    assert lines == [line for line in all_lines if len(line) <= cap]
    assert splitter.dropped_count == sum(len(line) > cap for line in all_lines)


def test_only_a_line_feed_ends_a_line() -> None:
    line = "a\u2028b\u2029c\x85d\x0be\x0cf\rg".encode()

    assert LineSplitter().feed(line + b"\n") == [line]


def test_str_01_lines_of_any_length_up_to_the_cap_are_whole() -> None:
    long, longer = b"x" * 200 * 1024, b"y" * 8 * 1024 * 1024
    stream = long + b"\n" + longer + b"\nlast\n"

    lines = read_all(
        LineSplitter(), [stream[at : at + 65536] for at in range(0, len(stream), 65536)]
    )

    assert lines == [long, longer, b"last"]


def test_str_03_characters_split_between_reads_are_whole() -> None:
    text = "漢字とemoji 🦊"
    splitter, tail = LineSplitter(), Tail()

    lines: list[bytes] = []
    for byte in text.encode() + b"\n":
        lines += splitter.feed(bytes([byte]))
        tail.feed(bytes([byte]))

    assert [line.decode() for line in lines] == [text]
    assert tail.text() == text + "\n"


@given(st.text(), st.integers(1, 40), st.integers(1, 7))
def test_a_tail_is_an_ending_of_the_text_and_bounded(text: str, cap: int, step: int) -> None:
    raw = text.encode()
    tail = Tail(bytes_max=cap)

    for at in range(0, len(raw), step):
        tail.feed(raw[at : at + step])

    kept = tail.text()
    assert text.endswith(kept)
    assert len(kept.encode()) <= cap
    # What is lost is at most the beginning of one character.
    assert len(kept.encode()) > min(len(raw), cap) - 4
