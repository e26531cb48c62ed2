r"""Splits what is too long for one message: the parts join to the exact original.

A character as a reader sees it stays whole: marks, joined emoji, flags and line ends aren't cut.
"""

import unicodedata

_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_TAGS = range(0xE0020, 0xE0080)
_HANGUL_INNER = range(0x1160, 0x1200)
_SEARCH_SHARE = 4
"""A good place to break is looked for in the last quarter of a part."""
_GRAPHEME_CHARACTERS_MAX = 64
"""Longer than any real one: text that never ends a grapheme is cut all the same."""
_BREAKS = ("\n\n", "\n", " ")
"""Where people would break, the best first."""


def split(text: str, *, most: int) -> tuple[str, ...]:
    r"""Return `text` in parts of at most `most` characters, in order.

    Shapes: "".join(parts) == text; at least one part. A part that would show nothing goes to the
    one before it, which is the only reason for a part to be longer.

    >>> split("One. Two.", most=5)
    ('One. ', 'Two.')
    """
    if most < 1:
        raise ValueError(f"a part of {most} characters holds nothing")
    parts: list[str] = []
    start = 0
    while len(text) - start > most:
        end = _end(text, start, most)
        parts.append(text[start:end])
        start = end
    parts.append(text[start:])
    visible: list[str] = []
    for part in parts:
        if visible and not (part.strip() and visible[-1].strip()):
            visible[-1] += part
        else:
            visible.append(part)
    return tuple(visible)


def _end(text: str, start: int, most: int) -> int:
    limit = start + most
    floor = limit - max(1, most // _SEARCH_SHARE)
    for mark in _BREAKS:
        found = text.rfind(mark, max(floor, start), limit)
        if found >= 0 and not _is_inside(text, found + len(mark)):
            return found + len(mark)
    for end in range(limit, max(start, limit - _GRAPHEME_CHARACTERS_MAX), -1):
        if not _is_inside(text, end):
            return end
    return limit


def _is_inside(text: str, at: int) -> bool:
    """Tell whether a cut before the character at `at` would break one that a reader sees."""
    before, after = text[at - 1], text[at]
    code = ord(after)
    extends = unicodedata.category(after).startswith("M") or after == _JOINER
    extends = extends or code in _SKIN_TONES or code in _TAGS or code in _HANGUL_INNER
    if extends or before == _JOINER or (before, after) == ("\r", "\n"):
        return True
    if code in _FLAG_LETTERS:
        letters = 0
        while at - letters > 0 and ord(text[at - letters - 1]) in _FLAG_LETTERS:
            letters += 1
        return letters % 2 == 1
    return False
