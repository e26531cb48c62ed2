"""Compares a result with what a scenario expects of it, and names every place that differs.

An object has to match in the fields that it names, a list in exactly its members and their order.
`{"count": N}` in place of a list checks its length, `{"any": true}` matches anything.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import cast

from ov_es_adapters.runtimes.strict_fields import is_object

_SHOWN_CHARACTERS_MAX = 120
_TOLERANCE = 1e-6


def unmet(expected: object, actual: object, path: str = "") -> list[str]:
    """Return what isn't as expected, each with its path; an empty list when all is.

    >>> unmet({"posts": [{"channel_id": 10}]}, {"posts": [{"channel_id": 11, "parent_id": 1}]})
    ['posts[0].channel_id: expected 10, got 11']
    >>> unmet({"posts": {"count": 2}}, {"posts": []})
    ['posts: expected 2 members, got 0']
    """
    if is_object(expected):
        if set(expected) == {"any"} and expected["any"] is True:
            return []
        return _unmet_object(expected, actual, path)
    if isinstance(expected, list):
        return _unmet_list(cast("Sequence[object]", expected), actual, path)
    if _is_same(expected, actual):
        return []
    return [f"{path or 'the result'}: expected {_shown(expected)}, got {_shown(actual)}"]


def _unmet_object(expected: Mapping[str, object], actual: object, path: str) -> list[str]:
    if set(expected) == {"count"} and isinstance(actual, list):
        count = len(cast("Sequence[object]", actual))
        if _is_same(expected["count"], count):
            return []
        return [f"{path}: expected {_shown(expected['count'])} members, got {count}"]
    if not is_object(actual):
        return [f"{path or 'the result'}: expected an object, got {_shown(actual)}"]
    found: list[str] = []
    for name, wanted in expected.items():
        place = f"{path}.{name}" if path else name
        if name in actual:
            found += unmet(wanted, actual[name], place)
        else:
            found.append(f"{place}: expected {_shown(wanted)}, but there is no such field")
    return found


def _unmet_list(expected: Sequence[object], actual: object, path: str) -> list[str]:
    if not isinstance(actual, list):
        return [f"{path or 'the result'}: expected a list, got {_shown(actual)}"]
    members = cast("Sequence[object]", actual)
    found: list[str] = []
    if len(members) != len(expected):
        found.append(
            f"{path}: expected {len(expected)} members, got {len(members)}: {_shown(members)}"
        )
    for number, (wanted, member) in enumerate(zip(expected, members, strict=False)):
        found += unmet(wanted, member, f"{path}[{number}]")
    return found


def _is_same(expected: object, actual: object) -> bool:
    """Compare two plain values; true is no 1, and 1 is 1.0."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return math.isclose(expected, actual, rel_tol=0.0, abs_tol=_TOLERANCE)
    return expected == actual


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= _SHOWN_CHARACTERS_MAX:
        return text
    return text[: _SHOWN_CHARACTERS_MAX - 1] + "…"
