"""What the day is played on: a team server on loopback, and the watcher as a child process."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import cast

import orjson

from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.demo.workspace import make_workspace
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.settings import Connection, save_connection
from ov_es_adapters.team.frames import frame_text, mention_frame
from ov_es_adapters.team.live_team import LiveTeam, local_world
from ov_es_adapters.team.local_server import LocalTeamServer
from ov_es_domain.recorded import Recorded

AGENT = "ada"
CHANNEL = 10
_POLL_SECONDS = 0.05
_PATIENCE_SECONDS = 60.0


class StageError(Exception):
    """The day doesn't go on: what was waited for didn't happen."""


def demo_team() -> dict[str, object]:
    """Return the team of the day, as a scenario file has it."""
    content = files("ov_es_adapters.demo").joinpath("team.json").read_bytes()
    return cast("dict[str, object]", orjson.loads(content))


class Stage:
    """The team, the watcher, and the log that it writes."""

    def __init__(
        self,
        home: Path,
        server: LocalTeamServer,
        show: Callable[[Recorded], None],
        playbook: Path | None = None,
    ) -> None:
        """`show` is told each event as it appears in the log; `playbook` may be another one."""
        self.home = home
        self._playbook = playbook
        self._server = server
        self._show = show
        self._watcher: Process | None = None
        self._log: EventLog | None = None
        self.events: list[Recorded] = []

    @property
    def team(self) -> LiveTeam:
        """The team, to play people in."""
        return self._server.team

    @property
    def url(self) -> str:
        """The log's address."""
        return f"sqlite:///{self.home / f'{AGENT}.db'}"

    # --- people ----------------------------------------------------------------------------------

    def say(
        self, message_id: int, person: int, text: str, *, parent_id: int | None = None
    ) -> None:
        """Let a person post a message, and wake the agent with it, as a backend would."""
        message = {
            "id": message_id,
            "channel_id": CHANNEL,
            "parent_id": parent_id,
            "person": person,
            "content": text,
        }
        self.team.merge({"messages": [message]})
        self.team.push(frame_text(mention_frame(self.team.world, message_id)), AGENT)

    # --- the watcher -----------------------------------------------------------------------------

    async def start_watcher(self, *options: str) -> Process:
        """Start `ov-es watch` as a process of its own."""
        with as_file(files("ov_es_adapters.demo")) as folder:
            self._watcher = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "ov_es_adapters.cli.main",
                "--home",
                str(self.home),
                "-q",
                "watch",
                "--name",
                AGENT,
                "--workdir",
                str(self.home / "workspace"),
                "--runtime",
                "scripted",
                "--playbook",
                str(self._playbook or folder / "playbook.json"),
                "--recordings",
                str(folder / "recordings"),
                *options,
                stdin=DEVNULL,
                stdout=DEVNULL,
                stderr=DEVNULL,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )
        return self._watcher

    async def kill_watcher(self) -> None:
        """End it as a power cut would: no signal handler runs, nothing is tidied up."""
        watcher = self._running()
        watcher.kill()
        await watcher.wait()

    async def stop_watcher(self) -> int:
        """Ask it to stop in good order; return its exit status."""
        watcher = self._running()
        watcher.send_signal(signal.SIGTERM)
        async with asyncio.timeout(_PATIENCE_SECONDS):
            return await watcher.wait()

    def _running(self) -> Process:
        if self._watcher is None:
            raise StageError("the watcher wasn't started")
        return self._watcher

    # --- the log ---------------------------------------------------------------------------------

    async def until(self, what: str, happened: Callable[[Sequence[Recorded]], bool]) -> None:
        """Show events as they come, until the log says that something has happened.

        Raises: StageError when the watcher is gone, or it takes too long.
        """
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                while True:
                    self.read()
                    if happened(self.events):
                        return
                    if self._watcher is not None and self._watcher.returncode not in {None, -9}:
                        raise StageError(
                            f"the watcher ended with {self._watcher.returncode} while waiting"
                            f" for {what}"
                        )
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError as error:
            raise StageError(f"it took more than {_PATIENCE_SECONDS:.0f} s: {what}") from error

    def read(self) -> None:
        """Show what is new in the log."""
        if self._log is None:
            if not (self.home / f"{AGENT}.db").exists():
                return
            self._log = open_log(self.url)
        after = self.events[-1].position if self.events else 0
        for event in self._log.stream(after=after):
            self.events.append(event)
            self._show(event)

    async def close(self) -> None:
        """Leave nothing behind."""
        if self._watcher is not None and self._watcher.returncode is None:
            self._watcher.kill()
            await self._watcher.wait()
        if self._log is not None:
            self._log.close()


@contextlib.asynccontextmanager
async def set_stage(
    home: Path,
    show: Callable[[Recorded], None],
    *,
    team: Mapping[str, object] | None = None,
    playbook: Path | None = None,
) -> AsyncGenerator[Stage, None]:
    """Make the workspace, start the team server, connect the agent."""
    await asyncio.to_thread(make_workspace, home / "workspace")
    agent = AgentIdentity(identifier=AGENT, name="Ada", id=7)
    world = local_world(demo_team() if team is None else team, agent)
    async with LocalTeamServer(world) as server:
        connection = Connection(
            agent=AGENT,
            name="Ada",
            ws=server.ws_url,
            mcp=server.mcp_url,
            api_key=server.api_key,
            runtime="scripted",
        )
        save_connection(home, connection)
        stage = Stage(home, server, show, playbook)
        try:
            yield stage
        finally:
            await stage.close()
