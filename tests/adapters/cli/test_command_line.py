"""The contract of every command: help, strict options, exit statuses, clean streams."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import orjson
import pytest
from tests.adapters.cli.conftest import ROOT, Call
from tests.projections.histories import Book, a_day

from ov_es_adapters.cli.main import cli
from ov_es_adapters.event_log.open_log import open_log

Keep = Callable[..., Path]
Process = Callable[..., "subprocess.CompletedProcess[str]"]
READING = ("status", "queue", "show", "log", "why", "audit", "replay", "machines")
MINE = (*READING, "resolve", "rebuild")


@pytest.mark.parametrize("name", MINE)
def test_every_command_has_a_sentence_an_example_and_json(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None

    said = command.help or ""

    assert said.splitlines()[0].endswith((".", ";"))
    assert f"Example: ov-es {name}" in said
    assert "--json" in {opt for parameter in command.params for opt in parameter.opts}


@pytest.mark.parametrize("name", MINE)
def test_an_unknown_option_is_a_bad_call(ov_es: Call, name: str) -> None:
    told = ov_es(name, "--bogus")

    assert told.exit_code == 2
    assert told.stdout == ""


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("status", "--json"), 0),
        (("why", "205"), 0),
        (("why", "nothing"), 2),
        (("audit", "--since", "soon"), 2),
        (("queue", "--concurrency", "0"), 2),
        (("status", "--name", "bob"), 3),
        (("--store", "sqlite:////proc/none/x.db", "status"), 3),
        ((), 2),
        (("--version",), 0),
    ],
)
def test_a_process_exits_with_the_status_of_the_contract(
    process: Process, arguments: tuple[str, ...], status: int
) -> None:
    told = process(*arguments)

    assert told.returncode == status, told.stderr
    assert "Traceback" not in told.stderr
    if status and arguments:
        assert len(told.stderr.splitlines()) == 1
        assert told.stderr.startswith("Error: ")


def test_findings_make_a_process_exit_with_1(keep: Keep, process: Process) -> None:
    book = a_day()
    book.answered(120, 205, "No.")
    keep(book)

    told = process("audit", "--json")

    assert told.returncode == 1
    assert orjson.loads(told.stdout)["duplicates"] == 1
    assert told.stderr == ""


def test_a_store_that_can_not_be_read_makes_it_exit_with_4(home: Path, process: Process) -> None:
    (home / "ada.db").write_bytes(b"no database" * 1000)

    told = process("status")

    assert told.returncode == 4
    assert "Traceback" not in told.stderr


@pytest.mark.usefixtures("day")
def test_output_that_nobody_reads_to_its_end_is_no_error(home: Path) -> None:
    script = f"'{sys.executable}' -m ov_es_adapters.cli.main log --json | head -n 1"

    told = subprocess.run(
        ["/bin/sh", "-c", script],
        env={**_environment(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert told.stderr == ""
    assert orjson.loads(told.stdout)["position"] == 1


def _environment(home: Path) -> dict[str, str]:
    rooms = [str(ROOT / room) for room in ("domain", "projections", "adapters")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(rooms), "OV_ES_HOME": str(home)}


def test_a_followed_log_goes_on_until_it_is_interrupted(keep: Keep, home: Path) -> None:
    book = Book()
    book.mention(100)
    path = keep(book)
    known = len(book.events)
    follower = subprocess.Popen(
        [sys.executable, "-m", "ov_es_adapters.cli.main", "log", "--follow", "--json"],
        env=_environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert follower.stdout is not None
    assert follower.stderr is not None
    try:
        before = [orjson.loads(follower.stdout.readline()) for _ in range(known)]
        book.mention(101)
        log = open_log(f"sqlite:///{path}")
        log.append(book.new_events()[known:])
        log.close()
        after = [orjson.loads(follower.stdout.readline()) for _ in range(known)]
        follower.send_signal(signal.SIGINT)
        said = follower.stderr.read()
        status = follower.wait(timeout=30)
    finally:
        follower.kill()
        follower.wait()
        follower.stdout.close()
        follower.stderr.close()

    assert [event["position"] for event in (*before, *after)] == list(range(1, 2 * known + 1))
    assert status == 130
    assert b"Traceback" not in said


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize("name", ["status", "queue", "log", "audit", "replay", "machines"])
def test_a_document_is_all_that_stands_on_stdout(process: Process, name: str) -> None:
    told = process(name, "--json")

    documents: list[Any] = (
        [orjson.loads(line) for line in told.stdout.splitlines()]
        if name == "log"
        else [orjson.loads(told.stdout)]
    )
    assert documents
    assert told.stderr == ""


@pytest.mark.usefixtures("day")
def test_there_is_no_colour_where_nobody_looks(process: Process) -> None:
    for name in ("status", "queue", "audit", "machines"):
        assert "\x1b[" not in process(name).stdout
