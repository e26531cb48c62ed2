"""A log in a SQLite file: what survives kills, cuts, full disks and curious hands."""

import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import pytest
from tests.contracts.event_histories import connected

from ov_es_adapters.errors import (
    CorruptLogError,
    NotConfiguredError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from ov_es_adapters.event_log.comparison import compare_with_rebuild
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.event_log.recorder_log import RecorderLog
from ov_es_domain.watch.events import WatchConnected

ROOT = Path(__file__).resolve().parents[3]
CHILD = ROOT / "tests" / "contracts" / "writing_child.py"
ROOMS = [str(ROOT / room) for room in ("domain", "projections", "adapters")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "ada.db"


@contextmanager
def opened(path: Path, *, read_only: bool = False) -> Generator[EventLog]:
    with closing(open_log(f"sqlite:///{path}", read_only=read_only)) as log:
        yield log


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def write(path: Path, count: int) -> None:
    with opened(path) as log:
        for version in range(1, count + 1):
            log.append([connected(version)])


def leave_behind(path: Path, count: int) -> list[int]:
    """Write events, and leave all files as a kill would; return the `-wal`'s size after each."""
    sizes: list[int] = []
    with opened(path) as log:
        for version in range(1, count + 1):
            log.append([connected(version)])
            sizes.append(beside(path, "-wal").stat().st_size)
        for file in list(path.parent.iterdir()):
            shutil.copy(file, path.parent / f"{file.name}.copy")
    for copy in path.parent.glob("*.copy"):
        copy.replace(copy.with_suffix(""))
    beside(path, "-shm").unlink(missing_ok=True)
    return sizes


def by_hand(path: Path, statements: str) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.executescript(statements)


# --- how it's kept -------------------------------------------------------------------------------


def test_every_commit_waits_for_the_disk(path: Path) -> None:
    names = ("journal_mode", "synchronous", "busy_timeout")
    with opened(path) as log, cast(RecorderLog, log).store.transaction(commit=False) as cursor:
        kept = {name: cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in names}

    assert kept == {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 250}


def test_nobody_else_may_read_any_of_the_files(path: Path) -> None:
    before = os.umask(0)
    try:
        with opened(path) as log:
            log.append([connected(1)])
            modes = {
                file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()
            }
    finally:
        os.umask(before)

    assert set(modes) == {"ada.db", "ada.db-shm", "ada.db-wal", "ada.db.seen"}
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE stored_events SET topic = 'x'",
        "DELETE FROM stored_events WHERE id = 2",
        "INSERT OR REPLACE INTO stored_events VALUES (2, 'watch:eve', 1, 'x', x'00')",
        "INSERT OR REPLACE INTO stored_events VALUES (NULL, 'watch:ada', 2, 'x', x'00')",
        (
            "INSERT INTO stored_events VALUES (2, 'watch:eve', 1, 'x', x'00')"
            " ON CONFLICT DO UPDATE SET topic = 'x'"
        ),
    ],
)
def test_the_log_cannot_be_changed_by_hand(path: Path, statement: str) -> None:
    write(path, 2)

    with pytest.raises(sqlite3.IntegrityError, match=r"append-only|never rewritten"):
        by_hand(path, statement)

    with opened(path) as log:
        assert [event.body for event in log.stream()] == [
            WatchConnected(number=1),
            WatchConnected(number=2),
        ]


def test_a_log_in_a_folder_with_an_odd_name_is_that_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "a b?c#d%20e" / "file:ada.db"

    write(path, 1)

    assert path.stat().st_size > 0
    with opened(path) as log:
        assert log.position() == 1


def test_a_folder_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreUnavailableError, match="file"):
        open_log(f"sqlite:///{tmp_path}/file/ada.db")


def test_processes_that_open_a_new_log_at_once_all_get_it(path: Path) -> None:
    script = (
        "import sys\n"
        "from ov_es_adapters.event_log.open_log import open_log\n"
        "print('ready', flush=True)\n"
        "sys.stdin.readline()\n"
        "log = open_log(sys.argv[1])\n"
        "log.position()\n"
        "log.close()\n"
    )
    with _children(["-c", script, f"sqlite:///{path}"], 6) as children:
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        answers = [child.communicate("\n", timeout=60)[1] for child in children]

    assert [child.returncode for child in children] == [0] * 6, answers


# --- PER-01: a crash leaves no half record -------------------------------------------------------


def test_per_01_what_was_acknowledged_before_a_kill_is_there_whole(path: Path) -> None:
    with opened(path):
        pass
    acknowledged = 0
    for number in range(3):
        arguments = [str(CHILD), f"sqlite:///{path}", str(number), "100000"]
        with _children(arguments, 1) as (child,):
            assert child.stdout is not None
            said = [int(child.stdout.readline()) for _ in range(20 + number)]
            child.send_signal(signal.SIGKILL)
            said.extend(int(line) for line in child.stdout if line.endswith("\n"))
        acknowledged += said[-1]

        with opened(path) as log:
            shared = len(log.load("watch:shared"))
            assert acknowledged <= shared <= acknowledged + 1
            assert len(log.load(f"ticket:1:{number}")) >= said[-1]
            assert compare_with_rebuild(log) == []
        acknowledged = shared


def test_per_01_a_record_that_was_cut_anywhere_is_gone_and_all_before_it_is_there(
    path: Path, tmp_path: Path
) -> None:
    sizes = leave_behind(path, 3)
    whole = beside(path, "-wal").read_bytes()
    cuts = [*range(sizes[1], sizes[2], 1031), sizes[2] - 1]

    for number, cut in enumerate(cuts):
        copy = tmp_path / str(number) / path.name
        shutil.copytree(path.parent, copy.parent)
        beside(copy, "-wal").write_bytes(whole[:cut])
        with opened(copy) as log:
            assert len(list(log.stream())) == 2
            assert compare_with_rebuild(log) == []

            log.append([connected(3, number=9)])

            assert [event.version for event in log.load("watch:ada")] == [1, 2, 3]
        with opened(copy) as log:
            assert len(list(log.stream())) == 3


# --- PER-02: what has lost its past isn't taken for new ------------------------------------------


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("lose", [_empty, _remove])
@pytest.mark.parametrize(
    ("begin", "ending"), [(write, ".seen"), (leave_behind, ".seen"), (leave_behind, "-wal")]
)
def test_per_02_an_emptied_log_is_refused_and_its_traces_are_left_alone(
    path: Path,
    lose: Callable[[Path], None],
    begin: Callable[[Path, int], object],
    ending: str,
) -> None:
    begin(path, 3)
    lose(path)
    for trace in ("-wal", ".seen"):
        if trace != ending:
            beside(path, trace).unlink(missing_ok=True)
    kept = beside(path, ending).read_bytes()

    for _ in range(2):
        with pytest.raises(CorruptLogError, match=f"{path}.*(away|remove)"):
            open_log(f"sqlite:///{path}")

    assert beside(path, ending).read_bytes() == kept
    assert not path.exists() or path.stat().st_size == 0


def test_per_02_an_operator_may_choose_to_begin_anew(path: Path) -> None:
    write(path, 3)
    path.write_bytes(b"")
    with pytest.raises(CorruptLogError, match=f"remove {beside(path, '.seen')}"):
        open_log(f"sqlite:///{path}")

    beside(path, ".seen").unlink()

    with opened(path) as log:
        assert log.append([connected(1)])


def test_per_02_a_log_whose_last_commits_were_never_in_the_file_is_refused(path: Path) -> None:
    leave_behind(path, 3)
    beside(path, "-wal").unlink()

    with pytest.raises(CorruptLogError, match="ends at position 0") as caught:
        open_log(f"sqlite:///{path}")

    assert caught.value.position == 1


@pytest.mark.parametrize("said", [b"", b"\xff\x00", b"many"])
def test_per_02_a_note_that_says_nothing_is_written_anew_with_a_warning(
    path: Path, said: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    write(path, 3)
    beside(path, ".seen").write_bytes(said)

    with opened(path) as log:
        assert len(list(log.stream())) == 3

    assert beside(path, ".seen").read_bytes() == b"3"
    assert "ada.db.seen can't be read" in caplog.text


def test_a_reader_writes_no_note(path: Path) -> None:
    write(path, 3)
    beside(path, ".seen").unlink()

    with opened(path, read_only=True) as log:
        assert log.position() == 3

    assert not beside(path, ".seen").exists()


def test_a_reader_of_an_empty_file_is_told_that_there_is_no_log(path: Path) -> None:
    path.parent.mkdir()
    path.touch()

    with pytest.raises(NotConfiguredError, match="there is no log"):
        open_log(f"sqlite:///{path}", read_only=True)


# --- PER-04: a full disk -------------------------------------------------------------------------


@contextmanager
def _no_file_may_grow() -> Generator[None]:
    """What a full disk does, for this process: a write fails half-way."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (70_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_per_04_nothing_is_written_by_halves_when_the_disk_is_full(path: Path) -> None:
    with opened(path) as log:
        log.append([connected(1)])
        with _no_file_may_grow():
            for _ in range(3):
                with pytest.raises(StoreUnavailableError, match="nothing was written"):
                    log.append([connected(version) for version in range(2, 900)])
            assert log.position() == 1
            assert len(list(log.stream())) == 1

        log.append([connected(2)])

        assert [event.version for event in log.stream()] == [1, 2]
        assert compare_with_rebuild(log) == []
    with opened(path) as log:
        assert log.position() == 2


def test_per_04_a_database_that_may_not_grow_says_so(path: Path) -> None:
    with opened(path) as log:
        with cast(RecorderLog, log).store.transaction(commit=False) as cursor:
            pages = cursor.execute("PRAGMA page_count").fetchone()[0]
            cursor.execute(f"PRAGMA max_page_count = {pages}")

        with pytest.raises(StoreUnavailableError, match="disk is full"):
            log.append([connected(version) for version in range(1, 900)])

        assert log.position() == 0
        assert compare_with_rebuild(log) == []


def test_per_04_a_note_that_cannot_be_written_fails_no_commit(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    with opened(path) as log:
        shutil.rmtree(path.parent)
        path.parent.touch()

        log.append([connected(1)])

        assert log.position() == 1
        path.parent.unlink()
        path.parent.mkdir()
    assert "ada.db.seen can't be written" in caplog.text


# --- LOS-09: somebody else writes ----------------------------------------------------------------


def test_los_09_a_writer_is_told_that_another_one_holds_the_log(path: Path) -> None:
    with opened(path) as log, closing(sqlite3.connect(path, isolation_level=None)) as other:
        log.append([connected(1)])
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreLockedError, match=f"{path} is held by another process"):
            log.append([connected(2)])
        assert len(list(log.stream())) == 1, "reading goes on"

        other.execute("ROLLBACK")
        assert [event.position for event in log.append([connected(2), connected(3)])] == [2, 3]


def test_a_log_is_opened_and_read_while_another_process_writes(path: Path) -> None:
    write(path, 2)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with opened(path) as log:
            assert len(log.load("watch:ada")) == 2

        other.execute("ROLLBACK")


# --- damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"not a database " * 99, bytes(8192), b"SQLite format 3\0"])
def test_a_file_that_is_no_database_is_corrupt_and_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)

    with pytest.raises(CorruptLogError) as caught:
        open_log(f"sqlite:///{path}")

    assert str(path) in str(caught.value)
    assert path.read_bytes() == content


def test_a_file_that_was_cut_off_tells_the_first_event_that_is_gone(path: Path) -> None:
    write(path, 1000)
    size = path.stat().st_size
    os.truncate(path, size - size // 4)

    with pytest.raises(CorruptLogError, match="malformed") as caught:
        open_log(f"sqlite:///{path}")

    position = caught.value.position
    assert 1 < position <= 1000
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA writable_schema = ON")
        assert all(_is_there(other, number) for number in range(1, position))
        assert not _is_there(other, position)


def _is_there(other: sqlite3.Connection, position: int) -> bool:
    try:
        look = "SELECT originator_version FROM stored_events WHERE id = ?"
        return other.execute(look, (position,)).fetchone() == (position,)
    except sqlite3.DatabaseError:
        return False


@pytest.mark.parametrize(
    ("change", "position", "why"),
    [
        ("DELETE FROM stored_events WHERE id = 2", 2, "the next position there is 3"),
        ("UPDATE stored_events SET topic = 'watch.sang@1' WHERE id = 2", 2, "'watch.sang@1'"),
        ("UPDATE stored_events SET state = 'x' WHERE id = 3", 3, "can't be decoded"),
        ("UPDATE stored_events SET state = x'7b' WHERE id = 1", 1, "can't be decoded"),
        ("UPDATE stored_events SET originator_version = 9 WHERE id = 4", 4, "version 9"),
    ],
)
def test_an_event_that_was_altered_by_hand_is_found_at_its_position(
    path: Path, change: str, position: int, why: str
) -> None:
    write(path, 4)
    by_hand(
        path,
        "DROP TRIGGER stored_events_no_update; DROP TRIGGER stored_events_no_delete;" + change,
    )

    with opened(path) as log, pytest.raises(CorruptLogError, match=why) as caught:
        _read_all(log)

    assert caught.value.position == position


def test_an_event_that_the_index_no_longer_knows_is_found_by_a_check(path: Path) -> None:
    """A stream has it and its aggregate doesn't: decisions would be made without it."""
    write(path, 3)
    with opened(path) as log:
        log.check()
    in_index = b"watch:ada" + bytes([2, 2])  # the key, its version, its position
    whole = path.read_bytes()
    assert whole.count(in_index) == 1
    path.write_bytes(whole.replace(in_index, b"watch:ada" + bytes([2, 99])))

    with opened(path) as log:
        assert len(list(log.stream())) == 3
        with pytest.raises(CorruptLogError, match="row 2 missing from index") as caught:
            log.check()

    assert caught.value.position == 2


def _read_all(log: EventLog) -> None:
    for event in list(log.stream()):
        log.load(event.key)


def test_triggers_that_somebody_dropped_are_there_again(path: Path) -> None:
    write(path, 2)
    by_hand(path, "DROP TRIGGER stored_events_no_delete")

    with opened(path) as log:
        assert log.position() == 2

    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        by_hand(path, "DELETE FROM stored_events")


def test_bytes_that_were_overwritten_anywhere_are_an_error_of_the_store_or_harmless(
    path: Path, tmp_path: Path
) -> None:
    write(path, 60)
    whole = path.read_bytes()

    for number, start in enumerate(range(0, len(whole), len(whole) // 40)):
        altered = bytearray(whole)
        altered[start : start + 64] = b"\xa5" * len(altered[start : start + 64])
        copy = tmp_path / str(number) / "ada.db"
        copy.parent.mkdir()
        copy.write_bytes(altered)
        try:
            with opened(copy, read_only=True) as log:
                read = list(log.stream())
        except StoreError:
            continue
        assert [event.version for event in read] == list(range(1, 61))


# --- processes -----------------------------------------------------------------------------------


@contextmanager
def _children(arguments: list[str], count: int) -> Generator["list[subprocess.Popen[str]]"]:
    children = [
        subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(ROOMS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    try:
        yield children
    finally:
        for child in children:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout, child.stderr):
                if pipe is not None:
                    pipe.close()
