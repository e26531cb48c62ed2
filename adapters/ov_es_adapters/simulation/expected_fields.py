"""Which fields an expectation may name: those of the result, so that a slip is told at once."""

from collections.abc import Mapping, Sequence
from typing import cast

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.strict_fields import is_object

_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "posts": ("at", "channel_id", "parent_id", "content", "delivery", "run"),
    "ticket_updates": ("at", "project_id", "ticket_id", "fields", "by"),
    "runs": ("source", "lane", "attempt", "started", "ended", "outcome", "group"),
    "signals": ("at", "kind", "outcome", "reason"),
    "violations": ("rule", "key", "position", "message"),
}
"""The lists of a result, with the fields of their members."""
_OPEN = ("comments",)
"""The lists whose members have the fields that the team's tool was given."""
_NAMED = ("tickets", "deliveries")
"""The objects whose field names are keys of the scenario itself."""
_LEFT = ("queued", "running", "processes")
_PLAIN = ("name", "seed", "ended_at", "events")
_ALL = (*_PLAIN, *_MEMBERS, *_OPEN, *_NAMED, "left")


def check_expectation(expected: Mapping[str, object], where: str) -> None:
    """Check the names in an expectation, at every depth that has fixed names.

    Raises: BadInputError.
    """
    _check_names(expected, where, _ALL, "a result")
    for name, value in expected.items():
        place = f"{where}.{name}"
        if name == "left":
            _check_object(value, place, _LEFT, "`left`")
        elif name in _NAMED:
            _check_object(value, place, None, f"`{name}`")
        elif name in _MEMBERS:
            _check_list(value, place, _MEMBERS[name])
        elif name in _OPEN:
            _check_list(value, place, None)


def _is_any(value: object) -> bool:
    return is_object(value) and set(value) == {"any"} and value["any"] is True


def _check_list(value: object, where: str, names: Sequence[str] | None) -> None:
    if _is_any(value):
        return
    if is_object(value):
        _check_names(value, where, ("count",), "an object in place of a list")
        count = value.get("count")
        if isinstance(count, bool) or not isinstance(count, int):
            raise BadInputError(f"{where}.count: must be a whole number")
        return
    if not isinstance(value, list):
        raise BadInputError(f'{where}: must be a list, {{"count": N}} or {{"any": true}}')
    for at, member in enumerate(cast("list[object]", value)):
        _check_object(member, f"{where}[{at}]", names, "a member of it")


def _check_object(value: object, where: str, names: Sequence[str] | None, what: str) -> None:
    if _is_any(value):
        return
    if not is_object(value):
        raise BadInputError(f"{where}: must be an object")
    if names is not None:
        _check_names(value, where, names, what)


def _check_names(value: Mapping[str, object], where: str, names: Sequence[str], what: str) -> None:
    for name in value:
        if name not in names:
            raise BadInputError(f"{where}.{name}: unknown field; {what} has {', '.join(names)}")
