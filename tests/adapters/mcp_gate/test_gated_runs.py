"""Whole runs behind a gate: what they did there is in their reports, and a stop ends it."""

import asyncio
from pathlib import Path

from tests.adapters.mcp_gate.test_gate import KEY, Team
from tests.adapters.runtimes.test_scripted import request, runtime

from ov_es_adapters.mcp_gate.gate_socket import GateFolder
from ov_es_adapters.mcp_gate.gated_runtime import GatedRuntime
from ov_es_adapters.redaction import Redactor
from ov_es_domain.observation import RunEnding, ToolCall


def _gated(tmp_path: Path, gates: GateFolder, team: Team, *does: object) -> GatedRuntime:
    inner = runtime(tmp_path, {"does": list(does)})
    return GatedRuntime(inner, team, folder=gates, redactor=Redactor([KEY]))


async def test_px_10_what_a_run_called_is_in_its_report_and_its_socket_is_gone(
    tmp_path: Path, marker: str
) -> None:
    team = Team()
    with GateFolder(tmp_path / "gates") as gates:
        gated = _gated(tmp_path, gates, team, {"tool": "get_ticket"}, {"text": "Read."})

        report = await (await gated.start(request(marker))).wait()

        assert list(gates.path.iterdir()) == []
    assert gated.name == "scripted"
    assert report.witnessed == (ToolCall(tool="get_ticket", ok=True),)
    assert report.stream.text == "Read."
    assert len(team.asked) == 1


async def test_a_stopped_run_leaves_its_last_call_unknown_and_gets_nothing_more_through(
    tmp_path: Path, marker: str
) -> None:
    team = Team()
    team.hangs = True
    with GateFolder(tmp_path / "gates") as gates:
        gated = _gated(tmp_path, gates, team, {"tool": "get_ticket"}, {"tool": "get_ticket"})
        run = await gated.start(request(marker))
        await asyncio.wait_for(team.is_asked.wait(), 20)

        await run.stop()
        report = await run.wait()

    assert report.ending is RunEnding.STOPPED
    assert report.witnessed is not None
    assert [call.ok for call in report.witnessed] == [None]
    assert len(team.asked) == 1


async def test_rn_8_a_gate_that_cannot_be_opened_is_a_run_that_did_not_start(
    tmp_path: Path, marker: str
) -> None:
    gates = GateFolder(tmp_path / "gates")
    gates.close()

    report = await (await _gated(tmp_path, gates, Team()).start(request(marker))).wait()

    assert report.ending is RunEnding.NOT_STARTED
    assert "gate can't be opened" in report.error


async def test_a_run_that_reaches_its_limit_closes_its_gate_too(
    tmp_path: Path, marker: str
) -> None:
    team = Team()
    team.hangs = True
    with GateFolder(tmp_path / "gates") as gates:
        gated = _gated(tmp_path, gates, team, {"tool": "get_ticket"})

        report = await (await gated.start(request(marker, time_limit=0.5))).wait()

        assert list(gates.path.iterdir()) == []
    assert report.ending is RunEnding.TIMED_OUT
