"""What a simulated agent program has printed, as its runtime's parser would understand it."""

import json
from dataclasses import dataclass, field

from ov_es_adapters.runtimes.jsonl import LINE_BYTES_MAX
from ov_es_domain.observation import (
    ShellCommand,
    StreamObservation,
    StreamOutcome,
    ToolCall,
)

_READS = frozenset({"get_ticket", "list_tasks"})
_POST = "post_message"
_UPDATE = "update_ticket"


@dataclass(slots=True, kw_only=True)
class Printed:
    """The stream so far."""

    text: str = ""
    """The last words, which become the answer."""
    edits: int = 0
    is_finished: bool = False
    """Whether the final event has come."""
    policy_block: str | None = None
    _calls: list[ToolCall] = field(default_factory=list[ToolCall])
    _commands: list[ShellCommand] = field(default_factory=list[ShellCommand])
    _unreadable: int = 0
    _unknown: int = 0

    def called(self, tool: str, failure: str) -> None:
        """Print a call of a team tool and its answer."""
        self._calls.append(ToolCall(tool=tool, ok=not failure, reason=failure))

    def ran(self, status: int) -> None:
        """Print a shell command and its exit status."""
        self._commands.append(ShellCommand(exit=status))

    def needs_authorization(self, root: str) -> None:
        """Print what the push helper says where no person has authorised the repository."""
        self.policy_block = root
        self.ran(3)

    def raw(self, line: str) -> None:
        """Print a line as it is; only a JSON object can be an event at all."""
        for part in line.split("\n"):
            try:
                event: object = json.loads(part)
            except ValueError:
                event = None
            if isinstance(event, dict):
                self._unknown += 1
            elif part.strip():
                self._unreadable += 1

    def flood(self, megabytes: float) -> None:
        """Print one line of that size; beyond the cap it's dropped whole."""
        if megabytes * 1024 * 1024 > LINE_BYTES_MAX:
            self._unreadable += 1

    def conclude(self, exit_status: int | None) -> StreamObservation:
        """Say what the stream proves, now that it's over."""
        outcome = StreamOutcome.CUT_OFF
        if self.is_finished:
            outcome = StreamOutcome.OK if exit_status == 0 else StreamOutcome.ERROR
        return StreamObservation(
            outcome=outcome,
            text=self.text,
            calls=tuple(self._calls),
            commands=tuple(self._commands),
            edits=self.edits,
            posts=sum(call.tool == _POST and call.ok is True for call in self._calls),
            ticket_read=any(call.tool in _READS and call.ok for call in self._calls),
            ticket_updated=any(call.tool == _UPDATE and call.ok for call in self._calls),
            unreadable_lines=self._unreadable,
            unknown_events=self._unknown,
            policy_block=self.policy_block,
        )
