"""Who is meant by a message: a wake-up gives no ownership, the words are looked at first."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ov_es_domain.identity import Identifier
from ov_es_domain.policy.team_facts import RenderedMessage
from ov_es_domain.policy.vocabulary import Vocabulary

# What is never closed is a fence only where one begins, at the start of a line.
_FENCED = re.compile(r"```.*?```|^[ \t]*(?:```|~~~).*?(?:^[ \t]*~~~|\Z)", re.DOTALL | re.MULTILINE)
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_QUOTE = re.compile(r"^\s*>.*$", re.MULTILINE)
# In ASCII, and nothing but what an address is made of: a name may follow a letter of any script.
_ADDRESS = re.compile(
    r"[A-Za-z0-9._%+-]*[A-Za-z0-9]@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
    r"|[A-Za-z0-9_]+@[A-Za-z0-9_.-]+:\S+|\w+://[^\s)\]>]+"
)
_MENTION = re.compile(r"(?<![A-Za-z0-9_@./:])@([^\W_][\w-]*(?:\.[\w-]+)*)")


class Audience(StrEnum):
    """Whom a message is for."""

    US = "us"
    OTHERS = "others"
    NOBODY = "nobody"
    """It names nobody at all."""


@dataclass(frozen=True, slots=True)
class Addressing:
    """What the names in a message say."""

    audience: Audience
    others: tuple[str, ...]
    """The names in it that aren't ours, as written."""


def own_words(text: str) -> str:
    """Return what the sender says, without code, quotes and addresses (ADR-03).

    White space must still be as it was written: a quote ends with its line. What is the same
    letter or sign to people is the same one in what's returned, however it was typed.
    """
    text = unicodedata.normalize("NFKC", text)
    for pattern in (_FENCED, _INLINE_CODE, _QUOTE, _ADDRESS):
        text = pattern.sub(" ", text)
    return text


def _slug(name: str) -> str:
    return re.sub(r"[\W_]+", "-", name.casefold()).strip("-")


def _continues(text: str, end: int) -> bool:
    """Tell whether a name goes on at `end`: alpha is no part of alpha2 or alpha-two."""
    rest = text[end : end + 2]
    if not rest:
        return False
    first = rest[0]
    if first in "-_." and len(rest) > 1:
        return rest[1].isalnum()
    # A letter of a script without upper and lower case starts a new word, as in "@ada请看".
    return first == "_" or (first.isalnum() and unicodedata.category(first) != "Lo")


def _folded(text: str) -> tuple[str, list[int]]:
    """Return a text without case, and for each of its characters the place that it comes from.

    Some letters become two: ß, or İ.
    """
    letters = [(letter, place) for place, each in enumerate(text) for letter in each.casefold()]
    return "".join(letter for letter, _ in letters), [place for _, place in letters] + [len(text)]


def _spans(text: str, aliases: Iterable[str]) -> Iterable[tuple[int, int]]:
    folded, places = _folded(text)
    for alias in aliases:
        wanted = f"@{unicodedata.normalize('NFKC', alias).casefold()}"
        found = folded.find(wanted)
        while found >= 0:
            after = found + len(wanted)
            start, end = places[found], places[after]
            before = text[start - 1] if start else " "
            is_free = not (before.isalnum() and before.isascii()) and before not in "@./:"
            if is_free and places[after - 1] != end and not _continues(text, end):
                yield start, end
            found = folded.find(wanted, found + 1)


def address(
    text: str,
    *,
    aliases: Collection[str],
    own_id: Identifier | None,
    mentions: tuple[Identifier, ...] | None,
) -> Addressing:
    """Return whom a message is for; a list of mentions decides alone where there is one.

    Source: TH-1 to TH-5, ADR-01, ADR-03, ADR-05.

    >>> address("@ada2 hello", aliases=["ada"], own_id=None, mentions=None).audience
    <Audience.OTHERS: 'others'>
    >>> address("hello @Ada, see a@ada.example", aliases=["ada"], own_id=None, mentions=None)
    Addressing(audience=<Audience.US: 'us'>, others=())
    """
    if mentions is not None and own_id is not None:
        others = tuple(str(who) for who in mentions if str(who) != str(own_id))
        if len(others) < len(mentions):
            return Addressing(Audience.US, others)
        return Addressing(Audience.OTHERS if others else Audience.NOBODY, others)
    said = own_words(text)
    names = dict.fromkeys([*aliases, *(_slug(alias) for alias in aliases)])
    ours = list(_spans(said, filter(None, names)))
    others = tuple(
        dict.fromkeys(
            found.group(1)
            for found in _MENTION.finditer(said)
            if not any(start <= found.start() < end for start, end in ours)
        )
    )
    if ours:
        return Addressing(Audience.US, others)
    return Addressing(Audience.OTHERS if others else Audience.NOBODY, others)


def is_talk_among_others(
    before: Sequence[RenderedMessage],
    *,
    aliases: Collection[str],
    own_id: Identifier | None,
    identifier: str,
) -> bool:
    """Tell whether a message that names nobody goes on with what others talk about (ADR-06).

    Shapes: `before` are the messages of its thread before it, oldest first. The last one that
    names somebody, or that is ours, says whose talk it is; where none does, it isn't others'.
    """
    for message in reversed(before):
        is_own = message.is_agent and (
            message.author_identifier == identifier
            or (own_id is not None and str(message.author_agent_id) == str(own_id))
        )
        if is_own:
            return False
        found = address(message.text, aliases=aliases, own_id=own_id, mentions=None)
        if found.audience is not Audience.NOBODY:
            return found.audience is Audience.OTHERS
    return False


def asks_to_stop(text: str, *, aliases: Collection[str], vocabulary: Vocabulary) -> bool:
    """Tell whether a message stands its thread down as a whole: in doubt it doesn't (TH-7).

    >>> words = Vocabulary(stand_down=("stop",), courtesies=("please",))
    >>> asks_to_stop("@Ada please stop.", aliases=["ada"], vocabulary=words)
    True
    >>> asks_to_stop("@Ada stop using tabs", aliases=["ada"], vocabulary=words)
    False
    """
    said = own_words(text)
    for alias in dict.fromkeys([*aliases, *(_slug(alias) for alias in aliases)]):
        for start, end in sorted(_spans(said, [alias]), reverse=True):
            said = said[:start] + " " + said[end:]
        said = re.sub(rf"^\s*{re.escape(alias)}\b[\s,:]*", "", said, flags=re.IGNORECASE)
    words = " ".join(re.sub(r"[^\w'\s]", " ", said).casefold().split())
    has_order = False
    for phrase in sorted(vocabulary.stand_down, key=len, reverse=True):
        shorter = re.sub(rf"\b{re.escape(phrase)}\b", " ", words)
        has_order = has_order or shorter != words
        words = shorter
    for phrase in sorted(vocabulary.courtesies, key=len, reverse=True):
        words = re.sub(rf"\b{re.escape(phrase)}\b", " ", words)
    return has_order and not words.split()
