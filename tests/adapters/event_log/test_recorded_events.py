"""Logs of people are read for ever: one recorded event of every topic that was ever written."""

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from ov_es_adapters.event_log.serialization import decode, encode
from ov_es_adapters.event_log.upcasts import UPCASTS
from ov_es_domain.lifecycle import EVENTS
from ov_es_domain.recorded import NewEvent, Recorded

ROOT = Path(__file__).resolve().parents[3]
RECORDED = ROOT / "tests" / "recorded" / "events"
FILES = sorted(RECORDED.glob("*.json"))
every_recorded = pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])


class Line(msgspec.Struct):
    """What a file holds."""

    key: str
    version: int
    topic: str
    state: msgspec.Raw


def _read(path: Path) -> tuple[Line, Recorded]:
    line = msgspec.json.decode(path.read_bytes(), type=Line)
    return line, decode(1, line.key, line.version, line.topic, bytes(line.state))


def _as_new(event: Recorded) -> NewEvent:
    return NewEvent(
        key=event.key,
        version=event.version,
        body=event.body,
        at=event.at,
        cause=event.cause,
        correlation=event.correlation,
        command=event.command,
    )


def _lost(old: object, new: object, where: str = "") -> list[str]:
    """Return where something that was said isn't said any more; a new default loses nothing."""
    if type(old) is not type(new) or not isinstance(old, dict | list):
        return [] if old == new else [where]
    before, after = _places(cast(Any, old)), _places(cast(Any, new))
    return [
        place for name, value in before.items() for place in _lost(value, after.get(name), name)
    ]


def _places(of: Any) -> dict[str, Any]:
    """Return what is in an object or a list, by name or number."""
    names: Any = cast(Any, of) if isinstance(of, dict) else range(len(of))
    return {str(name): of[name] for name in names}


def test_each_topic_has_a_recorded_event() -> None:
    recorded = {path.stem for path in FILES}

    missing = set(EVENTS) - recorded

    assert not missing, "run `python tools/record_events.py`"
    assert recorded <= set(EVENTS) | set(UPCASTS), "a topic that was written has to stay readable"


@every_recorded
def test_a_recorded_event_is_read_and_keeps_all_that_it_said(path: Path) -> None:
    line, event = _read(path)

    again = msgspec.json.decode(encode(_as_new(event)))

    if line.topic in EVENTS:
        assert line.topic == event.body.TOPIC
        assert _lost(msgspec.json.decode(line.state), again) == [], (
            "a field was renamed or removed: add a topic of the next version, and an upcast"
        )


@every_recorded
def test_an_event_that_is_written_again_is_the_same(path: Path) -> None:
    line, event = _read(path)

    state = encode(_as_new(event))
    again = decode(1, line.key, line.version, event.body.TOPIC, state)

    assert again == event
    assert again.command == event.command
    assert encode(_as_new(again)) == state


def test_a_recorded_event_holds_a_value_in_every_field() -> None:
    """A field that is only ever recorded as null says nothing of how it's read."""
    empty = [
        path.stem
        for path in FILES
        if path.stem in EVENTS and None in msgspec.to_builtins(_read(path)[1].body).values()
    ]

    assert empty == []


def test_the_tool_finds_nothing_left_to_record() -> None:
    tool = ROOT / "tools" / "record_events.py"

    done = subprocess.run(
        [sys.executable, str(tool), "--check"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
