"""A child process in a session of its own: its wires, its end, and the end of all it started.

The child is over when it has exited, even while something that it left behind holds its pipes
(PRC-02). What it left behind is then ended as well, wherever it went (PRC-01).
Source: PR-1 to PR-5; `agent-clis.md` sections 0 and 6.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from signal import Signals
from typing import cast

from ov_es_adapters.ports import ProcessIdentity
from ov_es_adapters.runtimes.jsonl import Tail
from ov_es_adapters.runtimes.process_identity import belonging, end_all, identify
from ov_es_adapters.runtimes.process_stop import GRACE_SECONDS, stop
from ov_es_adapters.runtimes.process_table import MARKER, ProcessEntry, adopt_orphans, entries

DRAIN_SECONDS = 0.5
"""How long the pipes may stay open after the exit before their holders are ended."""

_leaders: set[int] = set()
"""The children that asyncio waits for: nobody else may take their exit status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to start. Secrets belong into `environment` or `stdin`, never into `argv`."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    """The whole environment but for the marker."""
    directory: str | None = None
    stdin: bytes | None = None
    """What it reads, to its end; None: nothing at all (PRC-05)."""


class ProcessGroup:
    """A running child, the leader of its own session and group."""

    has_group = os.name == "posix"

    def __init__(self, wires: "_Wires", identity: ProcessIdentity) -> None:
        """Use `start`."""
        self._wires = wires
        self._noted: list[ProcessEntry] = []
        self.identity = identity

    @classmethod
    async def start(cls, command: Command, *, marker: str) -> "ProcessGroup":
        """Start `command` with the marker in its environment.

        Raises: OSError when the program or the directory can't be used; ValueError when an
            argument holds a NUL.
        """
        adopt_orphans()
        loop = asyncio.get_running_loop()
        _, wires = await loop.subprocess_exec(
            _Wires,
            *command.argv,
            stdin=asyncio.subprocess.DEVNULL if command.stdin is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=command.directory,
            env={**command.environment, MARKER: marker},
            start_new_session=cls.has_group,
        )
        if command.stdin is not None:
            wires.write_all(command.stdin)
        return cls(wires, identify(wires.pid, marker))

    @property
    def stdout(self) -> asyncio.StreamReader:
        """What it prints; at its end once the child and its heirs are gone. Use `read(n)`."""
        return self._wires.stdout

    @property
    def stderr_tail(self) -> str:
        """The last part of what it complained about."""
        return self._wires.stderr.text()

    @property
    def exit_status(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        return self._wires.exit_status

    @property
    def last_output_at(self) -> float:
        """When it last wrote anything to either pipe, on the event loop's clock."""
        return self._wires.last_output_at

    @property
    def stdin_was_refused(self) -> bool:
        """Whether it closed its standard input before everything was written."""
        return self._wires.stdin_was_refused

    @property
    def is_over(self) -> bool:
        """Whether the child has exited."""
        return self._wires.exited.is_set()

    async def closed(self) -> None:
        """Return when the child has exited."""
        await self._wires.exited.wait()

    def signal_group(self, signal: Signals) -> bool:
        """Signal the whole group; False when there is none or we may not."""
        try:
            os.killpg(self.identity.pid, signal)
        except OSError:
            return False
        return True

    def signal_child(self, signal: Signals) -> bool:
        """Signal the child alone; False when it's gone."""
        if self.is_over:
            return False
        self._wires.transport.send_signal(signal)
        return True

    def cpu_seconds(self) -> float:
        """Return what the run's living processes have computed so far."""
        return sum(process.cpu_seconds for process in belonging(self.identity))

    async def stop(self, *, grace_seconds: float = GRACE_SECONDS) -> None:
        """Stop the child as the protocol says; who belongs to it is noted before."""
        # Once the child is dead nobody can tell whose children its children were.
        self._noted = belonging(self.identity)
        await stop(self, grace_seconds=grace_seconds)

    async def clear(self) -> int:
        """End all that is left of it, by force, and let go of its pipes.

        Ends the child itself too where it still runs, without grace.

        Returns: how many processes can't be ended; another user's, or stuck in the kernel.
        """
        try:
            if not self.is_over:
                self._noted = belonging(self.identity)
                if not self.signal_group(Signals.SIGKILL):
                    self.signal_child(Signals.SIGKILL)
                await self.closed()
            await self._wires.drained(DRAIN_SECONDS)
            ended = await end_all(lambda: belonging(self.identity), noted=self._noted)
            await self._wires.drained(DRAIN_SECONDS)
        finally:
            self._wires.let_go()
            self._wires.stdout.feed_eof()
            _leaders.discard(self.identity.pid)
        await self._wires.lost.wait()
        _reap_orphans()
        return ended.left


class _Wires(asyncio.SubprocessProtocol):
    """The three pipes and the exit of one child."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._open_pipes = {0, 1, 2}
        self._ended = asyncio.Event()
        self.stdout = asyncio.StreamReader()
        self.stderr = Tail()
        self.exited = asyncio.Event()
        self.lost = asyncio.Event()
        self.exit_status: int | None = None
        self.last_output_at = self._loop.time()
        self.stdin_was_refused = False
        self.transport: asyncio.SubprocessTransport

    @property
    def pid(self) -> int:
        """The child's pid."""
        return self.transport.get_pid()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport, and mark the child as ours to wait for."""
        self.transport = cast("asyncio.SubprocessTransport", transport)
        _leaders.add(self.pid)

    def write_all(self, data: bytes) -> None:
        """Write to the child's standard input, and close it when all of it is written."""
        pipe = cast("asyncio.WriteTransport", self.transport.get_pipe_transport(0))
        pipe.write(data)
        pipe.close()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take what came, always: a full pipe would stop the child (PRC-06)."""
        self.last_output_at = self._loop.time()
        if fd == 1:
            self.stdout.feed_data(data)
        else:
            self.stderr.feed(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Note the end of a pipe."""
        self._open_pipes.discard(fd)
        if fd == 0:
            self.stdin_was_refused = exc is not None
        if self._open_pipes <= {0}:
            self._ended.set()

    def process_exited(self) -> None:
        """Note the exit, which comes independently of the pipes' ends."""
        self.exit_status = self.transport.get_returncode()
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Note that nothing more can come."""
        self.lost.set()

    def let_go(self) -> None:
        """Close what is still open, whoever may hold the other ends."""
        pipe = self.transport.get_pipe_transport(0)
        if pipe is not None and 0 in self._open_pipes:
            # Closing it would wait for a reader of what is still unwritten.
            cast("asyncio.WriteTransport", pipe).abort()
        self.transport.close()

    async def drained(self, seconds: float) -> None:
        """Return when both output pipes are at their end, or after `seconds`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()


def _reap_orphans() -> None:
    """Collect the exit of adopted descendants, so that no zombie stays behind.

    They're told from children that somebody else here waits for by their session: a run's
    processes live in other sessions than ours.
    """
    if sys.platform != "linux":
        return
    ours = os.getsid(0)
    for process in list(entries()):
        if (
            process.is_zombie
            and process.parent == os.getpid()
            and process.session != ours
            and process.pid not in _leaders
        ):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
