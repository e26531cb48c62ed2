"""Which processes are ours, told by pid, start time and marker together."""

import asyncio
import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.ports import ProcessIdentity
from ov_es_adapters.runtimes.process_identity import LocalProcesses, descendants, identify
from ov_es_adapters.runtimes.process_table import MARKER, ProcessEntry, entry, parse_stat


@pytest.fixture
def sleeper(marker: str) -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "300"], env={**os.environ, MARKER: marker}) as process:
        yield process
        process.kill()


def gone(pid: int) -> bool:
    found = entry(pid)
    return found is None or found.is_zombie


def test_a_process_is_alive_until_it_ends(sleeper: "subprocess.Popen[bytes]", marker: str) -> None:
    identity = identify(sleeper.pid, marker)

    before = LocalProcesses().is_alive(identity)
    sleeper.kill()
    sleeper.wait()

    assert before
    assert not LocalProcesses().is_alive(identity)


async def test_prc_11_a_process_with_our_pid_and_another_start_is_never_signalled(
    sleeper: "subprocess.Popen[bytes]",
) -> None:
    ours = identify(sleeper.pid, "a marker that nobody carries")
    earlier = dataclasses.replace(ours, started=ours.started + "0")

    alive, ended = LocalProcesses().is_alive(earlier), await LocalProcesses().end(earlier)

    assert (alive, ended) == (False, 0)
    assert sleeper.poll() is None


async def test_prc_11_its_group_is_left_alone_too(marker: str) -> None:
    with subprocess.Popen(  # noqa: ASYNC220 - it only has to be there
        ["/bin/sh", "-c", "sleep 300 & echo $!; wait"],
        env={**os.environ, MARKER: marker},
        start_new_session=True,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        theirs = ProcessIdentity(pid=process.pid, started="another boot:1", marker="nobody's")

        ended = await LocalProcesses().end(theirs)
        untouched = not gone(child) and process.poll() is None
        await LocalProcesses(grace_seconds=0).end(identify(process.pid, marker))

    assert ended == 0
    assert untouched


async def test_prc_01_leftovers_of_an_earlier_life_are_found_and_ended(marker: str) -> None:
    # The launcher is gone, as after a crash of ours; the agent has a session of its own.
    launcher = (
        "import subprocess; p = subprocess.Popen(['sh', '-c', 'trap \"\" TERM; sleep 300 & wait'],"
        " start_new_session=True, stdout=-3); print(p.pid)"
    )
    done = subprocess.run(  # noqa: ASYNC221 - it is over at once
        [sys.executable, "-S", "-c", launcher],
        env={**os.environ, MARKER: marker},
        stdout=subprocess.PIPE,
        check=True,
    )
    agent = int(done.stdout)
    lost = ProcessIdentity(pid=2**22, started="before", marker=marker)

    ended = await LocalProcesses(grace_seconds=0.1).end(lost)

    assert ended >= 1
    assert gone(agent)
    assert await LocalProcesses().end(lost) == 0


async def test_we_never_end_ourselves_even_where_we_carry_the_marker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    me = identify(os.getpid(), "")
    monkeypatch.setattr(
        "ov_es_adapters.runtimes.process_identity.carries_marker",
        lambda pid, _: pid in {os.getpid(), os.getppid()},
    )

    ended = await LocalProcesses().end(dataclasses.replace(me, pid=1, started="x", marker="m"))

    assert ended == 0


async def test_what_an_ancestor_of_ours_started_is_not_part_of_a_run(
    sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    me = identify(os.getpid(), "")
    monkeypatch.setattr(
        "ov_es_adapters.runtimes.process_identity.carries_marker",
        lambda pid, _: pid == os.getpid(),
    )

    ended = await LocalProcesses().end(dataclasses.replace(me, pid=1, started="x", marker="m"))

    assert ended == 0
    assert sleeper.poll() is None


async def test_a_process_that_ends_politely_is_waited_for(
    sleeper: "subprocess.Popen[bytes]", marker: str
) -> None:
    ended = await LocalProcesses(grace_seconds=10).end(identify(sleeper.pid, marker))

    assert ended == 1
    assert await asyncio.to_thread(sleeper.wait) == -15


@given(st.binary(max_size=30), st.integers(1, 2**22), st.integers(0, 2**40))
def test_no_name_of_a_command_hides_the_start_time(name: bytes, pid: int, ticks: int) -> None:
    fields = [b"S", *[b"1"] * 18, str(ticks).encode(), b"7", b"7"]
    text = str(pid).encode() + b" (" + name + b") " + b" ".join(fields)

    read = parse_stat(text, "boot", 100)

    assert read is not None
    assert (read.pid, read.started) == (pid, f"boot:{ticks}")


@given(st.binary(max_size=80))
def test_what_is_no_stat_file_is_none_or_read_without_an_error(text: bytes) -> None:
    try:
        parse_stat(text, "boot", 100)
    except ValueError:
        # Only a kernel that writes words for numbers could do that.
        assert b")" in text


def test_descendants_are_found_across_generations_and_loops() -> None:
    def child(pid: int, parent: int) -> ProcessEntry:
        return ProcessEntry(
            pid=pid,
            parent=parent,
            group=1,
            session=1,
            is_zombie=False,
            started=str(pid),
            cpu_seconds=0,
        )

    table = [child(2, 1), child(3, 2), child(4, 3), child(5, 9), child(1, 4)]

    assert sorted(found.pid for found in descendants(table, [2])) == [1, 3, 4]
