"""Random pasts that the real rules agree with, and what it takes to write one."""

import dataclasses
import sys
import types
import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

from hypothesis import strategies as st

from ov_es_domain.catalogue import LIFECYCLES
from ov_es_domain.errors import CommandRefusedError
from ov_es_domain.lifecycle import COMMANDS, Aggregate, Command, handle
from ov_es_domain.recorded import NewEvent
from ov_es_domain.watch.events import WatchConnected

TEXTS = ["run-1", "run-1", "", "x", "Größe 你好 🎉", 'it\'s "quoted" \\ %s ?', "a\nb", "nul\0"]


def connected(version: int, key: str = "watch:ada", number: int | None = None) -> NewEvent:
    """Return the smallest event that there is."""
    return NewEvent(
        key=key,
        version=version,
        body=WatchConnected(number=version if number is None else number),
        at=1.5,
        cause="start",
        correlation=key,
    )


def values_of(hint: Any) -> st.SearchStrategy[Any]:  # noqa: PLR0911 - one answer for each kind
    """Return values of a type, small enough to collide and odd enough to hurt."""
    origin = typing.get_origin(hint)
    if origin in {types.UnionType, typing.Union}:
        return st.one_of(*(values_of(one) for one in typing.get_args(hint)))
    if origin is tuple:
        return st.lists(values_of(typing.get_args(hint)[0]), max_size=2).map(tuple)
    if hint is type(None):
        return st.none()
    if hint is bool:
        return st.booleans()
    if hint is str:
        return st.sampled_from(TEXTS)
    if hint is int:
        return st.sampled_from([1, 1, 2, 0, 2**53 - 1])
    if hint is float:
        return st.sampled_from([0.0, 1767268800.125, 1e-9, 3.0])
    if issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    assert dataclasses.is_dataclass(hint), hint
    hints = typing.get_type_hints(hint)
    return st.builds(hint, **{name: values_of(of) for name, of in hints.items() if _is_field(of)})


def _is_field(hint: Any) -> bool:
    return typing.get_origin(hint) is not typing.ClassVar


def _kind_of(command: type[Command]) -> str:
    return sys.modules[command.__module__].__name__.split(".")[1]


@st.composite
def commands(draw: st.DrawFn) -> tuple[str, Command]:
    """Return a command for one of a few aggregates."""
    kind = draw(st.sampled_from(sorted(COMMANDS)))
    command = draw(values_of(COMMANDS[kind]))
    return f"{_kind_of(COMMANDS[kind])}:{draw(st.sampled_from(['1:1', '1:2']))}", command


@dataclass
class Past:
    """Answers commands, and remembers where that led."""

    states: dict[str, tuple[Aggregate, int]] = field(default_factory=dict)

    def answer(self, key: str, command: Command, at: float) -> list[NewEvent]:
        """Return what happens; nothing where a rule says no."""
        lifecycle = LIFECYCLES[key.partition(":")[0]]
        state, version = self.states.get(key, (lifecycle.initial, 0))
        try:
            bodies, after = handle(lifecycle, state, command)
        except CommandRefusedError:
            return []
        self.states[key] = (cast(Aggregate, after), version + len(bodies))
        return [
            NewEvent(
                key=key,
                version=version + number,
                body=body,
                at=at,
                cause="start",
                correlation=key,
                command=command if number == 1 else None,
            )
            for number, body in enumerate(bodies, start=1)
        ]


def commits(asked: Sequence[tuple[str, Command]], size: int = 3) -> Iterator[list[NewEvent]]:
    """Yield what happens, some commands to a transaction."""
    past = Past()
    for start in range(0, len(asked), size):
        events = [
            event
            for number, (key, command) in enumerate(asked[start : start + size])
            for event in past.answer(key, command, 1.5 + start + number)
        ]
        if events:
            yield events


histories = st.lists(commands(), min_size=1, max_size=40).map(lambda asked: list(commits(asked)))
