"""Shortens text without halving a character, as people count them."""

import re
from unicodedata import category

_JOINER = "\u200d"
_BACK_MAX = 32
"""Text that never ends a character, such as a thousand accents on one letter, is cut anyway."""
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")
"""What ends a line, moves a cursor or is half of a pair."""


def beginning(text: str, characters_max: int) -> str:
    r"""Return the beginning of a text; a letter keeps its accents, and an emoji its parts.

    >>> beginning("abcdef", 3), beginning("ab", 3)
    ('abc', 'ab')
    >>> beginning("cafe\u0301s", 4)
    'caf'
    """
    if len(text) <= characters_max:
        return text
    end = characters_max
    while end > 0 and _is_inside(text, end):
        end -= 1
        if characters_max - end > _BACK_MAX:
            return text[:characters_max]
    return text[:end]


def one_line(text: str, characters_max: int) -> str:
    r"""Return a text with white space collapsed, and cut where it's too long (MEM-2).

    >>> one_line(" a \n b ", 9), one_line("abcdef", 4)
    ('a b', 'abc…')
    """
    folded = " ".join(text.split())
    clean = " ".join(_INVISIBLE.sub(" ", folded[: characters_max + _BACK_MAX]).split())
    if len(folded) <= characters_max:
        return clean
    return beginning(clean, max(0, characters_max - 1)).rstrip() + "…"


def _is_inside(text: str, at: int) -> bool:
    """Tell whether the position is between the parts of one character."""
    before, after = text[at - 1], text[at]
    if _JOINER in (before, after) or category(after) in {"Mn", "Me", "Mc"}:
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    # Flags are pairs of letters, and only counting them tells where one begins.
    return _is_flag(after) and _flags_before(text, at) % 2 == 1


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, at: int) -> int:
    count = 0
    while count < at and _is_flag(text[at - 1 - count]):
        count += 1
    return count
