"""Puts what others wrote into a prompt, so that it stays data and keeps to its size."""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from unicodedata import category

from ov_es_domain.identity import Identifier
from ov_es_projections.cutting import beginning

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_MARK_DIGITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBounds:
    """How much of what others wrote goes into a prompt, in characters."""

    text_characters_max: int = 24_000
    """Of a message or a ticket; what is cut can be read with the team's tools."""
    line_characters_max: int = 300
    """Of a title, a name, a status: what stands on one line."""
    missing_characters_max: int = 4_000
    memory_entries_max: int = 8
    memory_characters_max: int = 2_000
    """Of each entry that is recalled (MEM-10)."""


DEFAULT_BOUNDS = PromptBounds()


def clean(text: str) -> str:
    r"""Return a text with plain line ends, and without what no prompt can carry.

    >>> clean("a\r\nb\0c\x1b[2Jd")
    'a\nbc[2Jd'
    """
    plain = _LINE_ENDS.sub("\n", text)
    if plain.isascii() and plain.replace("\n", "").isprintable():
        return plain
    return "".join(c for c in plain if c in "\n\t" or category(c) not in {"Cc", "Cs"})


def fenced(text: str, characters_max: int) -> str:
    r"""Return data between two lines that it can't imitate, cut to a size.

    The lines carry a mark that is nowhere in the data, in whatever case: so nothing in it can be
    the line that ends it, and it needs no escaping, which would change code in it. The mark
    depends on the data alone, so that the same turn has the same prompt again.

    >>> print(fenced("hello", 9))
    <<<data 2cf24dba
    hello
    data 2cf24dba>>>
    """
    whole = clean(text)
    shown = beginning(whole, characters_max)
    mark = _mark(shown)
    block = f"<<<data {mark}\n{shown}\ndata {mark}>>>"
    if shown == whole:
        return block
    return (
        f"{block}\n(These are the first {len(shown)} of {len(whole)} characters."
        " Read the rest with your tools if you need it.)"
    )


def _mark(text: str) -> str:
    folded = text.casefold()
    digest = sha256(text.encode()).hexdigest()
    while digest[:_MARK_DIGITS] in folded:
        digest = sha256(digest.encode()).hexdigest()
    return digest[:_MARK_DIGITS]


def arguments(**values: Identifier | None) -> str:
    r"""Return ids as arguments of tools: one line of JSON, whatever an id looks like.

    >>> arguments(project_id=1, ticket_id="x\ny", channel_id=None)
    '{"project_id": 1, "ticket_id": "x\\ny"}'
    """
    return json.dumps({name: value for name, value in values.items() if value is not None})


def literal(text: str) -> str:
    """Return a text in quotes, on one line.

    >>> literal("/src/a b")
    '"/src/a b"'
    """
    return json.dumps(text)
