"""One run of an agent program: its stream into a parser, its limits, and what ended it.

Every runtime shares this; a runtime only says what to start and whose dialect it speaks.
Source: RN-6 to RN-9, PR-2 to PR-5; PRC-03, PRC-09.
"""

import asyncio
import contextlib
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

from ov_es_adapters.ports import ProcessIdentity, Run
from ov_es_adapters.runtimes.jsonl import LineSplitter
from ov_es_adapters.runtimes.process_group import Command, ProcessGroup
from ov_es_adapters.runtimes.run_limits import Limits, Watchdog
from ov_es_domain.observation import RunEnding, RunReport, StreamObservation

READ_BYTES = 256 * 1024


class StreamParser(Protocol):
    """Reads one run's stdout."""

    def feed(self, line: bytes) -> None:
        """Take one line."""
        ...

    def conclude(self, exit_status: int | None) -> StreamObservation:
        """Say what the stream proved, now that it's over."""
        ...


@runtime_checkable
class SaysWhenFinished(Protocol):
    """A parser that knows its dialect's final event."""

    @property
    def is_finished(self) -> bool:
        """Whether the final event has come, after which the program has nothing left to do."""
        ...


def unchanged(text: str) -> str:
    """Redact nothing: for programs that are given no secret."""
    return text


async def start_run(
    command: Command,
    *,
    marker: str,
    parser: StreamParser,
    limits: Limits,
    redact: Callable[[str], str] = unchanged,
) -> Run:
    """Start a program; where that fails, return a run whose report says so (RN-8)."""
    try:
        group = await ProcessGroup.start(command, marker=marker)
    except (OSError, ValueError) as error:
        return UnstartedRun(redact(_why_not_started(command, error)))
    return CliRun(group, parser=parser, limits=limits, redact=redact)


class CliRun:
    """A running agent program, watched until it and all that it started are gone."""

    def __init__(
        self,
        group: ProcessGroup,
        *,
        parser: StreamParser,
        limits: Limits,
        redact: Callable[[str], str] = unchanged,
    ) -> None:
        self._group = group
        self._parser = parser
        self._limits = limits
        self._redact = redact
        self._loop = asyncio.get_running_loop()
        self._splitter = LineSplitter(line_bytes_max=limits.line_bytes_max)
        self._last_line = b""
        self._finished_at: float | None = None
        self._is_overdue = False
        self._ending: RunEnding | None = None
        self._notes: list[str] = []
        self._news = asyncio.Event()
        self._report = asyncio.create_task(self._watch(), name=f"run {group.identity.marker}")

    @property
    def identity(self) -> ProcessIdentity:
        """The leader of its process group."""
        return self._group.identity

    async def wait(self) -> RunReport:
        """Return the report once the process and all its descendants are gone (RN-7)."""
        # Whoever waits may be cancelled; the watch over the process goes on.
        return await asyncio.shield(self._report)

    async def stop(self) -> None:
        """End it: the polite signal to the group, grace, then force; returns when it's gone."""
        if not self._group.is_over:
            self._decide(RunEnding.STOPPED)
        await asyncio.wait([self._report])

    def _decide(self, ending: RunEnding, note: str = "") -> None:
        """Keep what ended the run; whatever comes later changes nothing (RN-6)."""
        if self._ending is None:
            self._ending = ending
            if note:
                self._notes.append(note)
            self._news.set()

    async def _watch(self) -> RunReport:
        reading = asyncio.create_task(self._read())
        exiting = asyncio.create_task(self._note_exit())
        try:
            await self._until_it_may_end()
            await self._group.stop(grace_seconds=self._limits.grace)
        finally:
            left = await self._group.clear()
            await exiting
            await reading
        if left:
            self._notes.append(f"{left} of its processes could not be ended")
        return self._conclude()

    async def _note_exit(self) -> None:
        await self._group.closed()
        self._decide(RunEnding.EXITED)

    async def _read(self) -> None:
        while chunk := await self._group.stdout.read(READ_BYTES):
            self._take(self._splitter.feed(chunk))
        self._take(self._splitter.close())

    def _take(self, lines: list[bytes]) -> None:
        for line in lines:
            if line.strip():
                self._last_line = line
                self._parser.feed(line)
        if (
            self._finished_at is None
            and isinstance(self._parser, SaysWhenFinished)
            and self._parser.is_finished
        ):
            self._finished_at = self._loop.time()
            self._news.set()

    async def _until_it_may_end(self) -> None:
        """Return when the process has exited, somebody stops it, or a limit is reached."""
        group = self._group
        dog = Watchdog(self._limits, started_at=self._loop.time())
        while self._ending is None:
            look_at = dog.look_at(
                finished_at=self._finished_at, last_output_at=group.last_output_at
            )
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(look_at):
                    await self._news.wait()
                    self._news.clear()
                    continue
            verdict = dog.look(
                finished_at=self._finished_at,
                last_output_at=group.last_output_at,
                now=self._loop.time(),
                cpu_seconds=group.cpu_seconds,
            )
            if verdict is not None:
                is_stalled = verdict.ending is RunEnding.STALLED
                last = f"; {self._last_event()}" if is_stalled else ""
                self._is_overdue = verdict.ending is RunEnding.EXITED
                self._decide(verdict.ending, verdict.because + last)

    def _last_event(self) -> str:
        """Say what came last, by its type alone: the rest is the program's own words."""
        if not self._last_line:
            return "it never printed anything"
        try:
            event: Any = json.loads(self._last_line)
        except ValueError:
            return "the last line was no JSON"
        kind: object = (
            cast("dict[str, object]", event).get("type") if isinstance(event, dict) else None
        )
        if not isinstance(kind, str):
            return "the last line had no type"
        return f"the last event was {kind[:60]!r}"

    def _conclude(self) -> RunReport:
        status = self._group.exit_status
        # A program that had finished was ended by us: its status tells nothing of its work.
        stream = self._parser.conclude(None if self._is_overdue else status)
        if dropped := self._splitter.dropped_count:
            stream = dataclasses.replace(
                stream, unreadable_lines=stream.unreadable_lines + dropped
            )
            self._notes.append(
                f"{dropped} line(s) longer than {self._limits.line_bytes_max} bytes were skipped"
            )
        if self._group.stdin_was_refused:
            self._notes.append("it didn't read its prompt to the end")
        return RunReport(
            ending=self._ending or RunEnding.EXITED,
            exit_status=status,
            stream=stream,
            stderr_tail=self._redact(self._group.stderr_tail),
            error=self._redact("; ".join(self._notes)),
        )


class UnstartedRun:
    """A run that never was."""

    identity: ProcessIdentity | None = None

    def __init__(self, why: str) -> None:
        self._report = RunReport(ending=RunEnding.NOT_STARTED, error=why)

    async def wait(self) -> RunReport:
        """Return the report that it couldn't be started."""
        return self._report

    async def stop(self) -> None:
        """Do nothing: there is nothing to end (PR-5)."""


def _why_not_started(command: Command, error: Exception) -> str:
    """Say in one line what a person has to mend."""
    program = command.argv[0]
    if command.directory is not None and not Path(command.directory).is_dir():
        return f"{program} can't be started in {command.directory}: there is no such directory"
    if isinstance(error, OSError):
        return f"{program} can't be started: {error.strerror or error}"
    return f"{program} can't be started: an argument holds a character that none may hold"
