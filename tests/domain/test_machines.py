"""The compiled tables agree with python-statemachine run for real, for every machine."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statemachine import StateMachine
from statemachine.exceptions import TransitionNotAllowed

from ov_es_domain.catalogue import LIFECYCLES
from ov_es_domain.delivery.machine import DeliveryMachine
from ov_es_domain.lifecycle import COMMANDS, EVENTS
from ov_es_domain.signal.machine import SignalMachine
from ov_es_domain.thread.machine import ThreadMachine
from ov_es_domain.ticket.machine import TicketMachine
from ov_es_domain.transitions import Table, UnfitMachineError, compile_table
from ov_es_domain.turn.machine import TurnMachine
from ov_es_domain.watch.machine import WatchMachine

MACHINES: dict[str, type[StateMachine]] = {
    "signal": SignalMachine,
    "ticket": TicketMachine,
    "thread": ThreadMachine,
    "turn": TurnMachine,
    "delivery": DeliveryMachine,
    "watch": WatchMachine,
}
NAMES = sorted(LIFECYCLES)


def _table(name: str) -> Table:
    return LIFECYCLES[name].table


def test_every_kind_of_aggregate_has_its_machine_here() -> None:
    assert set(MACHINES) == set(LIFECYCLES)


@pytest.mark.parametrize("name", NAMES)
def test_each_pair_of_state_and_transition_does_the_same_in_machine_and_table(name: str) -> None:
    table = _table(name)

    for state in table.states:
        for transition in table.names:
            machine = MACHINES[name](start_value=state)
            wanted = table.targets.get((state, transition))

            if wanted is None:
                with pytest.raises(TransitionNotAllowed):
                    machine.send(transition)
                assert machine.current_state_value == state
            else:
                machine.send(transition)
                assert machine.current_state_value == wanted


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_a_random_walk_ends_in_the_same_state(name: str, data: st.DataObject) -> None:
    table = _table(name)
    machine = MACHINES[name]()
    state = table.initial
    walk: Sequence[str] = data.draw(st.lists(st.sampled_from(table.names), max_size=30))

    for transition in walk:
        target = table.targets.get((state, transition))
        if target is None:
            with pytest.raises(TransitionNotAllowed):
                machine.send(transition)
        else:
            machine.send(transition)
            state = target

        assert machine.current_state_value == state


@pytest.mark.parametrize("name", NAMES)
def test_every_state_can_be_reached(name: str) -> None:
    table = _table(name)

    assert table.reachable() == set(table.states)


@pytest.mark.parametrize("name", NAMES)
def test_every_transition_has_exactly_one_event_and_every_event_one_transition(name: str) -> None:
    lifecycle = LIFECYCLES[name]

    transitions = [EVENTS[topic].TRANSITION for topic in lifecycle.topics]

    assert sorted(transitions) == sorted(lifecycle.table.names)


def test_every_topic_belongs_to_one_aggregate_and_carries_a_version() -> None:
    owned = [topic for lifecycle in LIFECYCLES.values() for topic in lifecycle.topics]
    own = {topic for topic in EVENTS if topic.split(".")[0] in LIFECYCLES}

    assert sorted(owned) == sorted(own)
    assert all(topic.partition("@")[2].isdigit() for topic in owned)


def test_every_command_has_a_stable_name_and_a_docstring() -> None:
    assert all(name == command.NAME for name, command in COMMANDS.items())
    assert all(command.__doc__ for command in COMMANDS.values())


def test_a_machine_with_a_guard_is_unfit_for_a_table() -> None:
    from statemachine import State

    class Guarded(StateMachine):
        asleep = State(initial=True)
        awake = State(final=True)
        wake = asleep.to(awake, cond="is_morning")

        def is_morning(self) -> bool:
            return True

    with pytest.raises(UnfitMachineError, match="guarded"):
        compile_table(Guarded, name="guarded")


@pytest.mark.parametrize("name", NAMES)
def test_evt_15_a_state_restored_from_the_log_goes_on_without_entering_it_again(name: str) -> None:
    table = _table(name)

    for (state, transition), target in table.targets.items():
        machine = MACHINES[name](start_value=state)

        assert machine.current_state_value == state
        machine.send(transition)
        assert machine.current_state_value == target
