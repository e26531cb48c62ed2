"""OpenCode as a runtime: `opencode run`, with a configuration of our own beside the code.

Source: RN-23 to RN-27.
"""

import json
from pathlib import Path

from ov_es_adapters.ports import Run, RunRequest
from ov_es_adapters.runtimes.installed_program import InstalledProgram, can_code, whole_prompt
from ov_es_adapters.runtimes.team_server import SERVER

REPLY_AGENT = "openvisio-reply"
TOOL_MILLISECONDS = 60_000
QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_SHARE": "1",
}


class OpencodeRuntime:
    """Starts one `opencode run` for each run."""

    name = "opencode"

    def __init__(self, program: InstalledProgram, *, state_folder: Path) -> None:
        """Runs start in a folder below `state_folder`, which holds no code (RN-24)."""
        self._program = program
        self._state_folder = state_folder

    async def start(self, request: RunRequest) -> Run:
        """Start a run (RN-8)."""
        folder = self._state_folder / "opencode"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Each run has another one, and no project's file outdoes it; so there's no file of it.
        more = {**QUIET, "OPENCODE_CONFIG_CONTENT": json.dumps(configuration(request))}
        return await self._program.start(
            request,
            arguments=arguments(request, folder=folder),
            directory=str(folder),
            stdin=whole_prompt(request),
            more=more,
        )


def arguments(request: RunRequest, *, folder: Path) -> list[str]:
    """Return the command line but for the program; the prompt goes over stdin."""
    where = request.directory if can_code(request) else None
    line = ["run", "--format", "json", "--dir", where or str(folder)]
    if can_code(request):
        line.append("--auto")
    else:
        line += ["--agent", REPLY_AGENT]
    if request.model:
        line += ["--model", request.model]
    if request.conversation:
        line += ["--session", request.conversation]
    return line


def configuration(request: RunRequest) -> dict[str, object]:
    """Return what a run may do: it holds no secret."""
    found: dict[str, object] = {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
    }
    tools = {f"{SERVER}_{tool}": "deny" for tool in sorted(request.disabled_tools)}
    if can_code(request):
        found["permission"] = {"webfetch": "deny", "task": "deny", **tools}
    else:
        # An agent's own rules beat global ones, so that no project's file widens them (RN-27).
        rules = {"*": "deny", f"{SERVER}_*": "allow", **tools}
        found["permission"] = rules
        found["agent"] = {REPLY_AGENT: {"mode": "primary", "permission": rules}}
        found["default_agent"] = REPLY_AGENT
    if request.team_server:
        found["mcp"] = {
            SERVER: {
                "type": "local",
                "command": list(request.team_server),
                "enabled": True,
                "timeout": TOOL_MILLISECONDS,
            }
        }
    return found
