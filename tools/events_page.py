"""Writes the page of all events, from their classes and what stands below their fields."""

import ast
import dataclasses
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from ov_es_domain.catalogue import LIFECYCLES
from ov_es_domain.lifecycle import EVENTS, Event

_SIMPLE: Mapping[object, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
}


def events_page() -> Iterator[str]:
    """Yield the lines of the page: the events of each aggregate, then the values in them."""
    yield "# The events"
    yield ""
    yield "Topics are stable, and the log is append-only: a field that's added has a default, and"
    yield "a change that would break readers is a new version with an upcast."
    yield "`ov-es log --json` shows the fields below as `data`."
    yield ""
    values: dict[str, type[Any]] = {}
    for name, lifecycle in LIFECYCLES.items():
        yield f"## {name}"
        yield ""
        for topic, kind in EVENTS.items():
            if topic.partition(".")[0] == name:
                yield f"### {topic}"
                yield ""
                yield from _words(kind)
                yield ""
                yield from _arrows(kind, lifecycle.table.targets)
                yield ""
                yield from _fields(kind, values)
    yield "## Values"
    yield ""
    yield "What the fields above are made of."
    yield ""
    for name, value in _all_values(values):
        yield f"### {name}"
        yield ""
        yield from _words(value)
        yield ""
        if issubclass(value, Enum):
            yield f"One of {', '.join(f'`{member.value}`' for member in value)}."
            yield ""
        else:
            yield from _fields(value, values)


def _words(kind: type[Any]) -> Iterator[str]:
    yield from (inspect.getdoc(kind) or "").splitlines()


def _arrows(kind: type[Event], targets: Mapping[tuple[str, str], str]) -> Iterator[str]:
    ways: dict[str, list[str]] = {}
    for (source, transition), target in targets.items():
        if transition == kind.TRANSITION:
            ways.setdefault(str(target), []).append(str(source))
    told = "; ".join(f"{' or '.join(sources)} → {target}" for target, sources in ways.items())
    yield f"Transition `{kind.TRANSITION}`: {told}."


def _fields(kind: type[Any], values: dict[str, type[Any]]) -> Iterator[str]:
    hints = get_type_hints(kind)
    words = _words_of_fields(kind)
    rows = [
        f"| `{field.name}` | {_spelled(hints[field.name], values)} | {words.get(field.name, '')} |"
        for field in dataclasses.fields(kind)
    ]
    if rows:
        yield "| field | type | meaning |"
        yield "|---|---|---|"
        yield from rows
    else:
        yield "It has no fields."
    yield ""


def _words_of_fields(kind: type[Any]) -> Mapping[str, str]:
    """Return what stands below the fields in the source, since Python throws it away."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    if not isinstance(tree, ast.ClassDef):
        raise TypeError(f"{kind.__name__} isn't a class")
    found: dict[str, str] = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split()).replace("|", "\\|")
            case _:
                continue
    return found


def _spelled(hint: object, values: dict[str, type[Any]]) -> str:
    """Return a type as readers of JSON would say it, and note the values that it names.

    >>> _spelled(tuple[str, ...] | None, {})
    'list of text, or null'
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        told = [_spelled(each, values) for each in arguments if each is not NoneType]
        return " or ".join(told) + (", or null" if NoneType in arguments else "")
    if origin in {tuple, frozenset, list, set}:
        kinds = dict.fromkeys(_spelled(each, values) for each in arguments if each is not Ellipsis)
        return f"list of {' or '.join(kinds)}"
    if origin in {dict, Mapping}:
        return f"object of {_spelled(arguments[1], values)}"
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if not isinstance(hint, type):
        raise TypeError(f"no words for the type {hint}")
    values[hint.__name__] = hint
    return f"[{hint.__name__}](#{hint.__name__.lower()})"


def _all_values(values: dict[str, type[Any]]) -> Iterator[tuple[str, type[Any]]]:
    """Yield all values, those too that are found in others on the way, by name."""
    known: dict[str, type[Any]] = {}
    while known.keys() != values.keys():
        for name, value in list(values.items()):
            if name not in known and not issubclass(value, Enum):
                list(_fields(value, values))
            known[name] = value
    yield from sorted(known.items())
