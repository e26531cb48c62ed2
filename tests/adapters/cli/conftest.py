"""The real command line over real log files."""

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result
from tests.projections.histories import Book, a_day

from ov_es_adapters.cli.main import cli
from ov_es_adapters.event_log.open_log import open_log

ROOT = Path(__file__).parents[3]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, and no settings from outside."""
    for variable in ("OV_ES_HOME", "OV_ES_STORE", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def keep(home: Path) -> Callable[..., Path]:
    """Write a past into an agent's log file."""

    def write(book: Book, agent: str = "ada", *, catch_up: bool = False) -> Path:
        path = home / f"{agent}.db"
        with closing(open_log(f"sqlite:///{path}")) as log:
            events = book.new_events()
            if events:
                log.append(events)
            if catch_up:
                log.catch_up()
        return path

    return write


@pytest.fixture
def day(keep: Callable[..., Path]) -> Path:
    """A log of a day on which nothing goes wrong."""
    return keep(a_day())


Call = Callable[..., Result]


@pytest.fixture
def ov_es(home: Path) -> Call:
    """Call the command line in this process."""

    def call(*arguments: object) -> Result:
        told = CliRunner().invoke(cli, ["--home", str(home), *map(str, arguments)])
        if told.exception is not None and not isinstance(told.exception, SystemExit):
            raise told.exception
        return told

    return call


@pytest.fixture
def document(ov_es: Call) -> Callable[..., Any]:
    """Call a command with --json and return its one document; it has to exit with 0."""

    def read(*arguments: object) -> Any:
        told = ov_es(*arguments, "--json")
        assert told.exit_code == 0, told.output
        assert told.stderr == ""
        return orjson.loads(told.stdout)

    return read


@pytest.fixture
def process(home: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Call the command line as a process of its own."""

    def call(*arguments: object) -> "subprocess.CompletedProcess[str]":
        rooms = [str(ROOT / room) for room in ("domain", "projections", "adapters")]
        return subprocess.run(
            [sys.executable, "-m", "ov_es_adapters.cli.main", *map(str, arguments)],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(rooms),
                "OV_ES_HOME": str(home),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return call
