"""The same commands over a fleet's log: what they say doesn't depend on the store."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.cli.conftest import Call
from tests.contracts.postgres_server import PostgresServer
from tests.projections.histories import a_day

from ov_es_adapters.event_log.open_log import open_log

pytestmark = pytest.mark.postgres
Document = Callable[..., Any]


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[PostgresServer]:
    with PostgresServer() as running:
        yield running


@pytest.fixture
def fleet(postgres_server: PostgresServer) -> str:
    """The URL of a log that holds a day."""
    url = postgres_server.url()
    with closing(open_log(url)) as log:
        log.append(a_day().new_events())
    return url


@pytest.mark.usefixtures("home")
def test_every_reading_command_says_what_it_says_on_sqlite(
    fleet: str, day: Path, document: Document
) -> None:
    def both(*arguments: str) -> tuple[Any, Any]:
        return (
            document("--store", fleet, *arguments),
            document("--store", f"sqlite:///{day}", *arguments),
        )

    for call in (("why", "205"), ("show", "COR-5"), ("audit",), ("replay",)):
        first, second = both(*call)
        assert first == second
    first, second = both("status")
    assert first["deliveries"] == second["deliveries"]
    assert [agent["agent"] for agent in first["agents"]] == ["ada"]
    assert document("--store", fleet, "replay", "--verify")["verified"] is True


@pytest.mark.usefixtures("home")
def test_an_operator_decides_on_a_fleets_log(fleet: str, document: Document, ov_es: Call) -> None:
    assert document("--store", fleet, "rebuild")["position"] == len(a_day().events)
    told = ov_es("--store", fleet, "resolve", "205", "--as", "retry", "--because", "x")

    assert told.exit_code == 2
    assert "cannot replan while delivered" in told.stderr
