"""From a frame in hand to a process that exists, against asyncio's bare spawn.

The watcher is the real one, with its intake, ledger, dispatcher and a real log on the disk; its
team answers in this process, and its runtime is the scripted one. Between the two clock readings
lie the frame's reading and admission, the commit of its outcome and turn, the commit of the
intent to spawn, the prompt, and the spawn itself.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import sqlite3
import statistics
import sys
import tempfile
import time  # noqa: TID251 - a bench measures
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

import mentions  # noqa: F401 - finds our packages
from rounds import print_results, run_rounds

from ov_es_adapters.bootstrap import RandomIds, SystemClock
from ov_es_adapters.daemon.settings import AgentIdentity, WatchSettings
from ov_es_adapters.daemon.watcher import Watcher
from ov_es_adapters.daemon.world import Host, World
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.git.worktrees import GitWorktrees
from ov_es_adapters.ports import ConnectionEvent, FrameReceived, Run, RunRequest
from ov_es_adapters.redaction import Redactor
from ov_es_adapters.runtimes.playbook import Playbook
from ov_es_adapters.runtimes.process_identity import LocalProcesses
from ov_es_adapters.runtimes.scripted import ScriptedRuntime
from ov_es_adapters.team.frames import frame_text, mention_frame
from ov_es_adapters.team.tools import TOOLS
from ov_es_adapters.team.world import TeamWorld

ADA = AgentIdentity(id=7, identifier="ada", name="Ada")
CHANNEL, MAYA = 10, 1
COMMITS = 2
"""The signal's outcome with its turn, and the intent to spawn."""
SAID = "@Ada could you look at why the nightly build has been red since the lockfile moved?"


class Frames:
    """A socket that gives what it's handed."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[str] = asyncio.Queue()

    async def events(self) -> AsyncGenerator[ConnectionEvent, None]:
        """Yield the frames."""
        while True:
            yield FrameReceived(await self.waiting.get(), 1)


class Tools:
    """The team's tools, without a wire."""

    def __init__(self, team: TeamWorld) -> None:
        self._team = team

    async def call(self, tool: str, arguments: Mapping[str, object]) -> object:
        """Call a tool."""
        return self._team.call(tool, arguments, agent=None, now=time.monotonic(), by="bench")

    async def advertised(self, *, refresh: bool = False) -> frozenset[str]:
        """Return the names of the tools."""
        del refresh
        return frozenset(TOOLS)


class TimedRuntime:
    """The scripted runtime, which says when a process exists, and when it's gone."""

    name = "scripted"

    def __init__(self, inner: ScriptedRuntime) -> None:
        self._inner = inner
        self.spawned: asyncio.Queue[float] = asyncio.Queue()

    async def start(self, request: RunRequest) -> Run:
        """Start a run."""
        run = await self._inner.start(request)
        self.spawned.put_nowait(time.perf_counter())
        return run


class Bench:
    """A watcher that lives as long as the bench."""

    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.Runner()
        self._folder = folder
        self._loop.run(self._begin())
        self._raw = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self._raw.execute("PRAGMA journal_mode=WAL")
        self._raw.execute("PRAGMA synchronous=FULL")
        self._raw.execute("CREATE TABLE rows (said TEXT)")

    async def _begin(self) -> None:
        self._team = TeamWorld(
            {
                "people": [{"id": MAYA, "name": "Maya"}],
                "channels": [{"id": CHANNEL, "name": "general"}],
            },
            ADA,
            starts_at=time.time() - time.monotonic(),
        )
        self._frames = Frames()
        inner = ScriptedRuntime(Playbook(), state_folder=self._folder)
        self._runtime = TimedRuntime(inner)
        self.log: EventLog = open_log(f"sqlite:///{self._folder}/ada.db")
        world = World(
            log=self.log,
            clock=SystemClock(),
            ids=RandomIds(),
            frames=self._frames,
            tools=Tools(self._team),
            runtime=self._runtime,
            processes=LocalProcesses(),
            worktrees=GitWorktrees(None),
            host=Host(name="bench", pid=os.getpid()),
            redactor=Redactor([]),
        )
        self._watcher = Watcher(world, WatchSettings(agent=ADA))
        self._watching = asyncio.create_task(self._watcher.run())

    def ours(self) -> float:
        """Hand the watcher a mention, and wait until its run exists, and then until it ends."""
        return self._loop.run(self._serve())

    async def _serve(self) -> float:
        said = self._team.say(SAID, person=MAYA, channel_id=CHANNEL, now=time.monotonic())
        text = frame_text(mention_frame(self._team, said))
        start = time.perf_counter()
        self._frames.waiting.put_nowait(text)
        spawned = asyncio.ensure_future(self._runtime.spawned.get())
        await asyncio.wait([spawned, self._watching], return_when=asyncio.FIRST_COMPLETED)
        if not spawned.done():
            self._watching.result()
            raise AssertionError("the watcher ended")
        while self.log.select("open_turns"):  # noqa: ASYNC110 - the log tells, and nobody else
            await asyncio.sleep(0.02)
        return spawned.result() - start

    def bare(self) -> float:
        """Spawn a Python that does nothing, with the same pipes."""
        return self._loop.run(self._spawn())

    def with_commits(self) -> float:
        """Do by hand what can't be spared: two durable commits, and the spawn."""
        start = time.perf_counter()
        for _ in range(COMMITS):
            self._raw.execute("INSERT INTO rows VALUES (?)", (SAID,))
        return time.perf_counter() - start + self.bare()

    async def _spawn(self) -> float:
        start = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "pass",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._folder,
            start_new_session=True,
        )
        taken = time.perf_counter() - start
        await process.communicate()
        return taken

    def close(self) -> None:
        """Stop the watcher in good order."""
        self._watcher.stop()
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run(self._end())
        self._loop.close()
        self.log.close()
        self._raw.close()

    async def _end(self) -> None:
        await self._watching


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--folder", type=Path, help="where the logs are made; on a real disk")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        bench = Bench(Path(folder))
        results = run_rounds(
            {
                "ov-es, frame to process": bench.ours,
                "by hand, two commits and a spawn": bench.with_commits,
                "asyncio, bare spawn": bench.bare,
            },
            base="asyncio, bare spawn",
            rounds=options.rounds,
        )
        bench.close()
    ours, by_hand, bare = (result.micros for result in results)
    facts = {
        "ms over a bare spawn": _difference(ours, bare),
        "ms over the same commits by hand": _difference(ours, by_hand),
    }
    print_results("From a frame to a process", results, as_json=options.json, facts=facts)


def _difference(more: Sequence[float], less: Sequence[float]) -> str:
    over = [(one - other) / 1000 for one, other in zip(more, less, strict=True)]
    return f"{statistics.median(over):.2f} ({min(over):.2f} to {max(over):.2f})"


if __name__ == "__main__":
    sys.exit(main())
