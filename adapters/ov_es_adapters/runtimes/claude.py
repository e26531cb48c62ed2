"""Claude Code as a runtime: `claude -p`, one turn for each process, its stream as JSON lines.

Source: RN-12 to RN-16.
"""

import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ov_es_adapters.ports import Run, RunRequest
from ov_es_adapters.runtimes.cli_run import UnstartedRun, start_run, unchanged
from ov_es_adapters.runtimes.process_group import Command
from ov_es_adapters.runtimes.run_environment import inherited
from ov_es_adapters.runtimes.run_limits import Limits
from ov_es_adapters.runtimes.streams import parser_for
from ov_es_adapters.runtimes.team_server import SERVER
from ov_es_domain.turn.kinds import Lane

PROGRAM = "claude"
TEAM_TOOLS = f"mcp__{SERVER}"
WORK_TOOLS = ("Bash", "Edit", "Write", "Read", "Grep", "Glob", "NotebookEdit", "TodoWrite")
"""What a run may use that codes; subagents and the web aren't among it."""
BUILT_IN_TOOLS = (*WORK_TOOLS, "Task", "WebFetch", "WebSearch", "Skill", "SlashCommand")
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    # The team's tools are in the first request, so that none is thought to be missing.
    "ENABLE_TOOL_SEARCH": "false",
}


class ClaudeRuntime:
    """Starts one `claude` process for each run."""

    name = "claude"

    def __init__(
        self,
        *,
        state_folder: Path,
        program: str = PROGRAM,
        environment: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        redact: Callable[[str], str] = unchanged,
    ) -> None:
        """Say where and how it runs.

        Args:
            state_folder: Where runs work that have no directory of their own.
            program: The command, by name or path.
            environment: What runs inherit; None: our own environment but for our settings.
            limits: All but the time limit, which each request brings along.
            redact: Takes secrets out of what the program said on stderr.
        """
        self._state_folder = state_folder
        self._program = program
        self._environment = inherited(os.environ) if environment is None else dict(environment)
        self._limits = limits or Limits(time_limit=0.0)
        self._redact = redact

    async def start(self, request: RunRequest) -> Run:
        """Start a run; where there is no such program, its report says what to do (RN-8)."""
        found = shutil.which(self._program, path=self._environment.get("PATH"))
        if found is None:
            return UnstartedRun(
                f"there is no program {self._program} on PATH: install Claude Code, or use"
                " another --runtime"
            )
        command = Command(
            argv=(found, *arguments(request)),
            environment={**self._environment, **QUIET},
            directory=request.directory or str(self._state_folder),
            stdin=prompt_line(request.prompt),
        )
        return await start_run(
            command,
            marker=request.execution,
            parser=parser_for("claude"),
            limits=dataclasses.replace(self._limits, time_limit=request.time_limit_seconds),
            redact=self._redact,
        )


def arguments(request: RunRequest) -> list[str]:
    """Return the command line but for the program: no secret, and no word of anybody's message.

    The prompt goes over stdin, where others can't see it; the system prompt is our own text.
    """
    line = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    # Only our own server, whatever the repository or the user has set up besides.
    line += ["--strict-mcp-config", "--mcp-config", json.dumps(mcp_servers(request.team_server))]
    # Nor do settings of the repository give leave for anything.
    line += ["--setting-sources", "user"]
    if request.model:
        line += ["--model", request.model]
    if request.system_prompt:
        line += ["--append-system-prompt", request.system_prompt]
    allowed, forbidden = tools(request)
    line += ["--allowedTools", ",".join(allowed)]
    line += ["--disallowedTools", ",".join(forbidden)]
    if request.conversation:
        line += ["--resume", request.conversation]
    return line


def tools(request: RunRequest) -> tuple[list[str], list[str]]:
    """Return what a run may use and what not; a reply has the team's tools alone (RN-4, RN-12)."""
    can_code = request.lane == Lane.WORK.value and request.directory is not None
    team = [TEAM_TOOLS] if request.team_server else []
    off = [f"{TEAM_TOOLS}__{tool}" for tool in sorted(request.disabled_tools)]
    kept = WORK_TOOLS if can_code else ()
    return [*kept, *team], [*(tool for tool in BUILT_IN_TOOLS if tool not in kept), *off]


def mcp_servers(team_server: Sequence[str]) -> dict[str, object]:
    """Return the configuration of the run's only MCP server; of none without one (RN-11)."""
    if not team_server:
        return {"mcpServers": {}}
    program, *given = team_server
    return {"mcpServers": {SERVER: {"type": "stdio", "command": program, "args": given}}}


def prompt_line(prompt: str) -> bytes:
    """Return the one line that a run reads from stdin."""
    content = [{"type": "text", "text": prompt}]
    message = {"type": "user", "message": {"role": "user", "content": content}}
    return json.dumps(message).encode() + b"\n"
