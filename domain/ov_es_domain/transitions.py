"""Reads a declared machine as a table {(state, transition): next state}."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statemachine import StateMachine


class UnfitMachineError(TypeError):
    """The declaration uses something that a flat table can't say."""


@dataclass(frozen=True, slots=True)
class Transition:
    """One declared arrow."""

    name: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Table:
    """A machine, compiled: what may follow what, and nothing else."""

    machine: str
    initial: str
    states: tuple[str, ...]
    final: frozenset[str]
    targets: dict[tuple[str, str], str]
    """(state, transition) → next state; a pair that isn't here is illegal."""

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """All arrows in the order of their declaration."""
        return tuple(Transition(name, source, to) for (source, name), to in self.targets.items())

    @property
    def names(self) -> tuple[str, ...]:
        """The distinct transition names in the order of their declaration."""
        return tuple(dict.fromkeys(name for _, name in self.targets))

    def reachable(self) -> frozenset[str]:
        """Return the states that some road from the initial one leads to."""
        return frozenset(self._walk())

    def _walk(self) -> Iterator[str]:
        seen = {self.initial}
        frontier = [self.initial]
        while frontier:
            state = frontier.pop()
            yield state
            fresh = {to for (source, _), to in self.targets.items() if source == state} - seen
            seen |= fresh
            frontier.extend(fresh)


def compile_table(machine: "type[StateMachine]", *, name: str) -> Table:
    """Compile a flat machine.

    Raises: UnfitMachineError where (state, transition) has more than one target, or where the
    declaration uses guards, callbacks or nested states: those belong to `decide`.
    Source: design, "The log is the truth" 5; decision 0002.
    """
    targets: dict[tuple[str, str], str] = {}
    for state in machine.states:
        if state.states:
            raise UnfitMachineError(f"{name}: state {state.id} is nested")
        for arrow in state.transitions:
            if list(arrow.cond) or list(arrow.validators):
                raise UnfitMachineError(f"{name}: {state.id} has a guarded transition")
            for transition in _names(str(event) for event in arrow.events):
                pair = (state.value, transition)
                if pair in targets:
                    raise UnfitMachineError(f"{name}: {pair} has two targets")
                if arrow.target is None:
                    raise UnfitMachineError(f"{name}: {pair} has no target")
                targets[pair] = arrow.target.value
    return Table(
        machine=name,
        initial=next(state.value for state in machine.states if state.initial),
        states=tuple(state.value for state in machine.states),
        final=frozenset(state.value for state in machine.states if state.final),
        targets=targets,
    )


def _names(events: Iterable[str]) -> list[str]:
    return [name for event in events for name in event.split()]
