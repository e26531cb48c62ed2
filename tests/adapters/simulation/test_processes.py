"""Simulated agent programs: how they end, what they leave, and what they prove."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import pytest

from ov_es_adapters.ports import ProcessIdentity, RunRequest
from ov_es_adapters.runtimes.playbook import Playbook, parse_playbook
from ov_es_adapters.simulation.incarnation import Incarnation, ProcessDiedError
from ov_es_adapters.simulation.processes import Machine, SimulatedProcesses
from ov_es_adapters.simulation.runtimes import SimulatedRuntime
from ov_es_adapters.simulation.virtual_clock import VirtualLoop, run_virtually
from ov_es_adapters.simulation.worktrees import Disk, SimulatedWorktrees
from ov_es_adapters.simulation.world_tasks import WorldTasks
from ov_es_domain.observation import RunEnding, RunReport, StreamOutcome

SOURCE = "ticket:1:5"
REQUEST = RunRequest(
    source=SOURCE,
    lane="work",
    kind="full",
    attempt=1,
    execution="execution-1",
    prompt="",
    system_prompt="",
    directory="/workspace/COR-5",
    model=None,
    time_limit_seconds=600,
    disabled_tools=frozenset({"post_message"}),
)


class Stage:
    """A world with one runtime in it."""

    def __init__(self, playbook: Playbook, runtime: str = "scripted") -> None:
        self.machine = Machine()
        self.disk = Disk()
        self.world = WorldTasks()
        self.incarnation = Incarnation(1, lambda _: None)
        self.calls: list[tuple[str, Mapping[str, object]]] = []
        self.worktrees = SimulatedWorktrees(self.disk, self.incarnation, has_workspace=True)
        self.processes = SimulatedProcesses(self.machine, self.incarnation)
        self.runtime = SimulatedRuntime(
            runtime,
            playbook,
            machine=self.machine,
            disk=self.disk,
            world=self.world,
            incarnation=self.incarnation,
            call_team=self._call,
        )

    def _call(self, tool: str, arguments: Mapping[str, object]) -> str:
        self.calls.append((tool, arguments))
        return ""

    async def run(self, request: RunRequest = REQUEST) -> RunReport:
        return await (await self.runtime.start(request)).wait()


def _play(
    runs: list[dict[str, object]],
    main: Callable[[Stage], Awaitable[None]],
    *,
    runtime: str = "scripted",
) -> None:
    async def on_stage(_: VirtualLoop) -> None:
        stage = Stage(parse_playbook(runs), runtime)
        await main(stage)
        await stage.world.end()

    run_virtually(on_stage)


def test_a_run_takes_its_time_and_proves_what_it_did() -> None:
    does = [
        {"tool": "get_ticket"},
        {"edit": "login.py"},
        {"shell": "pytest -q", "exit": 1},
        {"commit": True},
        {"tool": "update_ticket", "args": {"status": "in_review"}},
        {"text": "Working on it."},
        {"text": "Fixed."},
    ]

    async def main(stage: Stage) -> None:
        before = await stage.worktrees.snapshot("/workspace/COR-5")
        report = await stage.run()
        change = await stage.worktrees.compare(before)

        assert asyncio.get_running_loop().time() == pytest.approx(60)
        assert (report.ending, report.exit_status) == (RunEnding.EXITED, 0)
        assert (report.stream.outcome, report.stream.text) == (StreamOutcome.OK, "Fixed.")
        assert [(call.tool, call.ok) for call in report.stream.calls] == [
            ("get_ticket", True),
            ("update_ticket", True),
        ]
        assert [command.exit for command in report.stream.commands] == [1, 0]
        assert report.stream.edits == 1
        assert (change.changed, change.commits, change.files) == (True, 1, ("login.py",))
        assert stage.calls == [
            ("get_ticket", {"project_id": 1, "ticket_id": 5}),
            ("update_ticket", {"project_id": 1, "ticket_id": 5, "status": "in_review"}),
        ]

    _play([{"source": SOURCE, "takes": 60, "does": does}], main)


def test_a_tool_that_is_disabled_for_the_run_is_never_called() -> None:
    async def main(stage: Stage) -> None:
        report = await stage.run()

        assert [(call.tool, call.ok) for call in report.stream.calls] != [("post_message", True)]
        assert report.stream.calls[0].tool == "post_message"
        assert stage.calls == []

    _play([{"source": SOURCE, "does": [{"tool": "post_message"}]}], main)


def test_runs_of_a_source_come_in_the_order_of_its_launches_and_the_last_one_stays() -> None:
    runs: list[dict[str, object]] = [
        {"source": SOURCE, "does": [{"text": "one"}], "exit": 1},
        {"source": SOURCE, "does": [{"text": "two"}]},
    ]

    async def main(stage: Stage) -> None:
        reports = [await stage.run() for _ in range(3)]
        other = await stage.run(replace(REQUEST, source="mention:10:1"))

        assert [report.exit_status for report in reports] == [1, 0, 0]
        assert [report.stream.text for report in reports[1:]] == ["two", "two"]
        assert (other.exit_status, other.stream.text) == (0, "ok")

    _play(runs, main)


def test_a_run_that_hangs_is_ended_at_its_limit() -> None:
    async def main(stage: Stage) -> None:
        report = await stage.run()

        assert report.ending is RunEnding.TIMED_OUT
        assert report.exit_status == -15
        assert asyncio.get_running_loop().time() == pytest.approx(600)
        assert stage.machine.living == []

    _play([{"source": SOURCE, "hangs": True, "children": 2}], main)


def test_a_run_that_ignores_the_polite_signal_is_gone_after_the_grace() -> None:
    async def main(stage: Stage) -> None:
        run = await stage.runtime.start(REQUEST)
        await asyncio.sleep(10)
        await run.stop()
        report = await run.wait()

        assert (report.ending, report.exit_status) == (RunEnding.STOPPED, -9)
        assert asyncio.get_running_loop().time() > 10
        assert stage.machine.living == []

    _play([{"source": SOURCE, "hangs": True, "ignores_term": True, "children": 3}], main)


def test_a_run_and_its_children_outlive_the_process_that_started_them() -> None:
    async def main(stage: Stage) -> None:
        run = await stage.runtime.start(REQUEST)
        identity = run.identity
        assert identity is not None
        await asyncio.sleep(5)
        stage.incarnation.die()
        with pytest.raises(ProcessDiedError):
            await run.stop()

        heir = SimulatedProcesses(stage.machine, Incarnation(2, lambda _: None))
        assert heir.is_alive(identity)
        assert not heir.is_alive(replace(identity, started="another boot"))
        assert await heir.end(replace(identity, marker="somebody else's")) == 0
        assert await heir.end(ProcessIdentity(pid=0, started="", marker="execution-1")) == 3
        assert not heir.is_alive(identity)

    _play([{"source": SOURCE, "hangs": True, "children": 2}], main)


def test_a_line_that_is_no_json_is_counted() -> None:
    async def main(stage: Stage) -> None:
        report = await stage.run()

        assert report.stream.unreadable_lines == 2
        assert report.stream.text == "fine"

    _play([{"source": SOURCE, "does": [{"raw": "oops"}, {"flood": 65}, {"text": "fine"}]}], main)


def test_a_raw_line_is_read_in_the_dialect_of_the_scenarios_runtime() -> None:
    line = (
        '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"From codex."}}'
    )

    async def main(stage: Stage) -> None:
        report = await stage.run()

        assert report.stream.text == "From codex."
        assert report.stream.unknown_events == 0

    _play([{"source": SOURCE, "does": [{"raw": line}]}], main, runtime="codex")


def test_a_run_without_a_directory_edits_nothing() -> None:
    async def main(stage: Stage) -> None:
        report = await stage.run(replace(REQUEST, directory=None))

        assert not report.stream.edits

    _play([{"source": SOURCE, "does": [{"edit": "a.py"}, {"commit": True}]}], main)


def test_an_edit_that_was_there_before_is_no_change_of_this_run() -> None:
    async def main(stage: Stage) -> None:
        stage.disk.workspace("/workspace/COR-5").edit("old.py")
        before = await stage.worktrees.snapshot("/workspace/COR-5")

        assert (await stage.worktrees.compare(before)).changed is False
        assert (await stage.worktrees.compare(None)).changed is None

    _play([], main)
