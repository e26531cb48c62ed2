"""The team's socket against a real server: what comes in, in order, and nothing out."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.frames import Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from ov_es_adapters.ports import (
    ConnectionEvent,
    ConnectionLost,
    ConnectionOpened,
    FrameReceived,
    FrameRejected,
)
from ov_es_adapters.websocket.connection import WebSocketFrameSource
from ov_es_adapters.websocket.frames import read_frame

MEBIBYTE = 1024 * 1024

Make = Callable[..., WebSocketFrameSource]
Start = Callable[..., Awaitable[Any]]
Take = Callable[[WebSocketFrameSource, int], Awaitable[list[ConnectionEvent]]]


async def quiet(connection: ServerConnection, _number: int) -> None:
    """Say nothing."""


def sending(
    *frames: str | bytes | list[str],
) -> Callable[[ServerConnection, int], Awaitable[None]]:
    """Return a handler that sends the same frames on every connection; a list is fragments."""

    async def handler(connection: ServerConnection, _number: int) -> None:
        for frame in frames:
            await connection.send(frame)

    return handler


async def test_ws_1_key_and_identifier_are_in_the_query_of_the_one_connection(
    serving: Start, source: Make, take: Take
) -> None:
    team = await serving(sending("m1"))

    events = await take(source(team.port), 2)

    assert events == [ConnectionOpened(1), FrameReceived("m1", 1)]
    assert team.paths == ["/dev?api_key=KEY-a%2Bb%2Fc+d%3D%3F%26&identifier=ada"]


async def test_ws_2_a_dropped_connection_is_made_again(
    serving: Start, source: Make, take: Take
) -> None:
    async def handler(connection: ServerConnection, number: int) -> None:
        await connection.send(f"m{number}")
        if number == 1:
            await connection.close(1001, "going away")

    team = await serving(handler)

    events = await take(source(team.port), 5)

    assert events == [
        ConnectionOpened(1),
        FrameReceived("m1", 1),
        ConnectionLost(1, "closed-1001 (going away)", is_refused=False, retry_in=0.001),
        ConnectionOpened(2),
        FrameReceived("m2", 2),
    ]


async def test_ws_2_a_connection_that_is_torn_is_made_again(
    serving: Start, source: Make, take: Take
) -> None:
    async def handler(connection: ServerConnection, number: int) -> None:
        if number == 1:
            connection.transport.abort()

    team = await serving(handler)

    events = await take(source(team.port), 3)

    assert events[1:] == [
        ConnectionLost(1, "broken-off", is_refused=False, retry_in=0.001),
        ConnectionOpened(2),
    ]


async def test_ws_2_a_server_that_is_not_there_is_asked_again_with_growing_delays(
    serving: Start, source: Make, take: Take
) -> None:
    team = await serving(quiet)
    port = team.port
    team.server.close()
    await team.server.wait_closed()

    events = await take(source(port), 8)

    assert events == [
        ConnectionLost(0, "unreachable (ECONNREFUSED)", is_refused=False, retry_in=delay / 1000)
        for delay in (1, 2, 4, 8, 16, 32, 60, 60)
    ]


async def test_ws_4_nothing_but_keepalives_is_ever_sent(
    serving: Start, wiring: Start, source: Make
) -> None:
    async def handler(connection: ServerConnection, _number: int) -> None:
        for n in range(20):
            await connection.send(f"m{n}")
            await (await connection.ping())

    team = await serving(handler)
    wire = await wiring(team.port)

    async with aclosing(source(wire.port, ping_seconds=0.01).events()) as events:
        async for event in events:
            if event == FrameReceived("m19", 1):
                break
    await team.until(lambda: bool(team.closed))

    assert team.received == []
    assert opcodes_in(wire.sent[0]) <= {Opcode.PING, Opcode.PONG, Opcode.CLOSE}


def opcodes_in(sent: bytearray) -> set[Opcode]:
    protocol = ServerProtocol()
    head, _, rest = bytes(sent).partition(b"\r\n\r\n")
    protocol.receive_data(head + b"\r\n\r\n")
    (request,) = protocol.events_received()
    assert isinstance(request, Request)
    protocol.send_response(protocol.accept(request))
    protocol.receive_data(rest)
    return {frame.opcode for frame in protocol.events_received() if not isinstance(frame, Request)}


async def test_wsk_01_a_dead_connection_is_noticed_and_made_again(
    serving: Start, wiring: Start, source: Make
) -> None:
    async def handler(connection: ServerConnection, number: int) -> None:
        await connection.send(f"m{number}")

    team = await serving(handler)
    wire = await wiring(team.port)
    seen: list[ConnectionEvent] = []

    async with aclosing(source(wire.port, ping_seconds=0.05, pong_seconds=0.3).events()) as events:
        async for event in events:
            seen.append(event)
            if event == FrameReceived("m1", 1):
                wire.lose("up", "down")
            if event == FrameReceived("m2", 2):
                break

    assert seen == [
        ConnectionOpened(1),
        FrameReceived("m1", 1),
        ConnectionLost(1, "no-pong", is_refused=False, retry_in=0.001),
        ConnectionOpened(2),
        FrameReceived("m2", 2),
    ]


async def test_dup_06_a_connection_whose_answers_are_lost_is_gone_before_the_next(
    serving: Start, wiring: Start, source: Make
) -> None:
    async def handler(connection: ServerConnection, _number: int) -> None:
        await connection.send("m1")

    team = await serving(handler)
    wire = await wiring(team.port)
    seen: list[ConnectionEvent] = []

    async with aclosing(source(wire.port, ping_seconds=0.05, pong_seconds=0.3).events()) as events:
        async for event in events:
            seen.append(event)
            if event == FrameReceived("m1", 1):
                # The server is alive, and goes on sending on what it takes for a good connection.
                wire.lose("down")
            if event == FrameReceived("m1", 2):
                await team.until(lambda: len(team.closed) == 1)
                assert team.open_now == 1
                break

    assert [event.number for event in seen] == sorted(event.number for event in seen)
    assert seen.count(FrameReceived("m1", 1)) == 1


async def test_dup_06_there_is_never_more_than_one_connection(
    serving: Start, source: Make, take: Take
) -> None:
    async def handler(connection: ServerConnection, _number: int) -> None:
        await connection.close()

    team = await serving(handler)

    await take(source(team.port, retry_seconds_max=0.001), 60)

    assert len(team.paths) == 30
    assert team.open_most == 1


async def test_dup_06_a_source_is_watched_once_at_a_time(serving: Start, source: Make) -> None:
    team = await serving(quiet)
    watched = source(team.port)

    async with aclosing(watched.events()) as events:
        await anext(events)
        async with aclosing(watched.events()) as others:
            with pytest.raises(AssertionError):
                await anext(others)


async def test_wsk_04_a_server_that_accepts_and_closes_is_not_hammered(
    serving: Start, source: Make, take: Take
) -> None:
    async def handler(connection: ServerConnection, _number: int) -> None:
        await connection.send("hello")
        await connection.close(1011)

    team = await serving(handler)

    events = await take(source(team.port, retry_seconds_max=0.008), 60)

    delays = [event.retry_in for event in events if isinstance(event, ConnectionLost)]
    assert delays == [0.001, 0.002, 0.004, *[0.008] * 17]
    assert len(team.paths) == 20


async def test_wsk_04_a_stable_connection_starts_the_delays_over(
    serving: Start, source: Make, take: Take
) -> None:
    team = await serving(lambda connection, _: connection.close(1011))

    events = await take(source(team.port, stable_seconds=0.0), 20)

    delays = [event.retry_in for event in events if isinstance(event, ConnectionLost)]
    assert delays == [0.001] * 10


async def test_wsk_06_a_frame_above_the_limit_is_read_past_and_the_connection_stays(
    serving: Start, source: Make, take: Take
) -> None:
    m2, m3 = "2" * 2 * MEBIBYTE, "3" * 6 * MEBIBYTE
    team = await serving(sending(m2, m3, [m3[:MEBIBYTE]] * 6, "m4"))

    events = await take(source(team.port), 5)

    assert events == [
        ConnectionOpened(1),
        FrameReceived(m2, 1),
        FrameRejected(f"too-large ({len(m3)} bytes)", 1),
        FrameRejected(f"too-large ({len(m3)} bytes)", 1),
        FrameReceived("m4", 1),
    ]


async def test_wsk_06_a_frame_beyond_all_limits_costs_two_connections_and_not_more(
    serving: Start, source: Make, take: Take
) -> None:
    team = await serving(sending("3" * 30_000, "m4"))

    events = await take(source(team.port, frame_bytes_max=1000, skipped_bytes_max=2000), 9)

    assert [type(event) for event in events] == [
        *[ConnectionOpened, FrameRejected, ConnectionLost] * 2,
        *[ConnectionOpened, FrameRejected, FrameReceived],
    ]
    assert events[2] == ConnectionLost(1, "frame-too-large", is_refused=False, retry_in=0.001)
    assert events[-1] == FrameReceived("m4", 3)


async def test_wsk_09_no_frame_ends_the_connection(
    serving: Start, source: Make, take: Take
) -> None:
    async def handler(connection: ServerConnection, _number: int) -> None:
        await connection.send("no JSON")
        await connection.send('{"type": "task:danced"}')
        await connection.send('{"type": "task:assigned", "data": {"project_id": 1}}')
        await connection.send("[" * 5000 + "]" * 5000)
        await connection.send(b"\xff\xfe", text=True)
        await connection.send(b"\xff\xfe")
        await connection.send("")
        await connection.send([b"m", b"", b"1"], text=True)

    team = await serving(handler)

    events = await take(source(team.port), 9)

    assert {event.number for event in events} == {1}
    assert [type(event) for event in events[5:7]] == [FrameRejected, FrameRejected]
    texts = [event.text for event in events if isinstance(event, FrameReceived)]
    assert texts[-1] == "m1"
    assert [read_frame(text, at=0).problem for text in texts[:-1]] == [
        *("not-json", "unknown-kind", "no-ticket-id", "not-json", "not-json"),
    ]


async def test_los_06_all_of_10_000_frames_arrive_once_and_in_order(
    serving: Start, source: Make, take: Take
) -> None:
    async def handler(connection: ServerConnection, _number: int) -> None:
        for n in range(10_000):
            await connection.send(str(n))
            if n % 100 == 0:
                # Bursts and pauses, so that frames meet pings, pongs and full queues.
                await asyncio.sleep(0.001)

    team = await serving(handler)

    events = await take(source(team.port, ping_seconds=0.002), 10_001)

    assert events[1:] == [FrameReceived(str(n), 1) for n in range(10_000)]


async def test_los_06_what_came_before_the_end_is_given_out_before_the_loss(
    serving: Start, source: Make
) -> None:
    async def handler(connection: ServerConnection, _number: int) -> None:
        for n in range(3000):
            await connection.send(str(n))
        await connection.close()

    team = await serving(handler)
    seen: list[ConnectionEvent] = []

    async with aclosing(source(team.port).events()) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, ConnectionLost):
                break
            # The reader is slower than the wire.
            await asyncio.sleep(0)

    assert seen[1:-1] == [FrameReceived(str(n), 1) for n in range(3000)]
