"""What a simulated agent program prints, read by the parsers that read the real ones.

The steps of a script are printed in claude's dialect, as the scripted runtime does it for real.
A raw line is in the dialect of the runtime that the scenario names; where that's another one,
its own parser reads it, and both observations count together.
"""

from collections.abc import Mapping
from dataclasses import replace

from ov_es_adapters.runtimes.jsonl import LINE_BYTES_MAX
from ov_es_adapters.runtimes.scripted_stream import ScriptedStream
from ov_es_adapters.runtimes.streams import StreamParser, parser_for
from ov_es_domain.observation import StreamObservation, StreamOutcome

_OWN_DIALECT = "claude"


class Printed:
    """The stream of one run."""

    def __init__(self, runtime: str, *, session: str, directory: str | None) -> None:
        """Print the beginning; `runtime` is the kind of program that it stands for."""
        self._parser = parser_for(_OWN_DIALECT)
        self._raw_parser: StreamParser | None = None
        if runtime not in {_OWN_DIALECT, "scripted"}:
            self._raw_parser = parser_for(runtime)
        self._has_raw = False
        self._dropped = 0
        self._stream = ScriptedStream(self._print, session=session)
        self._stream.begin(directory=directory or "/", has_team=True)

    def _print(self, lines: bytes) -> None:
        for line in lines.splitlines():
            self._parser.feed(line)

    def text(self, text: str) -> None:
        """Print words of the agent; the last ones become its answer."""
        self._stream.text(text)

    def called(self, tool: str, given: Mapping[str, object], failure: str) -> None:
        """Print a call of a team tool and its answer; `failure` is "" where there is none."""
        self._stream.called_team(tool, given, failure or "{}", failed=bool(failure))

    def edited(self, path: str, failure: str) -> None:
        """Print a change of a file."""
        given = {"file_path": path, "old_string": "", "new_string": "changed\n"}
        answer = failure or f"The file {path} has been updated."
        self._stream.called("Edit", given, answer, failed=bool(failure))

    def ran(self, command: str, status: int) -> None:
        """Print a shell command and its exit status."""
        self._stream.ran(command, status, "")

    def needs_authorization(self, root: str) -> None:
        """Print what the push helper says where no person has authorised the repository."""
        self._stream.needs_push_authorization(root)

    def raw(self, text: str) -> None:
        """Print a line as it is, or several."""
        for line in text.split("\n"):
            if self._raw_parser is None:
                self._stream.raw(line)
            elif line.strip():
                self._has_raw = True
                self._raw_parser.feed(line.encode())

    def flood(self, megabytes: float) -> None:
        """Print one line of that size, which proves nothing; beyond the cap it's dropped whole."""
        if megabytes * 1024 * 1024 > LINE_BYTES_MAX:
            self._dropped += 1

    def end(self, *, succeeded: bool) -> None:
        """Print the final event."""
        self._stream.end(succeeded=succeeded)

    def conclude(self, exit_status: int | None) -> StreamObservation:
        """Say what the stream proves, now that it's over."""
        seen = self._parser.conclude(exit_status)
        if self._raw_parser is not None and self._has_raw:
            seen = _together(seen, self._raw_parser.conclude(exit_status))
        return replace(seen, unreadable_lines=seen.unreadable_lines + self._dropped)


def _together(scripted: StreamObservation, raw: StreamObservation) -> StreamObservation:
    """Return what both parts of a stream prove; in doubt the raw one knows how the run ended."""
    is_told = raw.outcome not in {StreamOutcome.UNKNOWN, StreamOutcome.CUT_OFF}
    return replace(
        raw,
        outcome=raw.outcome if is_told else scripted.outcome,
        text=raw.text or scripted.text,
        calls=(*scripted.calls, *raw.calls),
        commands=(*scripted.commands, *raw.commands),
        edits=_sum(scripted.edits, raw.edits),
        posts=_sum(scripted.posts, raw.posts),
        ticket_read=_either(scripted.ticket_read, raw.ticket_read),
        ticket_updated=_either(scripted.ticket_updated, raw.ticket_updated),
        unreadable_lines=scripted.unreadable_lines + raw.unreadable_lines,
        unknown_events=scripted.unknown_events + raw.unknown_events,
        policy_block=(scripted.policy_block if raw.policy_block is None else raw.policy_block),
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _either(first: bool | None, second: bool | None) -> bool | None:  # noqa: FBT001 - values
    if first or second:
        return True
    return None if first is None or second is None else False
