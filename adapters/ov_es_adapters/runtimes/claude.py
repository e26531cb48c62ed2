"""Claude Code as a runtime: `claude -p`, one turn for each process, its stream as JSON lines.

Source: RN-12 to RN-16.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from ov_es_adapters.ports import Run, RunRequest
from ov_es_adapters.runtimes.installed_program import InstalledProgram, can_code
from ov_es_adapters.runtimes.team_server import SERVER

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

    def __init__(self, program: InstalledProgram, *, state_folder: Path) -> None:
        """`state_folder` is where runs work that have no directory of their own."""
        self._program = program
        self._state_folder = state_folder

    async def start(self, request: RunRequest) -> Run:
        """Start a run (RN-8)."""
        return await self._program.start(
            request,
            arguments=arguments(request),
            directory=request.directory or str(self._state_folder),
            stdin=prompt_line(request.prompt),
            more=QUIET,
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
    team = [TEAM_TOOLS] if request.team_server else []
    off = [f"{TEAM_TOOLS}__{tool}" for tool in sorted(request.disabled_tools)]
    kept = WORK_TOOLS if can_code(request) else ()
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
