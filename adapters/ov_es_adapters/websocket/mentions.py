"""A message that mentions somebody, read into an arrival from wherever it was found."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import cast

from ov_es_adapters.websocket.fields import (
    excerpt,
    first_id,
    first_text,
    one_line,
    record,
    usable_id,
    well_formed,
)
from ov_es_domain.identity import Identifier
from ov_es_domain.policy.addressing import own_words
from ov_es_domain.signal.arrival import Arrival, ArrivalKind, Sender, Via

_NAME_CHARACTERS_MAX = 200
_KINDS_OF_AGENTS = frozenset({"agent", "bot"})


def mention_arrival(
    channel_id: Identifier | None,
    message: Mapping[str, object],
    *,
    at: float,
    via: Via = Via.RECONCILIATION,
    mentions: object = None,
) -> Arrival:
    """Read a message as the wire, a thread or the list of activity has it (WS-8 to WS-11, WS-17).

    The same message gives the same arrival on every road, but for `via` and `at`. One without an
    id of its own is still readable: its digest stands for it (WS-15).

    Args:
        channel_id: Where it was said; None where that isn't known.
        message: The message itself; an empty one is no failure.
        at: When it was found.
        via: The road on which it was found.
        mentions: A list of who is meant that came beside the message; one in it goes first.
    """
    message_id = first_id(message, ("id", "message_id", "messageId"))
    text = first_text(message, ("content", "body", "text"))
    sender = _sender(message)
    listed = _mentions(message.get("mentions"))
    return Arrival(
        kind=ArrivalKind.MENTION,
        via=via,
        at=at,
        wire_kind=ArrivalKind.MENTION.value,
        channel_id=channel_id,
        message_id=message_id,
        parent_id=first_id(message, ("parent_id", "parentId")),
        text=text,
        said=_said(message, text),
        sender=sender,
        mentions=_mentions(mentions) if listed is None else listed,
        digest=_digest(channel_id, sender, text),
        # With neither, there is nothing to answer, and nothing to look for.
        problem="no-message-id" if message_id is None and not text else "",
    )


def _said(message: Mapping[str, object], text: str) -> str | None:
    """Return what the sender says, without quotes and code; None where that is all of the text.

    It's read before white space is collapsed, since a quote ends with its line (ADR-03).
    """
    for name in ("content", "body", "text"):
        raw = message.get(name)
        if isinstance(raw, str) and one_line(raw):
            said = one_line(own_words(well_formed(raw)))
            return None if said == text else said
    return None


def _sender(message: Mapping[str, object]) -> Sender | None:
    for name in ("sender", "author", "user"):
        value = message.get(name)
        if isinstance(value, str) and (said := excerpt(value, _NAME_CHARACTERS_MAX)):
            return Sender(name=said)
        if fields := record(value):
            spellings = ("name", "display_name", "displayName", "username", "identifier")
            return Sender(
                id=first_id(fields, ("id",)),
                name=excerpt(first_text(fields, spellings), _NAME_CHARACTERS_MAX),
                is_agent=_is_agent(fields),
            )
    return None


def _is_agent(fields: Mapping[str, object]) -> bool:
    if fields.get("is_agent") is True or fields.get("isAgent") is True:
        return True
    return _stated_kind(fields) in _KINDS_OF_AGENTS


def _stated_kind(fields: Mapping[str, object]) -> str:
    return first_text(fields, ("kind", "type")).lower()


def _mentions(value: object) -> tuple[Identifier, ...] | None:
    """Return who is listed as meant, or None where there is no list."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return None
    found = (_mentioned(each) for each in cast("Sequence[object]", value))
    return tuple(dict.fromkeys(each for each in found if each is not None))


def _mentioned(value: object) -> Identifier | None:
    fields = record(value)
    if not fields:
        return usable_id(value)
    found = first_id(fields, ("id", "agent_id", "agentId", "identifier"))
    kind = _stated_kind(fields)
    # People and agents are numbered apart, so a person's 7 must not pass for an agent's 7.
    if found is None or kind in _KINDS_OF_AGENTS or not kind or _is_agent(fields):
        return found
    return f"{excerpt(kind, 40)}-{found}"


def _digest(channel_id: Identifier | None, sender: Sender | None, text: str) -> str:
    by = None if sender is None else sender.name if sender.id is None else sender.id
    # The parts are delimited by their repr, so that no two lists of parts read the same.
    return sha256(repr((channel_id, by, text)).encode()).hexdigest()[:32]
