"""One watcher for each log, wherever the log is (OWN-01)."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.contracts.postgres_server import PostgresServer

from ov_es_adapters.errors import StoreLockedError, StoreUnavailableError
from ov_es_adapters.event_log.watch_lock import watch_lock

CHILD = Path(__file__).with_name("watching_child.py")
ROOMS = [str(Path(__file__).parents[2] / room) for room in ("domain", "projections", "adapters")]
Child = subprocess.Popen[str]


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return f"sqlite:///{tmp_path}/ada.db"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.url()


POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)
everywhere = pytest.mark.parametrize("url", ["file", POSTGRES], indirect=True)


@contextmanager
def child(url: str) -> Iterator[Child]:
    with subprocess.Popen(
        [sys.executable, str(CHILD), url],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(ROOMS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert _said(process) == "ready"
            yield process
        finally:
            process.kill()


def _said(process: Child) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _tell(process: Child) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@everywhere
def test_own_01_of_two_that_start_at_once_one_watches_and_the_other_names_it(url: str) -> None:
    with child(url) as one, child(url) as other:
        _tell(one)
        _tell(other)
        answers = {_said(one): one, _said(other): other}

        held = answers.pop("held")
        refusal, refused = answers.popitem()
        assert f"held by process {held.pid} on {socket.gethostname()}" in refusal
        assert refused.wait(10) == 4


@everywhere
def test_own_01_a_killed_watchers_lock_is_free_at_once(url: str) -> None:
    with child(url) as one:
        _tell(one)
        assert _said(one) == "held"
        with pytest.raises(StoreLockedError), watch_lock(url):
            pytest.fail("two have it")

        one.kill()
        one.wait(10)

        _hold_soon(url)


def _hold_soon(url: str) -> None:
    """A kernel frees a file's lock with the process; a server has to read that it's gone."""
    while True:
        try:
            with watch_lock(url):
                return
        except StoreLockedError:
            assert url.startswith("postgresql")


def test_own_01_in_fifty_races_for_a_file_exactly_one_wins(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/ada.db"
    script = (
        "import os, sys\n"
        "from ov_es_adapters.errors import StoreLockedError\n"
        "from ov_es_adapters.event_log.watch_lock import watch_lock\n"
        "for _ in range(50):\n"
        "    sys.stdin.readline()\n"
        "    try:\n"
        f"        with watch_lock({url!r}):\n"
        "            print('held', flush=True)\n"
        "            sys.stdin.readline()\n"
        "    except StoreLockedError as error:\n"
        "        print(error, flush=True)\n"
        "        sys.stdin.readline()\n"
        "    print('done', flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(ROOMS)}
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    with racers[0], racers[1]:
        for _ in range(50):
            for racer in racers:
                _tell(racer)
            said = sorted(_said(racer) for racer in racers)
            for racer in racers:
                _tell(racer)

            assert said.count("held") == 1
            assert [_said(racer) for racer in racers] == ["done", "done"]


@everywhere
def test_a_watch_that_was_given_back_can_be_taken_again(url: str) -> None:
    for _ in range(2):
        with watch_lock(url), pytest.raises(StoreLockedError), watch_lock(url):
            pytest.fail("two have it")


@pytest.mark.postgres
def test_each_schema_of_a_database_has_a_watch_of_its_own(postgres_server: PostgresServer) -> None:
    url, other = postgres_server.url(), postgres_server.url()

    with (
        watch_lock(url),
        watch_lock(other),
        pytest.raises(StoreLockedError),
        watch_lock(url),
    ):
        pytest.fail("two have it")


def test_the_lock_of_a_folder_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with (
        pytest.raises(StoreUnavailableError, match="file"),
        watch_lock(f"sqlite:///{tmp_path}/file/ada.db"),
    ):
        pytest.fail("nothing can be held there")


def test_logs_in_memory_are_each_processs_own() -> None:
    with watch_lock("sqlite:///:memory:"), watch_lock("sqlite:///:memory:"):
        pass
