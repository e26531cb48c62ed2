"""A server that says 429 is left alone by everybody, for as long as it asked for."""

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.adapters.mcp.conftest import MakeCaller, SteppedClock
from tests.adapters.mcp.scripted_server import ScriptedServer, always, http

from ov_es_adapters.errors import CallNotAppliedError
from ov_es_adapters.mcp.throttle import Throttle, retry_after_seconds


async def test_mcp_04_nobody_calls_before_the_time_that_the_server_named(
    server: ScriptedServer, make: MakeCaller, clock: SteppedClock
) -> None:
    server.on["tools/call"] = always(http(429, retry_after="7"))
    caller = make()
    with pytest.raises(CallNotAppliedError) as refused:
        await caller.call("post_message", {"key": "k1"})
    del server.on["tools/call"]

    clock.seconds += 6.5
    with pytest.raises(CallNotAppliedError) as early:
        await caller.call("get_ticket", {})
    with pytest.raises(CallNotAppliedError):
        await caller.advertised()
    clock.seconds += 0.5
    await caller.call("post_message", {"key": "k1"})

    assert (refused.value.retry_after, early.value.retry_after) == (7.0, 0.5)
    assert [asked.params["name"] for asked in server.of("tools/call")] == ["post_message"] * 2
    assert server.of("tools/list") == []


async def test_mcp_04_a_date_is_a_waiting_time_too(
    server: ScriptedServer, make: MakeCaller, clock: SteppedClock
) -> None:
    moment = datetime.fromtimestamp(clock.seconds + 9, UTC)
    date = format_datetime(moment, usegmt=True)
    server.on["tools/call"] = always(http(429, retry_after=date))

    with pytest.raises(CallNotAppliedError) as caught:
        await make().call("post_message", {})

    assert caught.value.retry_after == 9.0


async def test_mcp_04_without_a_waiting_time_the_pause_grows_with_jitter(
    server: ScriptedServer, make: MakeCaller, clock: SteppedClock
) -> None:
    server.on["tools/call"] = always(http(429))
    chances = iter([1.0, 0.0, 1.0, 0.5])
    caller = make(chance=lambda: next(chances))

    pauses: list[float | None] = []
    for _ in range(4):
        with pytest.raises(CallNotAppliedError) as caught:
            await caller.call("post_message", {})
        pauses.append(caught.value.retry_after)
        clock.seconds += caught.value.retry_after or 0.0

    assert pauses == [1.0, 1.0, 4.0, 6.0]


async def test_mcp_04_a_day_is_parked_and_can_be_seen(
    server: ScriptedServer, make: MakeCaller, clock: SteppedClock
) -> None:
    server.on["tools/call"] = always(http(429, retry_after="86400"))
    caller = make()
    before = caller.parked_until

    with pytest.raises(CallNotAppliedError):
        await caller.call("post_message", {})

    assert (before, caller.parked_until) == (None, clock.seconds + 86400)


async def test_mcp_04_a_handshake_may_be_told_to_wait_as_well(
    server: ScriptedServer, make: MakeCaller, clock: SteppedClock
) -> None:
    server.on["initialize"] = always(http(429, retry_after="7"))
    caller = make()

    for _ in range(2):
        with pytest.raises(CallNotAppliedError):
            await caller.call("post_message", {})
    del server.on["initialize"]
    clock.seconds += 7
    await caller.call("post_message", {})

    assert len(server.of("initialize")) == 2


def test_a_shorter_pause_never_replaces_a_longer_one(clock: SteppedClock) -> None:
    throttle = Throttle(clock, lambda: 1.0)
    throttle.refused("30")

    throttle.refused("1")

    assert throttle.seconds_left == 30.0


def test_the_next_pause_is_short_again_after_a_success(clock: SteppedClock) -> None:
    throttle = Throttle(clock, lambda: 1.0)
    throttle.refused(None)
    clock.seconds += throttle.refused(None)

    throttle.served()

    assert throttle.refused(None) == 1.0


@given(st.text())
def test_any_header_at_all_gives_seconds_or_nothing(value: str) -> None:
    found = retry_after_seconds(value, now=0.0)

    assert found is None or isinstance(found, float)


@given(st.one_of(st.none(), st.text(), st.integers().map(str)))
def test_a_pause_always_lasts_and_always_ends(value: str | None) -> None:
    throttle = Throttle(SteppedClock(), lambda: 0.0)

    pause = throttle.refused(value)

    assert 0 < pause <= 24 * 3600
