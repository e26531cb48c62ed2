"""The real agent programs, played by the scripted model: with no network and no model.

`tools/install_agent_clis.py` brings them. They're found on PATH, or below the folder that
`OV_ES_AGENT_CLIS` names; a program that isn't there is skipped.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.scripted_model.script import (
    Call,
    Edit,
    McpTool,
    Read,
    Refuse,
    Say,
    Shell,
    Step,
    Write,
)
from ov_es_adapters.scripted_model.server import ScriptedModel
from ov_es_adapters.team.live_team import local_world
from ov_es_adapters.team.local_server import LocalTeamServer

pytestmark = [pytest.mark.real_cli, pytest.mark.slow]

RUN_SECONDS = 100.0
"""How long a run may take before it counts as hanging; opencode starts slowly."""
TEAM: dict[str, object] = {
    "people": [{"id": 1, "name": "Maya"}],
    "projects": [{"id": 1, "name": "Core", "channel_id": 10}],
    "channels": [{"id": 10, "project_id": 1, "name": "core"}],
}
CODEX_MODELS = {
    "codex, tool search": "gpt-5.5",
    "codex, code mode": "gpt-6.2-sol",
    "codex, functions": "scripted",
}
"""The three ways in which codex offers tools: which one it takes depends on the model's name."""
PROGRAMS = ("claude", "opencode", *CODEX_MODELS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a program is started."""

    argv: tuple[str, ...]
    environment: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of it."""

    status: int
    output: str
    errors: str


def search_path() -> str:
    folders = [os.environ.get("PATH", os.defpath)]
    if named := os.environ.get("OV_ES_AGENT_CLIS"):
        modules = Path(named) / "node_modules"
        folders = [str(modules / "node" / "bin"), str(modules / ".bin"), *folders]
    return os.pathsep.join(folders)


def launch(program: str, model_url: str, workspace: Path, team: LocalTeamServer) -> Launch:
    if program == "claude":
        return claude(model_url, workspace, team)
    if program == "opencode":
        return opencode(model_url, workspace, team)
    return codex(model_url, workspace, team, CODEX_MODELS[program])


def claude(model_url: str, workspace: Path, team: LocalTeamServer) -> Launch:
    servers = {
        "openvisio-team": {
            "type": "http",
            "url": team.mcp_url,
            "headers": {"x-agent-identifier": "ada", "x-agent-api-key": "${TEAM_KEY}"},
        }
    }
    file = workspace.parent / "mcp.json"
    file.write_bytes(orjson.dumps({"mcpServers": servers}))
    return Launch(
        argv=(
            "claude",
            *("-p", "Do it.", "--output-format", "stream-json", "--verbose"),
            *("--strict-mcp-config", "--mcp-config", str(file)),
            *("--allowedTools", "Bash,Edit,Write,Read,mcp__openvisio-team"),
        ),
        environment={
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
            "ENABLE_TOOL_SEARCH": "false",
        },
    )


def codex(model_url: str, workspace: Path, team: LocalTeamServer, model: str) -> Launch:
    provider = f'{{name="s",base_url="{model_url}/v1",env_key="MODEL_KEY",wire_api="responses"}}'
    server = "mcp_servers.openvisio-team"
    settings = (
        'model_provider="s"',
        f"model_providers.s={provider}",
        'approval_policy="never"',
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
        f'{server}.url="{team.mcp_url}"',
        f'{server}.http_headers={{"x-agent-identifier"="ada"}}',
        f'{server}.env_http_headers={{"x-agent-api-key"="TEAM_KEY"}}',
        f'{server}.default_tools_approval_mode="approve"',
        f"{server}.required=true",
    )
    return Launch(
        argv=(
            *("codex", "exec", "--json", "--skip-git-repo-check"),
            *("--disable", "plugins", "--disable", "apps"),
            # A sandbox of its own needs rights that not every machine gives to a test.
            *("-s", "danger-full-access", "-C", str(workspace), "-m", model),
            *(part for setting in settings for part in ("-c", setting)),
            "Do it.",
        ),
        environment={"MODEL_KEY": "none"},
    )


def opencode(model_url: str, workspace: Path, team: LocalTeamServer) -> Launch:
    scripted = {
        "name": "Scripted",
        "tool_call": True,
        "limit": {"context": 400_000, "output": 16_000},
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Script",
        "options": {"baseURL": f"{model_url}/v1", "apiKey": "none"},
        "models": {"scripted": scripted},
    }
    server = {
        "type": "remote",
        "url": team.mcp_url,
        "enabled": True,
        "oauth": False,
        "headers": {"x-agent-identifier": "ada", "x-agent-api-key": "{env:TEAM_KEY}"},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "small_model": "script/scripted",
        "enabled_providers": ["script"],
        "provider": {"script": provider},
        "permission": {"edit": "allow", "bash": "allow", "external_directory": "allow"},
        "mcp": {"openvisio-team": server},
    }
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
    return Launch(
        argv=(
            *("opencode", "run", "Do it.", "--format", "json", "--auto"),
            *("--dir", str(workspace), "--model", "script/scripted"),
        ),
        environment={
            "OPENCODE_CONFIG_CONTENT": orjson.dumps(config).decode(),
            **{f"OPENCODE_DISABLE_{name}": "1" for name in off},
        },
    )


class Stage:
    """A workspace and a team for one run."""

    def __init__(self, workspace: Path, home: Path, team: LocalTeamServer) -> None:
        self.workspace = workspace
        self.team = team
        self._home = home

    async def run(self, program: str, model: ScriptedModel) -> Ran:
        started = launch(program, model.base_url, self.workspace, self.team)
        path = search_path()
        if (found := shutil.which(started.argv[0], path=path)) is None:
            pytest.skip(f"{started.argv[0]} isn't installed: tools/install_agent_clis.py does it")
        process = await asyncio.create_subprocess_exec(
            found,
            *started.argv[1:],
            cwd=self.workspace,
            env={
                "PATH": path,
                "HOME": str(self._home),
                "TEAM_KEY": self.team.api_keys["ada"],
                **started.environment,
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(RUN_SECONDS):
                output, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        return Ran(
            status=process.returncode,
            output=output.decode(errors="replace"),
            errors=errors.decode(errors="replace"),
        )


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    home, workspace = tmp_path / "home", tmp_path / "workspace"
    home.mkdir()
    workspace.mkdir()
    world = local_world(TEAM, AgentIdentity(id=7, identifier="ada", name="Ada"))
    async with LocalTeamServer(world) as team:
        yield Stage(workspace, home, team)


def played(steps: Iterable[Step], stage: Stage) -> ScriptedModel:
    return ScriptedModel(steps, variables={"workspace": str(stage.workspace)})


@pytest.mark.parametrize("program", PROGRAMS)
async def test_a_command_makes_a_file(stage: Stage, program: str) -> None:
    steps = (Call((Shell("echo hello > made.txt"),)), Say("Done."))

    with played(steps, stage) as model:
        ran = await stage.run(program, model)

    assert ran.status == 0, ran.errors
    assert (stage.workspace / "made.txt").read_text(encoding="utf-8") == "hello\n"
    assert "Done." in ran.output
    assert model.left == 0


@pytest.mark.parametrize("program", PROGRAMS)
async def test_files_are_written_changed_and_read(stage: Stage, program: str) -> None:
    path = "{{workspace}}/poem.txt"
    steps = (
        Call((Write(path, "roses are red\nviolets are blue\n"),)),
        Call((Edit(path, "roses are red", "roses are pink"),)),
        Call((Read(path),)),
        Say("Done."),
    )

    with played(steps, stage) as model:
        ran = await stage.run(program, model)

    assert ran.status == 0, ran.errors
    written = (stage.workspace / "poem.txt").read_text(encoding="utf-8")
    assert written == "roses are pink\nviolets are blue\n"
    assert "roses are pink" in ran.output
    assert model.left == 0


@pytest.mark.parametrize("program", PROGRAMS)
async def test_team_tools_are_called(stage: Stage, program: str) -> None:
    post = McpTool("post_message", {"channel_id": 10, "content": "Hello, team."})
    steps = (Call((post, Shell("echo hello > made.txt")), "I'll tell them."), Say("Done."))

    with played(steps, stage) as model:
        ran = await stage.run(program, model)

    assert ran.status == 0, ran.errors
    assert [each["content"] for each in stage.team.team.world.posts] == ["Hello, team."]
    assert (stage.workspace / "made.txt").exists()
    assert model.left == 0


@pytest.mark.parametrize("program", PROGRAMS)
async def test_a_request_that_is_refused_for_good_ends_the_run(stage: Stage, program: str) -> None:
    with played((Refuse(400, None),), stage) as model:
        ran = await stage.run(program, model)

    assert ran.status == 1
