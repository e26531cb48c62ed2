"""The scripted runtime, from a request to its report, with real processes."""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from ov_es_adapters.ports import RunRequest
from ov_es_adapters.runtimes.playbook import parse_playbook
from ov_es_adapters.runtimes.process_identity import LocalProcesses
from ov_es_adapters.runtimes.process_table import carries_marker, entries
from ov_es_adapters.runtimes.run_limits import Limits
from ov_es_adapters.runtimes.scripted import ScriptedRuntime
from ov_es_domain.observation import RunEnding, StreamOutcome

SOURCE = "ticket:1:5"


def request(
    marker: str, *, directory: Path | None = None, attempt: int = 1, time_limit: float = 60
) -> RunRequest:
    return RunRequest(
        source=SOURCE,
        lane="work",
        kind="ticket",
        attempt=attempt,
        execution=marker,
        prompt="Fix it.",
        system_prompt="You are Ada.",
        directory=str(directory) if directory else None,
        model=None,
        time_limit_seconds=time_limit,
        disabled_tools=frozenset({"post_message"}),
    )


def runtime(tmp_path: Path, *runs: dict[str, object], **options: object) -> ScriptedRuntime:
    playbook = parse_playbook([{"source": SOURCE, **run} for run in runs])
    settings: dict[str, object] = {"speed": 1000.0, "state_folder": tmp_path, **options}
    return ScriptedRuntime(playbook, **settings)  # type: ignore[arg-type]


def census(marker: str) -> list[int]:
    return [
        process.pid
        for process in entries()
        if not process.is_zombie and carries_marker(process.pid, marker)
    ]


async def until_it_left_children(marker: str, count: int) -> None:
    async with asyncio.timeout(10):
        while len(census(marker)) < count + 1:  # noqa: ASYNC110 - /proc offers no event
            await asyncio.sleep(0.01)


async def test_a_scripted_run_reports_its_answer_and_its_work(tmp_path: Path, marker: str) -> None:
    worktree = tmp_path / "tree"
    worktree.mkdir()
    scripted = runtime(
        tmp_path, {"takes": 60, "does": [{"edit": "login.py"}, {"text": "Fixed in PR 12."}]}
    )

    run = await scripted.start(request(marker, directory=worktree))
    report = await run.wait()

    assert (report.ending, report.exit_status) == (RunEnding.EXITED, 0)
    assert report.stream.outcome is StreamOutcome.OK
    assert report.stream.text == "Fixed in PR 12."
    assert report.stream.edits == 1
    assert (worktree / "login.py").exists()


async def test_rn_10_a_run_without_a_directory_works_in_the_state_folder(
    tmp_path: Path, marker: str
) -> None:
    scripted = runtime(tmp_path, {"does": [{"edit": "note.txt"}]})

    await (await scripted.start(request(marker))).wait()

    assert (tmp_path / "note.txt").exists()


async def test_a_tool_that_a_run_does_not_have_is_known_not_to_have_posted(
    tmp_path: Path, marker: str
) -> None:
    posting = {"tool": "post_message", "args": {"content": "Hi"}}
    server = ("no-such-server",)

    without = await runtime(tmp_path, {"does": [posting]}).start(request(marker))
    asked = replace(request(marker), team_server=server)
    disabled = await runtime(tmp_path, {"does": [posting]}).start(asked)

    for run in (without, disabled):
        stream = (await run.wait()).stream
        assert stream.posts == 0
        assert [call.ok for call in stream.calls] in ([], [False])


async def test_rn_9_a_policy_block_and_exit_statuses_are_read_back(
    tmp_path: Path, marker: str
) -> None:
    scripted = runtime(
        tmp_path, {"does": [{"shell": "exit 3"}, {"policy_block": "/srv/app"}, {"raw": "junk"}]}
    )

    stream = (await (await scripted.start(request(marker))).wait()).stream

    assert stream.commands[0].exit == 3
    assert stream.policy_block == "/srv/app"
    assert stream.unreadable_lines == 1


async def test_a_source_without_a_run_just_says_ok(tmp_path: Path, marker: str) -> None:
    report = await (await runtime(tmp_path).start(request(marker))).wait()

    assert (report.stream.text, report.stream.outcome) == ("ok", StreamOutcome.OK)


async def test_attempts_play_one_run_after_the_other_also_across_cycles(
    tmp_path: Path, marker: str
) -> None:
    scripted = runtime(tmp_path, *({"does": [{"text": word}]} for word in ("one", "two", "three")))

    texts = [
        (await (await scripted.start(request(marker, attempt=attempt))).wait()).stream.text
        for attempt in (1, 2, 1)
    ]

    assert texts == ["one", "two", "three"]


async def test_a_failing_exit_status_is_reported(tmp_path: Path, marker: str) -> None:
    run = await runtime(tmp_path, {"exit": 3}).start(request(marker))

    report = await run.wait()

    assert (report.ending, report.exit_status) == (RunEnding.EXITED, 3)
    assert report.stream.outcome is not StreamOutcome.OK


async def test_rn_6_a_run_that_hangs_is_timed_out(tmp_path: Path, marker: str) -> None:
    run = await runtime(tmp_path, {"hangs": True}).start(request(marker, time_limit=0.5))

    report = await run.wait()

    assert report.ending is RunEnding.TIMED_OUT
    assert report.stream.outcome is not StreamOutcome.OK


async def test_prc_09_a_run_that_falls_silent_is_stalled(tmp_path: Path, marker: str) -> None:
    # The agent's own start costs some computing, which isn't idleness.
    limits = Limits(time_limit=0, stall=1, grace=0.1)
    scripted = runtime(tmp_path, {"hangs": True, "does": [{"text": "Well…"}]}, limits=limits)

    report = await (await scripted.start(request(marker))).wait()

    assert report.ending is RunEnding.STALLED
    assert "the last event was 'assistant'" in report.error


async def test_a_stop_ends_a_run_that_ignores_the_polite_signal(
    tmp_path: Path, marker: str
) -> None:
    hanging: dict[str, object] = {"hangs": True, "ignores_term": True, "children": 2}
    scripted = runtime(tmp_path, hanging, limits=Limits(time_limit=0, grace=0.1))
    run = await scripted.start(request(marker))
    await until_it_left_children(marker, 2)

    await run.stop()

    report = await run.wait()
    assert (report.ending, report.exit_status) == (RunEnding.STOPPED, -9)
    assert census(marker) == []


async def test_prc_01_and_prc_02_children_left_behind_neither_hold_the_run_nor_survive_it(
    tmp_path: Path, marker: str
) -> None:
    run = await runtime(tmp_path, {"children": 3}).start(request(marker))

    async with asyncio.timeout(10):
        report = await run.wait()

    assert (report.ending, report.exit_status) == (RunEnding.EXITED, 0)
    assert census(marker) == []


async def test_prc_01_a_run_of_an_earlier_life_is_found_by_its_identity(
    tmp_path: Path, marker: str
) -> None:
    run = await runtime(tmp_path, {"hangs": True, "children": 2}).start(request(marker))
    await until_it_left_children(marker, 2)
    identity, processes = run.identity, LocalProcesses(grace_seconds=0.1)
    assert identity is not None

    alive, ended = processes.is_alive(identity), await processes.end(identity)

    assert (alive, ended) == (True, 3)
    assert not processes.is_alive(identity)
    assert census(marker) == []
    await run.wait()


async def test_a_recorded_stream_is_read_in_its_own_dialect(tmp_path: Path, marker: str) -> None:
    events = [
        {"type": "thread.started", "thread_id": "t1"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "Hi."}},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 2}},
    ]
    recording = tmp_path / "recordings" / "one.jsonl"
    recording.parent.mkdir()
    recording.write_text("".join(json.dumps(event) + "\n" for event in events))
    scripted = runtime(
        tmp_path, {"plays": "one.jsonl", "dialect": "codex"}, recordings=recording.parent
    )

    report = await (await scripted.start(request(marker))).wait()

    assert (report.stream.text, report.stream.outcome) == ("Hi.", StreamOutcome.OK)
    assert report.stream.conversation == "t1"


async def test_str_01_a_flood_does_not_drown_the_answer(tmp_path: Path, marker: str) -> None:
    scripted = runtime(tmp_path, {"does": [{"flood": 8}, {"text": "Still here."}]})

    report = await (await scripted.start(request(marker))).wait()

    assert report.stream.text == "Still here."


async def test_rn_8_a_directory_that_is_missing_is_a_run_that_did_not_start(
    tmp_path: Path, marker: str
) -> None:
    run = await runtime(tmp_path).start(request(marker, directory=tmp_path / "gone"))

    report = await run.wait()

    assert run.identity is None
    assert report.ending is RunEnding.NOT_STARTED


async def test_px_2_no_secret_is_on_the_command_line_or_in_what_commands_inherit(
    tmp_path: Path, marker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OV_ES_API_KEY", "k-of-the-daemon")
    command = f"env; tr '\\0' ' ' < /proc/$PPID/cmdline > {tmp_path}/argv"
    scripted = runtime(tmp_path, {"does": [{"shell": f"({command}) > {tmp_path}/env"}]})

    await (await scripted.start(request(marker))).wait()

    inherited = (tmp_path / "env").read_text()
    assert f"OV_ES_RUN={marker}" in inherited
    assert "PATH=" in inherited
    assert "k-of-the" not in inherited + (tmp_path / "argv").read_text()
    assert os.environ["OV_ES_API_KEY"] == "k-of-the-daemon"
