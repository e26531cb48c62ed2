"""The delays between attempts to make the socket again."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.websocket.backoff import Backoff


def backoff(*, seed: int = 0) -> Backoff:
    chance = Random(seed).random
    return Backoff(first_seconds=1, seconds_max=60, stable_seconds=60, random=chance)


def attempts_in(seconds: float, *, seed: int) -> int:
    """Count the attempts against a server that accepts and closes after 50 ms."""
    delays = backoff(seed=seed)
    now, attempts = 0.0, 0
    while now < seconds:
        attempts += 1
        now += 0.05 + delays.delay_after(0.05)
    return attempts


def test_wsk_04_a_server_that_closes_at_once_is_asked_about_25_times_in_ten_minutes() -> None:
    counts = [attempts_in(600, seed=seed) for seed in range(500)]

    assert sum(counts) / len(counts) < 26.5
    assert max(counts) < 40


def test_wsk_04_the_ceiling_doubles_up_to_the_cap() -> None:
    delays = Backoff(first_seconds=1, seconds_max=60, stable_seconds=60, random=lambda: 1.0)

    waits = [delays.delay_after(59.9) for _ in range(9)]

    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


@pytest.mark.parametrize(("open_seconds", "wait"), [(59.0, 8.0), (60.0, 1.0), (86400.0, 1.0)])
def test_wsk_04_only_a_stable_connection_starts_the_delays_over(
    open_seconds: float, wait: float
) -> None:
    delays = Backoff(first_seconds=1, seconds_max=60, stable_seconds=60, random=lambda: 1.0)
    for _ in range(3):
        delays.delay_after(0)

    assert delays.delay_after(open_seconds) == wait


@given(st.integers(), st.lists(st.floats(0, 1e9), max_size=2000))
def test_no_history_makes_a_delay_leave_its_bounds(seed: int, history: list[float]) -> None:
    delays = backoff(seed=seed)

    for open_seconds in history:
        assert 0 <= delays.delay_after(open_seconds) <= 60
