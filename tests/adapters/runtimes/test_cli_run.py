"""A run from its start to its report: endings, limits, lines, and what's said of them."""

import asyncio
import json
import os
import sys

from ov_es_adapters.runtimes.cli_run import start_run
from ov_es_adapters.runtimes.process_group import Command
from ov_es_adapters.runtimes.run_limits import Limits
from ov_es_domain.observation import RunEnding, StreamObservation, StreamOutcome

LIMITS = Limits(time_limit=60, stall=None, grace=0.2)


class Lines:
    """A parser that keeps what it was fed, and knows an event that is final."""

    def __init__(self) -> None:
        self.fed: list[bytes] = []
        self.exit_status: int | None = None
        self.is_finished = False
        self.came = asyncio.Event()

    def feed(self, line: bytes) -> None:
        self.fed.append(line)
        self.is_finished |= line == b'{"type": "final"}'
        self.came.set()

    def conclude(self, exit_status: int | None) -> StreamObservation:
        self.exit_status = exit_status
        return StreamObservation(outcome=StreamOutcome.OK, text=f"{len(self.fed)} lines")


def python(source: str) -> Command:
    return Command(argv=(sys.executable, "-S", "-c", source), environment=dict(os.environ))


def shell(source: str) -> Command:
    return Command(argv=("/bin/sh", "-c", source), environment=dict(os.environ))


async def test_rn_9_lines_reach_the_parser_and_the_last_needs_no_end(marker: str) -> None:
    parser = Lines()
    run = await start_run(
        shell("printf 'one\\n\\ntwo\\nlast'; exit 7"), marker=marker, parser=parser, limits=LIMITS
    )

    report = await run.wait()

    assert parser.fed == [b"one", b"two", b"last"]
    assert parser.exit_status == 7
    assert (report.ending, report.exit_status) == (RunEnding.EXITED, 7)
    assert report.stream.text == "3 lines"


async def test_rn_6_a_result_is_given_once_and_to_all_who_wait(marker: str) -> None:
    run = await start_run(shell("exit 0"), marker=marker, parser=Lines(), limits=LIMITS)

    first, second = await asyncio.gather(run.wait(), run.wait())
    await run.stop()

    assert first is second is await run.wait()
    assert first.ending is RunEnding.EXITED


async def test_rn_6_a_stopped_run_stays_stopped_whatever_its_exit_status_says(
    marker: str,
) -> None:
    parser = Lines()
    run = await start_run(
        shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done"),
        marker=marker,
        parser=parser,
        limits=LIMITS,
    )
    await parser.came.wait()

    await run.stop()

    report = await run.wait()
    assert (report.ending, report.exit_status) == (RunEnding.STOPPED, 0)
    assert parser.fed == [b"ready", b"bye"]


async def test_a_run_is_timed_out_at_its_limit(marker: str) -> None:
    limits = Limits(time_limit=0.05, stall=None, grace=0.05)
    run = await start_run(shell("sleep 300"), marker=marker, parser=Lines(), limits=limits)

    report = await run.wait()

    assert report.ending is RunEnding.TIMED_OUT
    assert report.exit_status == -15


async def test_prc_09_a_stalled_run_is_ended_and_its_last_event_noted(marker: str) -> None:
    limits = Limits(time_limit=60, stall=0.5, grace=0.05)
    source = 'echo \'{"type": "tool_result", "text": "private"}\'; sleep 300'
    run = await start_run(shell(source), marker=marker, parser=Lines(), limits=limits)

    report = await run.wait()

    assert report.ending is RunEnding.STALLED
    assert "the last event was 'tool_result'" in report.error
    assert "private" not in report.error


async def test_prc_03_a_run_that_finished_and_does_not_exit_is_ended_as_a_success(
    marker: str,
) -> None:
    limits = Limits(time_limit=60, stall=None, grace=0.05, exit_grace=0.1)
    source = 'echo \'{"type": "final"}\'; sleep 300'
    parser = Lines()
    run = await start_run(shell(source), marker=marker, parser=parser, limits=limits)

    report = await run.wait()

    assert report.ending is RunEnding.EXITED
    assert parser.exit_status is None
    assert "was ended" in report.error
    assert report.stream.outcome is StreamOutcome.OK


async def test_str_01_events_of_any_length_are_parsed(marker: str) -> None:
    parser = Lines()
    source = (
        "import json\n"
        "for size in (200 * 1024, 8 * 1024 * 1024, 1): print(json.dumps({'t': 'x' * size}))"
    )
    run = await start_run(python(source), marker=marker, parser=parser, limits=LIMITS)

    await run.wait()

    sizes = [len(json.loads(line)["t"]) for line in parser.fed]
    assert sizes == [200 * 1024, 8 * 1024 * 1024, 1]


async def test_a_line_beyond_the_cap_is_reported_and_the_rest_is_read(marker: str) -> None:
    parser = Lines()
    limits = Limits(time_limit=60, stall=None, line_bytes_max=1000)
    run = await start_run(
        python("print('x' * 5000); print('short')"), marker=marker, parser=parser, limits=limits
    )

    report = await run.wait()

    assert parser.fed == [b"short"]
    assert report.stream.unreadable_lines == 1
    assert "longer than 1000 bytes" in report.error


async def test_str_03_characters_written_byte_by_byte_arrive_whole(marker: str) -> None:
    parser = Lines()
    text = "漢字 🦊 é"
    source = (
        "import os\n"
        f"for byte in {text!r}.encode() + b'\\n':\n"
        "    os.write(1, bytes([byte])); os.write(2, bytes([byte]))"
    )
    run = await start_run(python(source), marker=marker, parser=parser, limits=LIMITS)

    report = await run.wait()

    assert [line.decode() for line in parser.fed] == [text]
    assert report.stderr_tail == text + "\n"


async def test_rn_8_a_program_that_is_missing_is_a_report_and_no_error(marker: str) -> None:
    command = Command(argv=("/nowhere/agent",), environment={})
    run = await start_run(command, marker=marker, parser=Lines(), limits=LIMITS)

    await run.stop()
    report = await run.wait()

    assert run.identity is None
    assert report.ending is RunEnding.NOT_STARTED
    assert report.error == "/nowhere/agent can't be started: No such file or directory"


async def test_rn_8_a_directory_that_is_missing_is_named(marker: str) -> None:
    command = Command(argv=("/bin/sh",), environment={}, directory="/nowhere")
    run = await start_run(command, marker=marker, parser=Lines(), limits=LIMITS)

    report = await run.wait()

    assert report.error == "/bin/sh can't be started in /nowhere: there is no such directory"


async def test_what_a_program_complains_of_is_redacted(marker: str) -> None:
    run = await start_run(
        shell("echo key=k123 >&2"),
        marker=marker,
        parser=Lines(),
        limits=LIMITS,
        redact=lambda text: text.replace("k123", "***"),
    )

    report = await run.wait()

    assert report.stderr_tail == "key=***\n"


async def test_whoever_waits_may_be_cancelled_without_harm_to_the_run(marker: str) -> None:
    parser = Lines()
    run = await start_run(
        shell("echo ready; sleep 300"),
        marker=marker,
        parser=parser,
        limits=LIMITS,
    )
    waiting = asyncio.create_task(run.wait())
    await parser.came.wait()
    waiting.cancel()
    await asyncio.wait([waiting])

    await run.stop()

    assert (await run.wait()).ending is RunEnding.STOPPED
