"""Bytes of a stream as lines, and the end of a stream as text, whatever the reads look like.

Lines end at a line feed and nowhere else: Unicode's other separators appear inside JSON lines
(STR-03), and a character may be split between two reads. Everything stays bytes until it's whole.
Source: `agent-clis.md` section 0, points 8 to 10; RN-9; STR-01.
"""

LINE_BYTES_MAX = 64 * 1024 * 1024
TAIL_BYTES_MAX = 64 * 1024
CONTINUATION = range(0x80, 0xC0)
"""The bytes of a UTF-8 character after its first; there are at most three."""


class LineSplitter:
    """Cuts chunks of bytes into lines; a line beyond the cap is dropped whole, and counted."""

    def __init__(self, *, line_bytes_max: int = LINE_BYTES_MAX) -> None:
        self._line_bytes_max = line_bytes_max
        self._open = bytearray()
        self._is_dropping = False
        self.dropped_count = 0
        """Lines longer than the cap so far, the one that is still open included."""

    def feed(self, chunk: bytes) -> list[bytes]:
        r"""Return the lines that `chunk` completes, without their line feed.

        >>> splitter = LineSplitter()
        >>> splitter.feed(b'{"a"'), splitter.feed(b':1}\n{"b":2}\n{')
        ([], [b'{"a":1}', b'{"b":2}'])
        """
        lines: list[bytes] = []
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            self._extend(part)
            if not self._is_dropping:
                lines.append(bytes(self._open))
            self._begin()
        self._extend(rest)
        return lines

    def close(self) -> list[bytes]:
        """Return the last line, if the stream ended without a line feed.

        >>> splitter = LineSplitter()
        >>> splitter.feed(b"last"), splitter.close(), splitter.close()
        ([], [b'last'], [])
        """
        last = [bytes(self._open)] if self._open else []
        self._begin()
        return last

    def _begin(self) -> None:
        self._open = bytearray()
        self._is_dropping = False

    def _extend(self, part: bytes) -> None:
        if self._is_dropping:
            return
        if len(self._open) + len(part) > self._line_bytes_max:
            self._open = bytearray()
            self._is_dropping = True
            self.dropped_count += 1
            return
        self._open += part


class Tail:
    """The last part of a stream that would otherwise grow without bound (PRC-06)."""

    def __init__(self, *, bytes_max: int = TAIL_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._kept = bytearray()
        self._is_cut = False

    def feed(self, chunk: bytes) -> None:
        """Keep the newest bytes, and let go of the oldest."""
        self._kept += chunk
        if (excess := len(self._kept) - self._bytes_max) > 0:
            del self._kept[:excess]
            self._is_cut = True

    def text(self) -> str:
        """Return what is kept, beginning at a whole character.

        >>> tail = Tail(bytes_max=4)
        >>> tail.feed("añb".encode() + "c€".encode())
        >>> tail.text()
        'c€'
        """
        start = 0
        if self._is_cut:
            while start < min(3, len(self._kept)) and self._kept[start] in CONTINUATION:
                start += 1
        return self._kept[start:].decode("utf-8", errors="replace")
