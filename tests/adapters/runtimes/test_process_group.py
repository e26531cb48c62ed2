"""Real children: what becomes of them, of what they print, and of what they leave behind."""

import asyncio
import os
import sys
from signal import Signals

import pytest

from ov_es_adapters.runtimes.process_group import Command, ProcessGroup
from ov_es_adapters.runtimes.process_table import MARKER, entries, entry


def python(source: str, *, stdin: bytes | None = None, directory: str | None = None) -> Command:
    return Command(
        argv=(sys.executable, "-S", "-c", source),
        environment=dict(os.environ),
        stdin=stdin,
        directory=directory,
    )


def shell(source: str) -> Command:
    return Command(argv=("/bin/sh", "-c", source), environment=dict(os.environ))


async def run_to_its_end(group: ProcessGroup) -> bytes:
    """Wait for the exit, clear up, and return all that was printed."""
    await group.closed()
    await group.clear()
    return await group.stdout.read()


async def first_line(group: ProcessGroup) -> bytes:
    return await group.stdout.readuntil(b"\n")


def zombies_of_ours() -> list[int]:
    ours = os.getsid(0)
    return [
        process.pid
        for process in entries()
        if process.is_zombie and process.parent == os.getpid() and process.session != ours
    ]


async def test_pr_1_a_child_leads_a_session_of_its_own_and_carries_the_marker(
    marker: str,
) -> None:
    group = await ProcessGroup.start(shell(f'echo "${MARKER}"; cat'), marker=marker)

    printed = await run_to_its_end(group)

    assert printed == marker.encode() + b"\n"
    assert group.exit_status == 0
    assert group.identity.started


async def test_prc_05_a_child_without_input_reads_its_end_at_once(marker: str) -> None:
    group = await ProcessGroup.start(shell("cat; echo done"), marker=marker)

    assert await run_to_its_end(group) == b"done\n"


async def test_prc_05_a_prompt_of_one_mebibyte_arrives_whole(marker: str) -> None:
    prompt = b"x" * 1024 * 1024 + b"end"
    source = "import sys; data = sys.stdin.buffer.read(); print(len(data), data[-3:])"
    group = await ProcessGroup.start(python(source, stdin=prompt), marker=marker)

    assert await run_to_its_end(group) == b"1048579 b'end'\n"
    assert not group.stdin_was_refused


async def test_a_child_that_never_reads_its_prompt_is_no_error(marker: str) -> None:
    group = await ProcessGroup.start(python("pass", stdin=b"x" * 1024 * 1024), marker=marker)

    assert await run_to_its_end(group) == b""
    assert group.exit_status == 0
    assert group.stdin_was_refused


async def test_prc_06_a_flood_on_stderr_blocks_nobody_and_its_end_is_kept(marker: str) -> None:
    source = (
        "import sys; sys.stderr.write('é' * 512 * 1024 + 'the end'); sys.stderr.flush(); print(1)"
    )
    group = await ProcessGroup.start(python(source), marker=marker)

    assert await run_to_its_end(group) == b"1\n"
    tail = group.stderr_tail
    assert tail.endswith("éthe end")
    assert 64 * 1024 - 4 < len(tail.encode()) <= 64 * 1024
    assert "�" not in tail


async def test_prc_02_a_background_child_that_holds_the_pipe_does_not_hold_the_run(
    marker: str,
) -> None:
    group = await ProcessGroup.start(shell("sleep 300 & echo $!; echo last"), marker=marker)

    async with asyncio.timeout(5):
        printed = await run_to_its_end(group)

    child, last = printed.decode().split()
    assert last == "last"
    assert entry(int(child)) is None
    assert zombies_of_ours() == []


async def test_prc_01_what_left_group_and_session_is_ended_as_well(marker: str) -> None:
    source = (
        "import subprocess; p = subprocess.Popen(['sleep', '300'], start_new_session=True,"
        " stdin=-3, stdout=-3, stderr=-3); print(p.pid)"
    )
    group = await ProcessGroup.start(python(source), marker=marker)

    printed = await run_to_its_end(group)

    assert entry(int(printed)) is None
    assert zombies_of_ours() == []


async def test_prc_01_a_stop_reaches_the_agent_behind_its_launcher(marker: str) -> None:
    # The agent left the launcher's session and environment, and ignores the polite signal.
    launcher = "setsid env -i sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & wait"
    group = await ProcessGroup.start(shell(launcher), marker=marker)
    agent = int(await first_line(group))

    await group.stop(grace_seconds=10)
    await group.clear()

    assert group.exit_status == -Signals.SIGTERM
    assert entry(agent) is None


async def test_pr_2_whoever_ignores_the_polite_signal_is_ended_by_force(marker: str) -> None:
    source = "trap '' TERM; echo ready; while :; do sleep 1; done"
    group = await ProcessGroup.start(shell(source), marker=marker)
    await first_line(group)

    await group.stop(grace_seconds=0.05)
    await group.clear()

    assert group.exit_status == -Signals.SIGKILL


async def test_pr_5_a_stop_of_an_ended_child_signals_nobody(marker: str) -> None:
    group = await ProcessGroup.start(shell("exit 3"), marker=marker)
    await run_to_its_end(group)

    await group.stop()

    assert group.exit_status == 3


async def test_clearing_ends_a_child_that_still_runs(marker: str) -> None:
    group = await ProcessGroup.start(shell("echo ready; sleep 300"), marker=marker)
    await first_line(group)

    await group.clear()

    assert group.exit_status == -Signals.SIGKILL


async def test_a_program_that_is_missing_is_an_os_error(marker: str) -> None:
    with pytest.raises(FileNotFoundError):
        await ProcessGroup.start(Command(argv=("/nowhere/agent",), environment={}), marker=marker)
