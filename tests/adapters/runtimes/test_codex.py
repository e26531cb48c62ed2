"""Codex' command line: its sandbox by lane, our server alone, and what a commit has to write."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.runtimes.stand_in import Told, stand_in
from tests.adapters.runtimes.test_scripted import request

from ov_es_adapters.runtimes.codex import CodexRuntime, arguments
from ov_es_adapters.runtimes.installed_program import InstalledProgram
from ov_es_domain.observation import StreamOutcome

SERVER = ("/usr/bin/python3", "-I", "/pump.py", "/gates/a.sock")
ENDS = [
    {"type": "thread.started", "thread_id": "t1"},
    {"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": "Done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}},
]


def _settings(line: Sequence[str]) -> dict[str, Any]:
    pairs = [line[n + 1].split("=", 1) for n, word in enumerate(line) if word == "-c"]
    return {name: json.loads(value) for name, value in pairs}


def _after(line: Sequence[str], option: str) -> list[str]:
    return [line[n + 1] for n, word in enumerate(line) if word == option]


def test_rn_19_the_only_server_is_ours_and_it_names_the_disabled_tools(tmp_path: Path) -> None:
    asked = replace(request("m", directory=tmp_path), team_server=SERVER, model="large")

    line = arguments(asked, directory=str(tmp_path), writable=["/r/.git"])
    settings = _settings(line)

    assert settings["mcp_servers.openvisio-team.command"] == SERVER[0]
    assert settings["mcp_servers.openvisio-team.args"] == list(SERVER[1:])
    assert settings["mcp_servers.openvisio-team.disabled_tools"] == ["post_message"]
    assert settings["mcp_servers.openvisio-team.required"] is True
    assert settings["approval_policy"] == "never"
    assert (_after(line, "-s"), _after(line, "-m")) == (["workspace-write"], ["large"])
    assert _after(line, "--add-dir") == ["/r/.git"]
    assert "shell_tool" not in _after(line, "--disable")
    assert line[-1] == "-"


@pytest.mark.parametrize("lane", ["reply", "work"])
def test_rn_4_a_run_without_a_workspace_has_no_shell_and_writes_nothing(lane: str) -> None:
    line = arguments(replace(request("m"), lane=lane), directory="/state", writable=())

    assert _after(line, "-s") == ["read-only"]
    assert {"shell_tool", "unified_exec", "multi_agent"} <= set(_after(line, "--disable"))
    assert "mcp_servers" not in " ".join(line)


def test_a_conversation_is_gone_on_with_by_its_id() -> None:
    line = arguments(replace(request("m"), conversation="t1"), directory="/state", writable=())

    assert line[-3:] == ["resume", "t1", "-"]


async def test_rn_3_rn_10_a_reply_runs_in_the_state_folder_and_reads_its_prompt_on_stdin(
    tmp_path: Path, marker: str
) -> None:
    program, told = stand_in(tmp_path, "codex", ENDS)
    runtime = CodexRuntime(program, state_folder=tmp_path)

    report = await (await runtime.start(replace(request(marker), lane="reply"))).wait()

    found: Told = told()
    assert (report.stream.outcome, report.stream.text) == (StreamOutcome.OK, "Done.")
    assert report.stream.conversation == "t1"
    assert found.stdin == "You are Ada.\n\nFix it."
    assert found.directory == str(tmp_path)
    assert "Fix it." not in " ".join(found.argv)


async def test_a_commit_in_a_linked_worktree_may_write_both_of_its_git_folders(
    tmp_path: Path, marker: str
) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    who = ("-c", "user.name=A", "-c", "user.email=a@b")
    for words in (
        ["init", "-q", str(main)],
        ["-C", str(main), *who, "commit", "-q", "--allow-empty", "-m", "First"],
        ["-C", str(main), "worktree", "add", "-q", "-b", "agent/ada-5", str(linked)],
    ):
        subprocess.run(["git", *words], check=True)  # noqa: ASYNC221 - brief
    program, told = stand_in(tmp_path, "codex", ENDS)
    runtime = CodexRuntime(program, state_folder=tmp_path)

    for directory in (main, linked):
        await (await runtime.start(request(marker, directory=directory))).wait()
        folders = _after(told().argv, "--add-dir")
        own = [main / ".git"] if directory == main else []
        own = own or [main / ".git", main / ".git" / "worktrees" / "linked"]
        assert folders == [str(folder) for folder in own]


@pytest.mark.parametrize("link", [b"", b"gitdir: /nowhere", b"\xff\xfe", b"gitdir: ../../etc"])
async def test_a_link_to_nowhere_opens_nothing(tmp_path: Path, marker: str, link: bytes) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_bytes(link)
    program, told = stand_in(tmp_path, "codex", ENDS)

    runtime = CodexRuntime(program, state_folder=tmp_path)
    await (await runtime.start(request(marker, directory=tmp_path / "tree"))).wait()

    assert _after(told().argv, "--add-dir") == []


async def test_a_link_that_an_earlier_run_bent_opens_no_folder_of_somebody_elses(
    tmp_path: Path, marker: str
) -> None:
    """The worktree is the run's to write, and so is what its `.git` says."""
    tree, made, private = tmp_path / "tree", tmp_path / "made", tmp_path / "home" / ".ssh"
    for folder in (tree, made, private):
        folder.mkdir(parents=True)
    (made / "commondir").write_text(str(private))
    (made / "gitdir").write_text(str(tree / ".git"))
    (private / "HEAD").write_text("ref: refs/heads/main")
    program, told = stand_in(tmp_path, "codex", ENDS)
    runtime = CodexRuntime(program, state_folder=tmp_path)

    for is_symlink in (False, True):
        (tree / ".git").unlink(missing_ok=True)
        if is_symlink:
            (tree / ".git").symlink_to(private)
        else:
            (tree / ".git").write_text(f"gitdir: {made}")
        await (await runtime.start(request(marker, directory=tree))).wait()

        assert _after(told().argv, "--add-dir") == []


async def test_rn_8_without_the_program_the_report_says_what_to_do(
    tmp_path: Path, marker: str
) -> None:
    nowhere = InstalledProgram(name="codex", title="Codex", environment={"PATH": str(tmp_path)})

    runtime = CodexRuntime(nowhere, state_folder=tmp_path)
    report = await (await runtime.start(request(marker))).wait()

    assert "install Codex" in report.error
