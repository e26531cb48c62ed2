"""Values inside the answers of the team's tools: lists, times, texts, ids."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar, cast

from ov_es_adapters.websocket.fields import record
from ov_es_domain.identity import Identifier

_LISTS = ("items", "data", "results", "result")
_EPOCH_MILLISECONDS_MIN = 1e11
"""As seconds this would be the year 5138."""

Fact = TypeVar("Fact")


def rows(answer: object, *names: str) -> list[Mapping[str, object]] | None:
    """Return the objects of a list: bare, or under one of the names; None where there is none.

    >>> rows({"tasks": [{"id": 1}, "noise"]}, "tasks"), rows([], "tasks"), rows("ok", "tasks")
    ([{'id': 1}], [], None)
    """
    found: object = answer
    if isinstance(answer, Mapping):
        fields = cast("Mapping[str, object]", answer)
        present = [fields[name] for name in (*names, *_LISTS) if name in fields]
        inner = [rows(each, *names) for each in present]
        return next((each for each in inner if each is not None), None)
    if not isinstance(found, Sequence) or isinstance(found, str):
        return None
    return [record(each) for each in cast("Sequence[object]", found) if record(each)]


def facts_of(
    found: Iterable[Mapping[str, object]], read: Callable[[Mapping[str, object]], Fact | None]
) -> list[Fact]:
    """Read each row, leaving out those without an id."""
    return [fact for row in found if (fact := read(row)) is not None]


def moment(value: object) -> float | None:
    """Read a time: ISO 8601, or seconds or milliseconds since the epoch.

    >>> moment("1970-01-01T00:01:00Z"), moment(60), moment(1_700_000_000_000), moment("soon")
    (60.0, 60.0, 1700000000.0, None)
    """
    match value:
        case bool():
            return None
        case int() | float():
            seconds = float(value) if abs(value) < 2**53 else math.inf
            seconds = seconds / 1000 if abs(seconds) >= _EPOCH_MILLISECONDS_MIN else seconds
            return seconds if math.isfinite(seconds) else None
        case str():
            return _moment_in(value.strip())
        case _:
            return None


def _moment_in(text: str) -> float | None:
    try:
        return moment(float(text))
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text)
        # A time without a zone is the backend's, and those are in UTC.
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def whole_text(fields: Mapping[str, object], *names: str) -> str:
    """Return the first text that isn't blank, with its lines."""
    texts = (value for name in names if isinstance(value := fields.get(name), str))
    return next((text for text in texts if text.strip()), "")


def same(first: Identifier | None, second: Identifier | None) -> bool:
    """Compare two ids as text: one tool may give a number where another gives digits.

    >>> same(5, "5"), same(None, None)
    (True, False)
    """
    return first is not None and second is not None and str(first) == str(second)
