"""Single fields of what the backend sends: each is read, or absent, and none can fail."""

import re
from collections.abc import Iterable, Mapping
from typing import cast

from ov_es_domain.identity import Identifier, identifier

# JavaScript's white space and Python's differ in a few characters; a run of either is one blank.
_WHITE_SPACE = re.compile(r"[\s\ufeff]+")
# Ids become parts of keys, whose parts are told apart by colons.
_USABLE_ID = re.compile(r"[^\s:\x00-\x1f\x7f]{1,200}")
# A cut may go through a key, whose half no redaction would find, so the last word goes as a whole.
_BROKEN_WORD = re.compile(r"[\w+/=.~%-]+\Z")
_NUMBER_MAX = 2**63 - 1


def record(value: object) -> Mapping[str, object]:
    """Return an object of the wire, or an empty one where it's anything else (WS-8).

    >>> dict(record({"id": 1})), dict(record("id")), dict(record(None))
    ({'id': 1}, {}, {})
    """
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def first_id(fields: Mapping[str, object], names: Iterable[str]) -> Identifier | None:
    """Return the first of the named fields that can be an id.

    >>> first_id({"id": "", "ticketId": "17"}, ("id", "ticketId"))
    17
    """
    found = (usable_id(fields.get(name)) for name in names)
    return next((each for each in found if each is not None), None)


def usable_id(value: object) -> Identifier | None:
    """Return an id that can be part of a key and be stored, else None.

    >>> usable_id(5), usable_id("a:b"), usable_id(2**70), usable_id("9" * 30) == "9" * 30
    (5, None, None, True)
    """
    match value:
        case str():
            trimmed = value.strip()
            if not _USABLE_ID.fullmatch(trimmed) or well_formed(trimmed) != trimmed:
                return None
            found = identifier(trimmed)
            # A longer number stays text: the log's numbers have 64 bits.
            return found if isinstance(found, str) or _fits(found) else trimmed
        case int():
            found = identifier(value)
            return found if _fits(found) else None
        case _:
            return None


def _fits(number: Identifier | None) -> bool:
    return isinstance(number, int) and abs(number) <= _NUMBER_MAX


def first_text(fields: Mapping[str, object], names: Iterable[str]) -> str:
    r"""Return the first of the named fields with text in it, on one line and whole (WS-9).

    >>> first_text({"content": "  ", "body": "one\n  two"}, ("content", "body", "text"))
    'one two'
    """
    found = (one_line(value) for name in names if isinstance(value := fields.get(name), str))
    return next(filter(None, found), "")


def one_line(text: str) -> str:
    r"""Make each run of white space one blank, and drop it at the ends.

    >>> one_line(" a\u00a0\ufeff b\u2028c ")
    'a b c'
    """
    return _WHITE_SPACE.sub(" ", well_formed(text)).strip(" ")


def excerpt(text: str, characters_max: int) -> str:
    """Return the beginning of a text on one line, never ending within a word.

    >>> excerpt("the key is abcdef", 14), excerpt("abcdef", 3)
    ('the key is…', '…')
    """
    # One line is made of a bounded piece, so that megabytes of blanks cost nothing.
    piece = one_line(text[: characters_max * 8])
    if len(piece) <= characters_max and len(text) <= characters_max * 8:
        return piece
    return _BROKEN_WORD.sub("", piece[:characters_max]).rstrip() + "…"


def well_formed(text: str) -> str:
    r"""Join halves of characters that belong together, and replace those that stand alone.

    >>> well_formed("a\ud83d") == "a\ufffd", well_formed("\ud83d\ude00") == "\U0001f600"
    (True, True)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
