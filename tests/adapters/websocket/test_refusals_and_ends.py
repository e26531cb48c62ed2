"""Refusals against outages, the ends of a watch, and the secrecy of the key."""

import asyncio
import logging
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from socket import gaierror
from ssl import SSLCertVerificationError, SSLError
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import InvalidProxy, InvalidProxyStatus, InvalidURI
from websockets.http11 import Headers, Response

from ov_es_adapters.errors import BadInputError, NotConfiguredError
from ov_es_adapters.ports import ConnectionEvent, ConnectionLost, ConnectionOpened, FrameReceived
from ov_es_adapters.websocket.connection import SocketSettings, WebSocketFrameSource
from ov_es_adapters.websocket.losses import loss_from

Make = Callable[..., WebSocketFrameSource]
Start = Callable[..., Awaitable[Any]]
Take = Callable[[WebSocketFrameSource, int], Awaitable[list[ConnectionEvent]]]

KEY = "KEY-a+b/c d=?&"


async def quiet(connection: ServerConnection, _number: int) -> None:
    """Say nothing."""


async def everything(source: WebSocketFrameSource) -> list[ConnectionEvent]:
    return [event async for event in source.events()]


@pytest.mark.parametrize("status", [401, 403])
async def test_credentials_refused_at_the_handshake_end_the_watch(
    serving: Start, source: Make, status: int
) -> None:
    team = await serving(quiet)
    team.refusals = [500, status]

    events = await everything(source(team.port))

    assert events == [
        ConnectionLost(0, "http-500", is_refused=False, retry_in=0.001),
        ConnectionLost(0, f"http-{status}", is_refused=True, retry_in=None),
    ]


@pytest.mark.parametrize("code", [4401, 4403, 1008])
async def test_credentials_refused_after_the_handshake_end_the_watch(
    serving: Start, source: Make, code: int
) -> None:
    team = await serving(lambda connection, _: connection.close(code, "key is revoked"))

    events = await everything(source(team.port))

    assert events == [
        ConnectionOpened(1),
        ConnectionLost(1, f"closed-{code} (key is revoked)", is_refused=True, retry_in=None),
    ]


@pytest.mark.parametrize("status", [400, 404, 410, 429, 500, 502, 503])
async def test_other_answers_at_the_handshake_are_outages(
    serving: Start, source: Make, take: Take, status: int
) -> None:
    team = await serving(quiet)
    team.refusals = [status]

    events = await take(source(team.port), 2)

    assert events == [
        ConnectionLost(0, f"http-{status}", is_refused=False, retry_in=0.001),
        ConnectionOpened(1),
    ]


async def test_a_server_that_never_answers_the_handshake_is_an_outage(
    listening: Start, source: Make, take: Take
) -> None:
    async def hold(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    port = await listening(hold)

    events = await take(source(port, open_seconds=0.05), 1)

    assert events == [ConnectionLost(0, "timed-out", is_refused=False, retry_in=0.001)]


async def test_a_server_that_speaks_something_else_is_an_outage(
    listening: Start, source: Make, take: Take
) -> None:
    async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
        await writer.drain()

    port = await listening(babble)

    (event,) = await take(source(port), 1)

    assert isinstance(event, ConnectionLost)
    assert event.reason.startswith("handshake-failed")


async def test_closing_the_iterator_says_goodbye_to_the_server(
    serving: Start, source: Make
) -> None:
    team = await serving(quiet)

    async with aclosing(source(team.port).events()) as events:
        await anext(events)
    await team.until(lambda: bool(team.closed))

    assert team.closed == [1001]


async def test_cancelling_the_reader_closes_the_socket(serving: Start, source: Make) -> None:
    opened = asyncio.Event()

    async def handler(_connection: ServerConnection, _number: int) -> None:
        opened.set()

    team = await serving(handler)
    reader = asyncio.create_task(everything(source(team.port)))
    await opened.wait()

    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    await team.until(lambda: bool(team.closed))

    assert team.open_now == 0


async def test_cancelling_between_two_attempts_ends_at_once(serving: Start, source: Make) -> None:
    team = await serving(quiet)
    team.refusals = [503]
    events = source(team.port, retry_seconds=3600.0, retry_seconds_max=3600.0).events()
    assert isinstance(await anext(events), ConnectionLost)
    waiting = asyncio.create_task(anext(events))
    await asyncio.sleep(0)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert team.paths == []


async def test_a_watch_can_be_taken_up_again_and_counts_on(serving: Start, source: Make) -> None:
    team = await serving(quiet)
    watched = source(team.port)

    for number in (1, 2):
        async with aclosing(watched.events()) as events:
            assert await anext(events) == ConnectionOpened(number)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
async def test_a_proxy_of_the_environment_does_not_stand_before_loopback(
    serving: Start, source: Make, take: Take, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "ws_proxy", "socks_proxy"):
        monkeypatch.setenv(name, f"{scheme}://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    team = await serving(quiet)

    events = await take(source(team.port), 1)

    assert events == [ConnectionOpened(1)]


async def test_a_proxy_that_needs_a_library_is_said_to_a_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("socks_proxy", "socks5://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    settings = SocketSettings(address="ws://team.invalid", api_key=KEY, identifier="ada")

    with pytest.raises(NotConfiguredError, match="python-socks"):
        await everything(WebSocketFrameSource(settings))


async def test_sec_01_the_key_is_in_no_log_and_no_event(
    serving: Start, source: Make, take: Take, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    forms = [KEY, quote(KEY, safe=""), quote_plus(KEY), b64encode(KEY.encode()).decode()]

    async def handler(connection: ServerConnection, number: int) -> None:
        await connection.send("{}")
        await connection.close(1011, f"no {forms[(number - 1) % len(forms)]} known")

    team = await serving(handler)
    team.refusals = [500, 404]
    watched = source(team.port)

    events = await take(watched, 14)

    from_us = [r for r in caplog.records if r.name not in {"websockets.server", "asyncio"}]
    said = repr(events) + repr(from_us) + repr([r.getMessage() for r in from_us])
    said += repr(watched) + repr(watched._settings)
    assert "closed-1011 (no [redacted] known)" in said
    for form in forms:
        assert form.rstrip("=") not in said
    assert not [r for r in caplog.records if r.name == "websockets.client"]


def test_sec_01_an_address_with_a_key_in_it_is_refused_without_it() -> None:
    settings = SocketSettings(
        address="https://team.example?api_key=SECRET", api_key=KEY, identifier="ada"
    )

    with pytest.raises(BadInputError) as refused:
        WebSocketFrameSource(replace(settings))

    assert "SECRET" not in str(refused.value)
    assert "SECRET" not in repr(settings)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (SSLCertVerificationError(1, "certificate of KEY"), "certificate-not-trusted"),
        (SSLError(1, "KEY"), "tls-failed"),
        (gaierror(-2, "KEY"), "name-not-resolved"),
        (TimeoutError("KEY"), "timed-out"),
        (OSError("Multiple exceptions: KEY"), "unreachable"),
        (OSError(113, "KEY"), "unreachable (EHOSTUNREACH)"),
        (InvalidURI("wss://x?api_key=KEY", "KEY"), "handshake-failed (InvalidURI)"),
        (InvalidProxy("http://user:KEY@proxy", "KEY"), "proxy-address-not-valid"),
        (InvalidProxyStatus(Response(407, "KEY", Headers())), "proxy-http-407"),
    ],
)
def test_sec_01_a_failure_has_a_reason_without_the_librarys_words(
    error: OSError, reason: str
) -> None:
    loss = loss_from(error, secret=KEY)

    assert loss.reason == reason
    assert not loss.is_refused


async def test_frames_that_wait_while_the_reader_is_busy_are_all_there(
    serving: Start, source: Make
) -> None:
    sent = asyncio.Event()

    async def handler(connection: ServerConnection, _number: int) -> None:
        for n in range(500):
            await connection.send(str(n))
        sent.set()

    team = await serving(handler)

    async with aclosing(source(team.port, ping_seconds=0.01).events()) as events:
        assert await anext(events) == ConnectionOpened(1)
        await sent.wait()
        taken = [await anext(events) for _ in range(500)]

    assert taken == [FrameReceived(str(n), 1) for n in range(500)]
