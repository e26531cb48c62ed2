"""Values of JSON that anybody may have written, read without ever raising.

What isn't of the wanted kind reads as empty: a stream is evidence, and nonsense proves nothing.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

import orjson

Json: TypeAlias = Mapping[str, object]

_NOTHING: Json = {}
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_object(line: bytes) -> Json | None:
    """Return a line's JSON object, or None where the line is none.

    >>> read_object(b'{"type": "text"}'), read_object(b"Loading..."), read_object(b"[1]")
    ({'type': 'text'}, None, None)
    """
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError:
        value = _read_leniently(line)
    return cast("Json", value) if isinstance(value, dict) else None


def _read_leniently(line: bytes) -> object:
    """Read what orjson refuses: bytes that are no UTF-8, and half surrogate pairs (STR-23)."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        return _whole(json.loads(line.decode("utf-8", errors="replace")))
    except (ValueError, RecursionError):
        return None


def _whole(value: Any) -> Any:
    """Replace half characters, which no UTF-8 text can hold."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {_SURROGATE.sub("\ufffd", name): _whole(inner) for name, inner in fields.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in items(cast("object", value))]
    return value


def obj(value: object) -> Json:
    """Return an object, or an empty one."""
    return cast("Json", value) if isinstance(value, dict) else _NOTHING


def items(value: object) -> Sequence[object]:
    """Return a list, or an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else ()


def text(value: object) -> str:
    """Return a text, or an empty one."""
    return value if isinstance(value, str) else ""


def whole_number(value: object) -> int | None:
    """Return a whole number, or None; true and false are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: object) -> int:
    """Return how many, or 0."""
    return max(0, whole_number(value) or 0)


def money(value: object) -> float | None:
    """Return an amount, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def words(value: object) -> str:
    """Return what people would read in a tool's output: a text, or the texts of its parts."""
    return "\n".join(_texts(value, depth=0))


def _texts(value: object, *, depth: int) -> Iterator[str]:
    """Yield the texts of content parts; parts wrap each other once or twice, never deeper."""
    deepest = 4
    if isinstance(value, str):
        yield value
    elif depth < deepest:
        if isinstance(value, list):
            for part in items(cast("object", value)):
                yield from _texts(part, depth=depth + 1)
        else:
            part = obj(value)
            for name in ("text", "content"):
                yield from _texts(part.get(name), depth=depth + 1)


def reason(*candidates: object, characters_max: int = 500) -> str:
    r"""Return the first reason that says something, on one line (EV-7).

    >>> reason(None, {"message": "timed out\n after 4s"})
    'timed out after 4s'
    """
    for candidate in candidates:
        if candidate is None or candidate is False:
            continue
        said = text(obj(candidate).get("message")) or words(candidate) or _dumped(candidate)
        # Whatever is far beyond the limit isn't worth the collapsing.
        if line := " ".join(said[: 8 * characters_max].split()):
            return line[:characters_max]
    return ""


def _dumped(value: object) -> str:
    if isinstance(value, str) or value in ({}, []):
        return ""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # nested deeper than it writes
        return ""
