"""Natural keys, made and parsed in one place.

A key is text: `<type>:<natural id>`. Two processes that learn of the same thing make the same
key, and the store rejects the second row.
Source: design, "The log is the truth" 4.
"""

from dataclasses import dataclass
from typing import TypeAlias

Identifier: TypeAlias = int | str
"""An id as the backend has it: a number, or text where it has no numbers."""


@dataclass(frozen=True, slots=True)
class Key:
    """A parsed natural key."""

    type: str
    id: str

    def __str__(self) -> str:
        """Return the key as the log has it."""
        return f"{self.type}:{self.id}"


def parse_key(text: str) -> Key:
    """Split a key at its first colon.

    Raises: ValueError when there is no type or no id.

    >>> parse_key("turn:mention:10:100:1")
    Key(type='turn', id='mention:10:100:1')
    """
    kind, _, rest = text.partition(":")
    if not kind or not rest:
        raise ValueError(f"{text!r} is no key; a key looks like ticket:1:5")
    return Key(kind, rest)


def identifier(value: object) -> Identifier | None:
    """Read an id: a number stays one, digits become one, null, blank and truth values are none.

    >>> identifier("0017"), identifier("17"), identifier(True), identifier("")
    ('0017', 17, None, None)
    """
    match value:
        case bool():
            return None
        case int():
            return value
        case str() if value.strip():
            text = value.strip()
            is_number = text.isascii() and text.isdigit() and str(int(text)) == text
            return int(text) if is_number else text
        case _:
            return None


def mention_source(channel_id: Identifier | None, message_id: Identifier) -> str:
    """Return the source of a turn that answers a message.

    >>> mention_source(10, 100)
    'mention:10:100'
    """
    return f"mention:{'-' if channel_id is None else channel_id}:{message_id}"


def message_number(name: object) -> int | None:
    """Return the number of a message's id, or of the source that ends with it: they count upwards.

    None for an id that is no number, which has no place in time.

    >>> message_number("mention:10:100"), message_number(7), message_number("mention:-:\u00b2")
    (100, 7, None)
    """
    text = str(name).rpartition(":")[2]
    return int(text) if text.isascii() and text.isdigit() else None


def is_older(name: object, other: object) -> bool:
    """Tell whether one message is known to be older than another."""
    mine, theirs = message_number(name), message_number(other)
    return mine is not None and theirs is not None and mine < theirs


def ticket_key(project_id: Identifier, ticket_id: Identifier) -> str:
    """Return the key of a ticket, which is also the source of its turns.

    >>> ticket_key(1, 5)
    'ticket:1:5'
    """
    return f"ticket:{project_id}:{ticket_id}"


def ticket_ids(key: str) -> tuple[Identifier, Identifier]:
    """Return project id and ticket id of a ticket key.

    >>> ticket_ids("ticket:1:5")
    (1, 5)
    """
    _, project, ticket = key.split(":", 2)
    first, second = identifier(project), identifier(ticket)
    if first is None or second is None:
        raise ValueError(f"{key!r} is no ticket key; one looks like ticket:1:5")
    return first, second


def thread_key(channel_id: Identifier | None, root_id: Identifier | None) -> str | None:
    """Return the key of a thread, or None where channel or root is unknown (TH-9).

    >>> thread_key(10, 100), thread_key(None, 100)
    ('thread:10:100', None)
    """
    if channel_id is None or root_id is None:
        return None
    return f"thread:{channel_id}:{root_id}"


def signal_key(source: str) -> str:
    """Return the key of what is known about one inbound source.

    >>> signal_key("mention:10:100")
    'signal:mention:10:100'
    """
    return f"signal:{source}"


def turn_key(source: str, generation: int) -> str:
    """Return the key of a turn; the generation counts the cycles of one source from 1.

    >>> turn_key("ticket:1:5", 2)
    'turn:ticket:1:5:2'
    """
    return f"turn:{source}:{generation}"


def delivery_key(slot: str) -> str:
    """Return the key of a delivery from its slot, such as `reply:10:100`.

    >>> delivery_key(reply_slot(10, 100))
    'delivery:reply:10:100'
    """
    return f"delivery:{slot}"


def reply_slot(channel_id: Identifier | None, message_id: Identifier) -> str:
    """Return the one slot for an answer to a message (DL-10): from its cause, never its text."""
    return f"reply:{'-' if channel_id is None else channel_id}:{message_id}"


def part_slot(slot: str, part: int) -> str:
    """Return the slot of one part of a message that is too long for one (OUT-10).

    >>> part_slot("reply:10:100", 1), part_slot("reply:10:100", 2)
    ('reply:10:100', 'reply:10:100#2')
    """
    return slot if part == 1 else f"{slot}#{part}"


def report_slot(project_id: Identifier, ticket_id: Identifier, revision: str) -> str:
    """Return the one slot for the completion report of a ticket at a revision (DL-18)."""
    return f"report:{project_id}:{ticket_id}:{revision}"


def watch_key(agent: str) -> str:
    """Return the key of an agent's watch, which holds its lease and fencing token."""
    return f"watch:{agent}"
