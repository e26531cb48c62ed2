"""What every aggregate shares: events with topics, commands with names, and the one step.

An aggregate is a decider: `decide(state, command) -> events` and `evolve(state, event) -> state`
are pure, and `step` is the only place that writes a state. Commands and replay take the same
step: a miss is a refusal for the one and a corrupt log for the other.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar, cast, dataclass_transform

from ov_es_domain.errors import IllegalTransitionError
from ov_es_domain.transitions import Table


class Event:
    """A fact. Append-only: add an `@2` with an upcast, never edit an `@1`."""

    __slots__ = ()
    TOPIC: ClassVar[str] = ""
    TRANSITION: ClassVar[str] = ""


class Command:
    """What an aggregate can be asked to do: frozen data with an imperative name."""

    __slots__ = ()
    NAME: ClassVar[str] = ""


EventType = TypeVar("EventType", bound=type[Event])
CommandType = TypeVar("CommandType", bound=type[Command])

EVENTS: dict[str, type[Event]] = {}
"""topic → class, for whoever decodes a log."""
COMMANDS: dict[str, type[Command]] = {}
"""name → class, for whoever re-makes decisions."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def event(topic: str, *, transition: str) -> Callable[[EventType], EventType]:
    """Make a frozen event of a class, known under a stable topic such as `turn.started@1`."""

    def declare(cls: EventType) -> EventType:
        made = dataclass(frozen=True, slots=True, kw_only=True)(cls)
        made.TOPIC = topic
        made.TRANSITION = transition
        if EVENTS.setdefault(topic, made).__qualname__ != made.__qualname__:
            raise ValueError(f"two events have the topic {topic}")
        return cast(EventType, made)

    return declare


@dataclass_transform(frozen_default=True, kw_only_default=True)
def command(name: str) -> Callable[[CommandType], CommandType]:
    """Make a frozen command of a class, known in the log under a stable name."""

    def declare(cls: CommandType) -> CommandType:
        made = dataclass(frozen=True, slots=True, kw_only=True)(cls)
        made.NAME = name
        if COMMANDS.setdefault(name, made).__qualname__ != made.__qualname__:
            raise ValueError(f"two commands have the name {name}")
        return cast(CommandType, made)

    return declare


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """A frozen state; `state` is one of its machine's, and only `step` writes it."""

    state: str


A = TypeVar("A", bound=Aggregate)


@dataclass(frozen=True, slots=True)
class Lifecycle(Generic[A]):
    """One kind of aggregate: its machine as a table, and its two pure functions."""

    name: str
    table: Table
    initial: A
    decide: Callable[[A, Any], Sequence[Event]]
    evolve: Callable[[A, Any], A]
    topics: tuple[str, ...]
    """The topics of its events, all versions that are current."""


def step(lifecycle: Lifecycle[A], aggregate: A, event: Event) -> A:
    """Fold one event: the table says the next state, `evolve` the fields.

    Raises: IllegalTransitionError when the table has no such arrow.
    """
    target = lifecycle.table.targets.get((aggregate.state, event.TRANSITION))
    if target is None:
        raise IllegalTransitionError(lifecycle.name, event.TRANSITION, aggregate.state)
    return replace(lifecycle.evolve(aggregate, event), state=target)


def fold(lifecycle: Lifecycle[A], events: Iterable[Event], start: A | None = None) -> A:
    """Fold a stream from its beginning, or from `start`."""
    aggregate = lifecycle.initial if start is None else start
    for happened in events:
        aggregate = step(lifecycle, aggregate, happened)
    return aggregate


def handle(lifecycle: Lifecycle[A], aggregate: A, command: Command) -> tuple[list[Event], A]:
    """Answer a command: what happens, and the aggregate after it.

    An empty list means that the effect is there already.
    Raises: CommandRefusedError where a rule or the machine says no.
    """
    events = list(lifecycle.decide(aggregate, command))
    for happened in events:
        aggregate = step(lifecycle, aggregate, happened)
    return events, aggregate
