"""Records one event of each topic, as the log stores it, for the tests of all later versions.

A file that is there is never written again: it stands for the logs that people have by now. What
would change it needs a new topic and an upcast. `--again TOPIC` is for topics that no released
version has written yet. `--check` writes nothing, and fails where a topic has no file.
"""

import argparse
import dataclasses
import sys
import types
import typing
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parent.parent
sys.path[1:1] = [str(ROOT / room) for room in ("domain", "projections", "adapters")]

import msgspec  # noqa: E402 - the line above lets Python find our own packages

from ov_es_adapters.event_log.serialization import encode  # noqa: E402 - likewise
from ov_es_domain.catalogue import LIFECYCLES  # noqa: E402 - likewise
from ov_es_domain.errors import CommandRefusedError  # noqa: E402 - likewise
from ov_es_domain.lifecycle import COMMANDS, EVENTS, Command, Event, Lifecycle, handle  # noqa: E402
from ov_es_domain.recorded import NewEvent  # noqa: E402 - likewise

RECORDED = ROOT / "tests" / "recorded" / "events"
_AT = 1767268800.125
_STATES_MAX = 4000


def main() -> int:
    """Write what is missing; return 1 when `--check` finds something missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a gap")
    parser.add_argument("--again", action="append", default=[], choices=sorted(EVENTS))
    options = parser.parse_args()
    missing = [
        topic for topic in sorted(EVENTS) if topic in options.again or not path_of(topic).exists()
    ]
    if not missing:
        return 0
    if options.check:
        print(f"not recorded: {', '.join(missing)}; run `python tools/record_events.py`")
        return 1
    recorded = recordings()
    RECORDED.mkdir(parents=True, exist_ok=True)
    for topic in missing:
        path_of(topic).write_bytes(recorded[topic])
        print(path_of(topic).relative_to(ROOT))
    return 0


def path_of(topic: str) -> Path:
    """Return the file of a topic."""
    return RECORDED / f"{topic}.json"


def recordings() -> dict[str, bytes]:
    """Return a recording of each topic: one JSON object in a line."""
    found = dict(_with_commands())
    for topic, kind in EVENTS.items():
        if topic not in found:
            body = next(_samples(kind, "body"))
            found[topic] = _line(_new_event(topic.partition(".")[0], 1, body, None))
    return found


def _with_commands() -> Iterator[tuple[str, bytes]]:
    """Yield the longest event that the rules answer with, for each topic that they come to."""
    for lifecycle in LIFECYCLES.values():
        longest: dict[str, bytes] = {}
        for event in _lives(lifecycle):
            line = _line(event)
            topic = event.body.TOPIC
            if len(line) > len(longest.get(topic, b"")):
                longest[topic] = line
        yield from longest.items()


def _lives(lifecycle: Lifecycle[Any]) -> Iterator[NewEvent]:
    """Walk from state to state, with each command that is known there."""
    commands = [
        cast(Command, command)
        for kind in COMMANDS.values()
        if kind.__module__.split(".")[1] == lifecycle.name
        for command in _samples(kind, "command")
    ]
    waiting, known = [(lifecycle.initial, 1)], {lifecycle.initial}
    while waiting and len(known) < _STATES_MAX:
        state, version = waiting.pop(0)
        for command in commands:
            try:
                bodies, after = handle(lifecycle, state, command)
            except CommandRefusedError:
                continue
            for number, body in enumerate(bodies):
                answered = command if number == 0 else None
                yield _new_event(lifecycle.name, version + number, body, answered)
            if after not in known:
                known.add(after)
                waiting.append((after, version + len(bodies)))


def _new_event(kind: str, version: int, body: Event, command: Command | None) -> NewEvent:
    return NewEvent(
        key=f"{kind}:1:5",
        version=version,
        body=body,
        at=_AT,
        cause="operator:ada",
        correlation="ticket:1:5",
        command=command,
    )


def _line(event: NewEvent) -> bytes:
    stored = {
        "key": event.key,
        "version": event.version,
        "topic": event.body.TOPIC,
        "state": msgspec.Raw(encode(event)),
    }
    return msgspec.json.encode(stored) + b"\n"


def _samples(hint: Any, name: str) -> Iterator[Any]:
    """Yield values of a type: first the fullest, then the others that rules tell apart.

    A text is its field's name, so that what has to agree (an execution, a slot) does agree.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        for one in arguments:
            yield from _samples(one, name)
    elif origin is tuple:
        yield (next(_samples(arguments[0], name)),)
    elif hint is type(None):
        yield None
    elif hint in _SIMPLE:
        yield from _SIMPLE[hint]
    elif hint is str:
        yield name
    elif issubclass(hint, Enum):
        yield from hint
    else:
        yield from _instances(hint)


_SIMPLE: dict[Any, tuple[Any, ...]] = {bool: (True, False), int: (1,), float: (_AT,)}


def _instances(kind: Any) -> Iterator[Any]:
    """Yield one with the first value of each field, and one for each further value of a field."""
    hints = typing.get_type_hints(kind)
    values = {
        field.name: list(_samples(hints[field.name], field.name))
        for field in dataclasses.fields(kind)
    }
    first = {name: options[0] for name, options in values.items()}
    yield kind(**first)
    for name, options in values.items():
        for other in options[1:]:
            yield kind(**{**first, name: other})


if __name__ == "__main__":
    sys.exit(main())
