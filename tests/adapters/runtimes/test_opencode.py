"""OpenCode's configuration and command line: what each lane may do, and where it starts."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.adapters.runtimes.stand_in import stand_in
from tests.adapters.runtimes.test_scripted import request

from ov_es_adapters.runtimes.opencode import OpencodeRuntime, arguments, configuration
from ov_es_domain.observation import StreamOutcome

SERVER = ("/usr/bin/python3", "-I", "/pump.py", "/gates/a.sock")
ENDS = [
    {"type": "step_start", "sessionID": "o1", "part": {}},
    {"type": "text", "sessionID": "o1", "part": {"text": "Done."}},
    {"type": "step_finish", "sessionID": "o1", "part": {"reason": "stop", "tokens": {}}},
]


def _configured(lane: str, directory: Path | None) -> dict[str, Any]:
    asked = replace(request("m", directory=directory), lane=lane, team_server=SERVER)
    return cast("dict[str, Any]", configuration(asked))


@pytest.mark.parametrize(
    ("lane", "has_directory"), [("reply", False), ("reply", True), ("work", False)]
)
def test_rn_27_a_reply_has_the_teams_tools_and_nothing_else_also_by_its_own_agent(
    lane: str, tmp_path: Path, *, has_directory: bool
) -> None:
    found = _configured(lane, tmp_path if has_directory else None)

    rules = {"*": "deny", "openvisio-team_*": "allow", "openvisio-team_post_message": "deny"}
    assert found["permission"] == rules
    assert next(iter(found["permission"])) == "*", "the last rule that fits is the one that counts"
    assert found["agent"][found["default_agent"]] == {"mode": "primary", "permission": rules}


def test_rn_27_a_run_that_codes_has_no_such_block(tmp_path: Path) -> None:
    found = _configured("work", tmp_path)

    assert found["permission"] == {
        "webfetch": "deny",
        "task": "deny",
        "openvisio-team_post_message": "deny",
    }
    assert "agent" not in found


def test_rn_26_the_only_server_is_the_gate_and_without_one_there_is_none(tmp_path: Path) -> None:
    found = _configured("work", tmp_path)

    assert found["mcp"]["openvisio-team"]["command"] == list(SERVER)
    assert found["mcp"]["openvisio-team"]["type"] == "local"
    assert "mcp" not in configuration(request("m", directory=tmp_path))


def test_the_command_line_follows_the_lane(tmp_path: Path) -> None:
    asked = replace(request("m", directory=tmp_path), model="lab/large", conversation="o1")

    work = arguments(asked, folder=Path("/state/opencode"))
    reply = arguments(replace(asked, lane="reply"), folder=Path("/state/opencode"))

    assert work[:5] == ["run", "--format", "json", "--dir", str(tmp_path)]
    assert "--auto" in work
    assert work[-4:] == ["--model", "lab/large", "--session", "o1"]
    assert reply[:5] == ["run", "--format", "json", "--dir", "/state/opencode"]
    assert "--auto" not in reply
    assert reply[5:7] == ["--agent", "openvisio-reply"]


async def test_rn_24_it_starts_outside_of_the_code_and_is_pointed_at_it(
    tmp_path: Path, marker: str
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    program, told = stand_in(tmp_path, "opencode", ENDS)
    runtime = OpencodeRuntime(program, state_folder=tmp_path / "state")
    asked = replace(request(marker, directory=tree), team_server=SERVER)

    report = await (await runtime.start(asked)).wait()

    found = told()
    assert (report.stream.outcome, report.stream.text) == (StreamOutcome.OK, "Done.")
    assert found.directory == str(tmp_path / "state" / "opencode")
    assert str(tree) in found.argv
    assert found.stdin == "You are Ada.\n\nFix it."
    assert json.loads(found.environment["OPENCODE_CONFIG_CONTENT"]) == configuration(asked)
    assert list(tree.iterdir()) == []
