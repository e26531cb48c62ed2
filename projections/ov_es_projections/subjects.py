"""What people mean by the name of a thing: a message, a delivery, a ticket, a turn, a signal."""

from collections.abc import Iterable

from ov_es_domain.catalogue import LIFECYCLES
from ov_es_domain.identity import delivery_key, parse_key, signal_key
from ov_es_projections.history import History

LOOKED_FOR = (
    "a posted or received message, a delivery, a ticket (key or slug), a turn, a signal, a thread"
)


def find_subject(text: str, history: History) -> str | None:
    """Return the key of the aggregate that `text` names, or None.

    A message id means the delivery that posted it, before the signal that brought it in.
    """
    wanted = text.strip()
    for key in _keys(wanted):
        if history.load(key):
            return key
    for row in history.rows("deliveries", message_id=wanted):
        if row["state"] == "delivered":
            return str(row["key"])
    for row in history.rows("signals", message_id=wanted):
        return signal_key(str(row["source"]))
    for row in history.rows("tickets"):
        if str(row["slug"] or "").casefold() == wanted.casefold() != "":
            return str(row["key"])
    return None


def _keys(text: str) -> Iterable[str]:
    """Return the keys that a text can be, the most literal first."""
    if not text:
        return
    if _is_key(text):
        yield text
        named, at, version = text.rpartition("@")
        if at and version.isdecimal() and _is_key(named):
            yield named
    yield delivery_key(text)
    yield signal_key(text)


def _is_key(text: str) -> bool:
    try:
        return parse_key(text).type in LIFECYCLES
    except ValueError:
        return False
