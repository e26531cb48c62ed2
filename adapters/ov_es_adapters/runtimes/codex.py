"""Codex as a runtime: `codex exec --json`, in its own sandbox, with our MCP server alone.

Source: RN-10, RN-17 to RN-22.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from ov_es_adapters.git.commit_folders import commit_folders
from ov_es_adapters.ports import Run, RunRequest
from ov_es_adapters.runtimes.installed_program import InstalledProgram, can_code, whole_prompt
from ov_es_adapters.runtimes.team_server import SERVER

OFF = ("plugins", "apps", "multi_agent", "browser_use", "computer_use", "image_generation")
"""Features that reach out, or whose doings its stream doesn't tell."""
OFF_FOR_REPLIES = ("shell_tool", "unified_exec", "view_image")
TOOL_SECONDS = 60


class CodexRuntime:
    """Starts one `codex exec` for each run."""

    name = "codex"

    def __init__(self, program: InstalledProgram, *, state_folder: Path) -> None:
        """`state_folder` is where runs work that have no directory of their own."""
        self._program = program
        self._state_folder = state_folder

    async def start(self, request: RunRequest) -> Run:
        """Start a run (RN-8)."""
        directory = request.directory if can_code(request) else None
        where = directory or str(self._state_folder)
        git_folders = commit_folders(Path(where)) if directory else ()
        return await self._program.start(
            request,
            arguments=arguments(request, directory=where, writable=git_folders),
            directory=where,
            stdin=whole_prompt(request),
            more={},
        )


def arguments(request: RunRequest, *, directory: str, writable: Sequence[str]) -> list[str]:
    """Return the command line but for the program; the prompt goes over stdin.

    `writable` are the folders outside of `directory` that a commit has to write.
    """
    line = ["exec", "--json", "--skip-git-repo-check"]
    off = OFF if can_code(request) else (*OFF, *OFF_FOR_REPLIES)
    for feature in off:
        line += ["--disable", feature]
    line += ["-s", "workspace-write" if can_code(request) else "read-only", "-C", directory]
    for folder in writable:
        line += ["--add-dir", folder]
    if request.model:
        line += ["-m", request.model]
    settings: dict[str, object] = {
        "approval_policy": "never",
        "check_for_update_on_startup": False,
        "analytics.enabled": False,
        "web_search": "disabled",
    }
    if request.team_server:
        program, *given = request.team_server
        server = f"mcp_servers.{SERVER}"
        settings |= {
            f"{server}.command": program,
            f"{server}.args": given,
            f"{server}.required": True,
            f"{server}.default_tools_approval_mode": "approve",
            f"{server}.disabled_tools": sorted(request.disabled_tools),
            f"{server}.tool_timeout_sec": TOOL_SECONDS,
        }
    for name, value in settings.items():
        # A JSON value is the same in TOML, but for null, of which there is none.
        line += ["-c", f"{name}={json.dumps(value)}"]
    if request.conversation:
        line += ["resume", request.conversation]
    return [*line, "-"]
