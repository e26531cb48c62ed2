"""WS-22: an agent introduces itself once in its life, and only where it was told to."""

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from ov_es_adapters.daemon.introduction import Introduction
from ov_es_adapters.daemon.ledger import Ledger
from ov_es_adapters.daemon.settings import AgentIdentity, WatchSettings
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_domain.identity import watch_key
from ov_es_domain.turn.events import TurnQueued
from ov_es_domain.turn.kinds import TurnKind
from ov_es_domain.watch.commands import BeginWatch


class _Noon:
    """A clock that stands."""

    def now(self) -> float:
        return 1_800_000_000.0

    def monotonic(self) -> float:
        return 0.0


@pytest.fixture
def log() -> Iterator[EventLog]:
    with closing(open_log("sqlite:///:memory:")) as opened:
        yield opened


def _live(log: EventLog, *, channel: int | None, is_heard: bool = True) -> None:
    """Live through one process that is connected, until the introduction has had its time."""

    async def life() -> None:
        settings = WatchSettings(
            agent=AgentIdentity(identifier="ada"),
            introduction_channel=channel,
            introduction_seconds=0.0,
        )
        ledger = Ledger(log, _Noon(), unhealthy_after_seconds=1.0)
        begin = BeginWatch(agent="ada", host="here", pid=1, program="ov-es")
        await ledger.begin(watch_key("ada"), begin)
        introduction = Introduction(ledger, _Noon(), settings)
        if is_heard:
            introduction.notice_connection()
        running = asyncio.create_task(introduction.run())
        await asyncio.sleep(0)
        if is_heard:
            await running
        running.cancel()

    asyncio.run(life())


def _queued(log: EventLog) -> list[TurnQueued]:
    return [e.body for e in log.stream() if isinstance(e.body, TurnQueued)]


def test_ws_22_it_introduces_itself_once_over_all_restarts(log: EventLog) -> None:
    _live(log, channel=10)
    _live(log, channel=10)

    (turn,) = _queued(log)
    assert turn.kind is TurnKind.INTRO
    assert turn.target is not None
    assert turn.target.channel_id == 10


def test_ws_22_it_waits_until_the_team_can_be_heard(log: EventLog) -> None:
    _live(log, channel=10, is_heard=False)

    assert _queued(log) == []


def test_ws_22_without_a_channel_it_says_nothing(log: EventLog) -> None:
    _live(log, channel=None)

    assert _queued(log) == []
