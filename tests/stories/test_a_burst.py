"""DUP-08: many copies of a message at the same moment, taken by whoever comes first."""

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path

from ov_es_adapters.daemon.intake import Intake
from ov_es_adapters.daemon.ledger import Ledger
from ov_es_adapters.daemon.settings import AgentIdentity, WatchSettings
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.git.worktrees import GitWorktrees
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.vocabulary.reading import english
from ov_es_domain.signal.arrival import Arrival, ArrivalKind, Sender, Via
from ov_es_domain.signal.events import SignalAccepted, SignalSuppressed
from ov_es_domain.turn.events import TurnQueued

_TICKET = {
    "id": 5,
    "project_id": 1,
    "slug": "COR-5",
    "title": "Fix the login form",
    "status": "todo",
    "agent_id": 7,
    "updated_at": "2026-01-01T00:00:00Z",
}


class _Noon:
    """A clock that stands."""

    def now(self) -> float:
        return 1_800_000_000.0

    def monotonic(self) -> float:
        return 0.0


class _Team:
    """A team of one ticket, which takes a moment to read."""

    async def call(self, tool: str, arguments: Mapping[str, object]) -> object:
        del arguments
        await asyncio.sleep(0)
        return {"ticket": _TICKET} if tool == "get_ticket" else {"channels": [], "projects": []}

    async def advertised(self, *, refresh: bool = False) -> frozenset[str]:
        del refresh
        return frozenset()


def _intake(log: EventLog) -> Intake:
    settings = WatchSettings(agent=AgentIdentity(identifier="ada", name="Ada", id=7), workdir="/")
    ledger = Ledger(log, _Noon(), unhealthy_after_seconds=5.0)
    return Intake(ledger, TeamClient(_Team()), GitWorktrees(None), settings, english(), tuple)


def _mention() -> Arrival:
    return Arrival(
        kind=ArrivalKind.MENTION,
        via=Via.SOCKET,
        at=_Noon().now(),
        channel_id=10,
        message_id=100,
        text="@Ada what's the status?",
        sender=Sender(id=1, name="Maya"),
    )


def _assignment() -> Arrival:
    return Arrival(
        kind=ArrivalKind.TICKET_ASSIGNED,
        via=Via.SOCKET,
        at=_Noon().now(),
        project_id=1,
        ticket_id=5,
    )


def _burst(url: str, arrival: Arrival, *, intakes: int) -> None:
    """Submit an arrival 50 times at once, to so many daemons on one log."""

    async def submit() -> None:
        with contextlib.ExitStack() as logs:
            several = [
                _intake(logs.enter_context(contextlib.closing(open_log(url))))
                for _ in range(intakes)
            ]
            await asyncio.gather(*(several[n % intakes].take(arrival) for n in range(50)))

    asyncio.run(submit())


def _count(url: str) -> tuple[int, int, int]:
    """Return how many events say accepted, suppressed, and queued."""
    with contextlib.closing(open_log(url)) as log:
        bodies = [event.body for event in log.stream()]
    kinds = (SignalAccepted, SignalSuppressed, TurnQueued)
    accepted, suppressed, queued = (
        sum(isinstance(body, kind) for body in bodies) for kind in kinds
    )
    return accepted, suppressed, queued


def test_dup_08_fifty_copies_at_once_end_at_one_claim(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'log.db'}"

    _burst(url, _mention(), intakes=1)

    assert _count(url) == (1, 49, 1)


def test_dup_08_two_daemons_on_one_log_make_one_claim_between_them(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'log.db'}"

    _burst(url, _mention(), intakes=2)

    assert _count(url) == (1, 49, 1)


def test_dup_08_a_ticket_that_is_assigned_fifty_times_at_once_is_queued_once(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'log.db'}"

    _burst(url, _assignment(), intakes=2)

    assert _count(url) == (1, 49, 1)
