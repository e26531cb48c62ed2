"""What only PostgreSQL does to a log: lost connections, locks of others, schemas, passwords."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.contracts.cutting_proxy import Cut, CuttingProxy
from tests.contracts.event_histories import connected
from tests.contracts.postgres_server import PostgresServer

from ov_es_adapters.errors import (
    BadInputError,
    ConcurrentWriteError,
    NotConfiguredError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.event_log.postgres_address import postgres_address
from ov_es_adapters.event_log.recorder_log import RecorderLog

pytestmark = pytest.mark.postgres
ROOMS = [str(Path(__file__).parents[2] / room) for room in ("domain", "projections", "adapters")]


@pytest.fixture
def proxy(postgres_server: PostgresServer) -> Iterator[CuttingProxy]:
    with CuttingProxy(postgres_server.socket) as proxy:
        yield proxy


def test_an_acknowledgement_that_was_lost_is_no_conflict(
    postgres_server: PostgresServer, proxy: CuttingProxy
) -> None:
    with closing(open_log(postgres_server.url(folder=proxy.folder))) as log:
        log.append([connected(1)])
        proxy.cut = Cut.AFTER

        recorded = log.append([connected(2), connected(3)], raises="watch:ada")

        assert log.load("watch:ada")[1:] == recorded
        assert log.select("fences") == [{"key": "watch:ada", "epoch": 1}]
        assert log.append([connected(4)])


def test_a_commit_that_never_arrived_wrote_nothing(
    postgres_server: PostgresServer, proxy: CuttingProxy
) -> None:
    with closing(open_log(postgres_server.url(folder=proxy.folder))) as log:
        log.append([connected(1)])
        proxy.cut = Cut.BEFORE

        with pytest.raises(StoreUnavailableError, match="nothing was written"):
            log.append([connected(2)])

        assert len(log.load("watch:ada")) == 1
        assert log.append([connected(2)])


def test_somebody_elses_event_is_not_taken_for_our_own_after_a_lost_connection(
    postgres_server: PostgresServer, proxy: CuttingProxy
) -> None:
    url = postgres_server.url()
    schema = postgres_address(url).schema
    with (
        closing(open_log(url)) as other,
        closing(open_log(postgres_server.url(schema, folder=proxy.folder))) as log,
    ):
        proxy.cut = Cut.BEFORE
        with pytest.raises(StoreUnavailableError):
            log.append([connected(1, number=8)])

        other.append([connected(1, number=7)])

        with pytest.raises(ConcurrentWriteError):
            log.append([connected(1, number=8)])


def test_a_connection_that_the_server_ended_is_opened_again(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.url()
    with closing(open_log(url)) as log, postgres_server.connect() as other:
        log.append([connected(1)])
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'ov-es' AND pid <> pg_backend_pid()"
        )

        with pytest.raises(StoreUnavailableError):
            log.append([connected(2)])

        assert len(log.append([connected(2)])) == 1


def test_los_09_a_lock_of_somebody_else_is_said_to_be_one(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.url()
    schema = postgres_address(url).schema
    with closing(open_log(url)) as log, postgres_server.connect() as other:
        with other.transaction():
            other.execute(f"LOCK TABLE {schema}.stored_events IN EXCLUSIVE MODE".encode())
            with pytest.raises(StoreLockedError, match="held by another process"):
                log.append([connected(1)])
            with pytest.raises(StoreLockedError):
                log.rebuild()
            assert log.position() == 0

        assert log.append([connected(1)])


def test_a_server_that_is_away_is_unavailable_and_no_password_is_told(tmp_path: Path) -> None:
    url = f"postgresql://ada:hunter2@/team?host={tmp_path}"

    with pytest.raises(StoreUnavailableError, match="can't be used") as caught:
        open_log(url)

    assert "hunter2" not in f"{caught.value} {caught.value.__cause__} {caught.value!r}"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:hunter2@db/team?nonsense=1",
        "postgresql://ada:hunter2@db:hunter2/team",
        "postgresql://ada:hunter2@db/team?schema=Not;Good",
        "postgresql://ada:hunter2@db/team?=&hunter2",
        "postgresql://ada:hunter2@[db/team",
    ],
)
def test_a_url_that_is_wrong_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(BadInputError) as caught:
        open_log(url)

    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_name_tells_where_a_log_is_and_no_secret(postgres_server: PostgresServer) -> None:
    with closing(open_log(postgres_server.url("named"))) as log:
        assert isinstance(log, RecorderLog)
        assert log.store.name == f"postgresql://{postgres_server.folder}/postgres (named)"


def test_without_a_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ov_es_adapters.event_log.postgres_log", None)

    with pytest.raises(NotConfiguredError, match=r"ov-es\[postgres\]"):
        open_log("postgresql://ada@db/team")


def test_the_log_cannot_be_changed_by_hand(postgres_server: PostgresServer) -> None:
    url = postgres_server.url()
    schema = postgres_address(url).schema
    with closing(open_log(url)) as log, postgres_server.connect() as other:
        log.append([connected(1)])

        for statement in (
            f"UPDATE {schema}.stored_events SET topic = 'x'",  # noqa: S608 - a name of ours
            f"DELETE FROM {schema}.stored_events",  # noqa: S608 - a name of ours
            f"TRUNCATE {schema}.stored_events",
        ):
            with pytest.raises(Exception, match="append-only"):
                other.execute(statement.encode())
        assert log.position() == 1


def test_the_unordered_function_of_the_library_is_not_there(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.url()
    with closing(open_log(url)), postgres_server.connect() as other:
        found = other.execute("SELECT proname FROM pg_proc WHERE proname LIKE 'es_%'").fetchall()

        assert found == []


def test_a_log_that_ten_processes_open_first_is_made_once(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.url()
    script = (
        "import sys\n"
        "from ov_es_adapters.event_log.open_log import open_log\n"
        "sys.stdin.readline()\n"
        "open_log(sys.argv[1]).close()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(ROOMS)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script, url],
            env=environment,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(10)
    ]

    ends = []
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    for child in children:
        _, errors = child.communicate(timeout=60)
        ends.append((child.returncode, errors))

    assert ends == [(0, "")] * 10


def test_a_role_that_may_only_read_reads(postgres_server: PostgresServer) -> None:
    url = postgres_server.url()
    schema = postgres_address(url).schema
    reader = url.replace("postgres:hunter2@", f"reader_of_{schema}@")
    with closing(open_log(url)) as log, postgres_server.connect() as other:
        log.append([connected(1)])
        other.execute(f"CREATE ROLE reader_of_{schema} LOGIN".encode())
        other.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader_of_{schema}".encode())
        other.execute(
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader_of_{schema}".encode()
        )

        with closing(open_log(reader, read_only=True)) as reading:
            assert len(list(reading.stream())) == 1

            with pytest.raises(StoreError):
                reading.append([connected(2)])
