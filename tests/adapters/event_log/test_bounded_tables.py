"""Tables that keep only their newest rows: both stores drop the same ones as memory does."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.postgres_server import PostgresServer

from ov_es_adapters.event_log.open_log import open_log
from ov_es_domain.recorded import NewEvent, Recorded
from ov_es_domain.ticket.events import TicketReleased, TicketSeen
from ov_es_projections.projection import (
    ColumnType,
    KeepNewest,
    MemoryTables,
    Projection,
    Put,
    RowChange,
    Table,
)

_LAST = Table(
    name="last_seen",
    columns={"key": ColumnType.TEXT, "changed": ColumnType.INTEGER},
    key=("key",),
    indexes=(("changed",),),
)


def _apply(event: Recorded) -> Iterator[RowChange]:
    yield Put("last_seen", {"key": event.key, "changed": event.position})
    yield KeepNewest("last_seen", column="changed", rows_max=3)


LAST_SEEN = Projection(name="last_seen", version=1, tables=(_LAST,), apply=_apply)


def _events() -> list[NewEvent]:
    """Return six tickets, and the first of them once more before the last."""
    seen = [_new(number, 1, TicketSeen(**_FIELDS, ticket_id=number)) for number in range(1, 7)]
    return [*seen[:5], _new(1, 2, TicketReleased(reason="done")), *seen[5:]]


_FIELDS: dict[str, Any] = {
    "project_id": 1,
    "slug": "",
    "title": "T",
    "revision": "r",
    "reason": "assigned",
}


def _new(number: int, version: int, body: TicketSeen | TicketReleased) -> NewEvent:
    key = f"ticket:1:{number}"
    return NewEvent(key=key, version=version, body=body, at=1.0, cause="test", correlation=key)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], str]]:
    if request.param == "sqlite":
        yield lambda: f"sqlite:///{tmp_path}/log.db"
        return
    with PostgresServer() as server:
        yield server.url


def test_the_rows_that_changed_last_are_kept(new_url: Callable[[], str]) -> None:
    memory = MemoryTables((LAST_SEEN,))
    kept: list[str] = []

    with closing(open_log(new_url(), inline=(LAST_SEEN,), tracked=())) as log:
        for event in _events():
            for recorded in log.append([event]):
                memory.apply(recorded)
            kept = sorted(str(row["key"]) for row in log.select("last_seen"))
            assert kept == sorted(str(row["key"]) for row in memory.select("last_seen"))
        log.rebuild()
        rebuilt = sorted(str(row["key"]) for row in log.select("last_seen"))

    assert kept == rebuilt == ["ticket:1:1", "ticket:1:5", "ticket:1:6"]
