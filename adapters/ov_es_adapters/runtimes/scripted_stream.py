"""The lines that a scripted agent prints: claude's stream, so that its parser reads them."""

import json
from collections.abc import Callable, Mapping

from ov_es_adapters.runtimes.strict_fields import is_object
from ov_es_adapters.runtimes.team_server import SERVER

Printer = Callable[[bytes], None]
PUSH_AUTH_REQUIRED = "OPENVISIO_PR_PUSH_AUTH_REQUIRED"


class ScriptedStream:
    """Writes one event a line; ids are counted, so that the same run prints the same bytes."""

    def __init__(self, write: Printer, *, session: str) -> None:
        self._write = write
        self._session = session
        self._count = 0
        self._last_text = ""
        self._has_result = False

    def begin(self, *, directory: str, has_team: bool) -> None:
        """Print the event that every run starts with."""
        servers = [{"name": SERVER, "status": "connected"}] if has_team else []
        self._print(
            type="system",
            subtype="init",
            cwd=directory,
            tools=["Bash", "Edit"],
            mcp_servers=servers,
            model="scripted",
            permissionMode="default",
        )

    def text(self, text: str) -> None:
        """Print words of the agent; the last ones become its answer."""
        self._last_text = text
        self._assistant({"type": "text", "text": text})

    def called(
        self, tool: str, given: Mapping[str, object], answer: str, *, failed: bool = False
    ) -> None:
        """Print a call and its answer."""
        call = f"toolu_{self._count}"
        self._assistant({"type": "tool_use", "id": call, "name": tool, "input": dict(given)})
        result: dict[str, object] = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": answer,
            "is_error": failed,
        }
        message = {"role": "user", "content": [result]}
        self._print(type="user", message=message, parent_tool_use_id=None)

    def called_team(
        self, tool: str, given: Mapping[str, object], answer: str, *, failed: bool
    ) -> None:
        """Print a call of a team tool and its answer."""
        self.called(f"mcp__{SERVER}__{tool}", given, answer, failed=failed)

    def ran(self, command: str, status: int, output: str) -> None:
        """Print a shell command; claude tells an exit status only in words, and only a bad one."""
        answer = f"Exit code {status}\n{output}" if status else output
        self.called("Bash", {"command": command}, answer, failed=status != 0)

    def needs_push_authorization(self, root: str) -> None:
        """Print what the push helper says where no person has authorised the repository."""
        said = f"{PUSH_AUTH_REQUIRED} {json.dumps({'root': root})}"
        self.ran("ov-es push-pr-branch", 3, said)

    def raw(self, line: str) -> None:
        """Print a line as it is; one that is a result stands in place of our own."""
        try:
            event: object = json.loads(line)
        except ValueError:
            event = None
        if is_object(event) and event.get("type") == "result":
            self._has_result = True
        self._write(line.encode() + b"\n")

    def flood(self, megabytes: float) -> None:
        """Print one line of that size, which proves nothing."""
        content = "x" * round(megabytes * 1024 * 1024)
        self._print(type="system", subtype="informational", content=content)

    def end(self, *, succeeded: bool) -> None:
        """Print the final event, unless a raw line was one."""
        if self._has_result:
            return
        outcome: dict[str, object] = (
            {"subtype": "success", "result": self._last_text, "terminal_reason": "completed"}
            if succeeded
            else {"subtype": "error_during_execution", "errors": ["scripted to fail"]}
        )
        self._print(
            type="result",
            is_error=not succeeded,
            num_turns=1,
            usage={"input_tokens": 0, "output_tokens": 0},
            permission_denials=[],
            **outcome,
        )

    def _assistant(self, block: Mapping[str, object]) -> None:
        message = {"id": f"msg_{self._count}", "role": "assistant", "content": [dict(block)]}
        self._print(type="assistant", message=message, parent_tool_use_id=None)

    def _print(self, **event: object) -> None:
        self._count += 1
        event |= {"session_id": self._session, "uuid": f"{self._session}-{self._count}"}
        self._write(json.dumps(event, ensure_ascii=False).encode() + b"\n")


def no_such_tool(tool: str, why: str) -> str:
    """Return claude's words for a call that never left it, so that nothing is left unknown."""
    name = f"mcp__{SERVER}__{tool}"
    return f"<tool_use_error>Error: No such tool available: {name} ({why})</tool_use_error>"
