"""A scripted agent as a real process: it reads its orders on stdin and carries them out.

It edits real files, runs real commands, makes real commits, leaves real processes behind and
calls the team's tools over real MCP; only the thinking is written down beforehand. It prints
claude's stream. It's given no credentials: whoever starts it holds them.
"""

import asyncio
import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.playbook import (
    Commit,
    Edit,
    Flood,
    PolicyBlock,
    Raw,
    ScriptedRun,
    Shell,
    Step,
    Text,
    Tool,
    arguments_for,
    parse_run,
    write_run,
)
from ov_es_adapters.runtimes.scripted_stream import ScriptedStream, no_such_tool

SPEED = "OV_ES_SCRIPT_SPEED"
"""How many scripted seconds pass in one real one."""
PYTHON_ROOTS = "OV_ES_SCRIPT_PYTHON_ROOTS"
"""What was put before PYTHONPATH to find this module, and is none of its commands' business."""
BAD_ORDERS_STATUS = 2
TOOL_SECONDS_MAX = 20.0
COMMAND_SECONDS_MAX = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What one process is to do."""

    run: ScriptedRun
    session: str
    disabled_tools: frozenset[str] = frozenset()
    team_server: tuple[str, ...] = ()
    """What starts the team's MCP server on stdio; empty: there's none."""

    def to_bytes(self) -> bytes:
        """Return them as the process reads them."""
        written = {
            "run": write_run(self.run),
            "session": self.session,
            "disabled_tools": sorted(self.disabled_tools),
            "team_server": list(self.team_server),
        }
        return json.dumps(written).encode()

    @classmethod
    def from_bytes(cls, raw: bytes) -> "Orders":
        """Read them.

        Raises: BadInputError.
        """
        try:
            read: Any = json.loads(raw)
            return cls(
                run=parse_run(read["run"], "run"),
                session=str(read["session"]),
                disabled_tools=frozenset(map(str, read["disabled_tools"])),
                team_server=tuple(map(str, read["team_server"])),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise BadInputError("orders: must be what ScriptedRuntime writes") from error


class TeamTools:
    """The team's tools. Each call has a connection of its own, so that one failure stays one."""

    def __init__(self, server: tuple[str, ...], disabled: frozenset[str]) -> None:
        self._server = server
        self._disabled = disabled

    async def call(self, tool: str, arguments: Mapping[str, object]) -> tuple[str, bool]:
        """Return the answer's text, and whether the call failed."""
        if not self._server:
            return no_such_tool(tool, "this run was given no server of the team"), True
        if tool in self._disabled:
            return no_such_tool(tool, "it is disabled for this run"), True
        from mcp import MCPError  # noqa: PLC0415 - heavy, and most runs call nothing

        answer = "", True
        try:
            answer = await _call_once(self._server, tool, arguments)
        except* (MCPError, OSError, TimeoutError) as group:
            reasons = sorted({f"{type(error).__name__}: {error}" for error in _leaves(group)})
            answer = "; ".join(reasons), True
        return answer


async def _call_once(
    server: tuple[str, ...], tool: str, arguments: Mapping[str, object]
) -> tuple[str, bool]:
    from mcp import Client  # noqa: PLC0415 - see above
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415

    program, *given = server
    parameters = StdioServerParameters(command=program, args=given)
    async with (
        asyncio.timeout(TOOL_SECONDS_MAX),
        Client(stdio_client(parameters)) as client,
    ):
        result = await client.call_tool(tool, dict(arguments))
    texts = [block.text for block in result.content if block.type == "text"]
    return "\n".join(texts), bool(result.is_error)


def _leaves(group: BaseExceptionGroup[Exception]) -> Iterator[Exception]:
    """Yield the errors themselves, out of groups within groups."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


class Agent:
    """Carries out one run in the current directory."""

    def __init__(self, orders: Orders, stream: ScriptedStream, tools: TeamTools) -> None:
        self._run = orders.run
        self._stream = stream
        self._tools = tools
        self._environment = _command_environment(os.environ)

    async def act(self, *, has_team: bool, speed: float) -> None:
        """Do all steps, the time spread evenly before them."""
        run = self._run
        self._stream.begin(directory=str(Path.cwd()), has_team=has_team)
        pause = run.takes / max(len(run.does), 1) / speed
        if not run.does:
            await asyncio.sleep(pause)
        for step in run.does:
            await asyncio.sleep(pause)
            await self._do(step)
        for number in range(run.children):
            _leave_behind(own_session=number % 2 == 1)
        if run.hangs:
            await asyncio.Event().wait()
        self._stream.end(succeeded=run.exit == 0)

    async def _do(self, step: Step) -> None:
        match step:
            case Text(text=text):
                self._stream.text(text)
            case Tool(tool=tool, args=args, error=error):
                given = arguments_for(self._run.source, tool, args)
                answer, failed = (
                    ("scripted to fail", True) if error else await self._tools.call(tool, given)
                )
                self._stream.called_team(tool, given, answer, failed=failed)
            case Edit(path=path):
                self._edit(path)
            case Shell(command=command, exit=expected):
                status, output = self._execute(["/bin/sh", "-c", command])
                self._stream.ran(command, status if expected is None else expected, output)
            case Commit(message=message):
                self._commit(message)
            case PolicyBlock(root=root):
                self._stream.needs_push_authorization(root)
            case Raw(line=line):
                self._stream.raw(line)
            case Flood(megabytes=megabytes):
                self._stream.flood(megabytes)

    def _edit(self, path: str) -> None:
        target = Path.cwd() / path
        given = {"file_path": str(target), "old_string": "", "new_string": "changed\n"}
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("a", encoding="utf-8") as file:
                file.write("changed\n")
        except OSError as error:
            self._stream.called("Edit", given, f"Error: {error.strerror}", failed=True)
        else:
            self._stream.called("Edit", given, f"The file {target} has been updated.")

    def _commit(self, message: str) -> None:
        who = ("-c", "user.name=Scripted agent", "-c", "user.email=agent@localhost")
        status, output = self._execute(["git", "add", "--all"])
        if status == 0:
            commit = ["git", *who, "-c", "commit.gpgsign=false", "commit", "-q", "-m", message]
            status, output = self._execute(commit)
        self._stream.ran("git add --all && git commit", status, output)

    def _execute(self, argv: list[str]) -> tuple[int, str]:
        try:
            done = subprocess.run(  # noqa: S603 - the script's author decides what is run
                argv,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=COMMAND_SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 124, "it took too long"
        except OSError as error:
            return 127, str(error)
        return done.returncode, done.stdout.decode(errors="replace")


def main() -> int:
    """Carry out the orders that stand on stdin; return the exit status."""
    try:
        orders = Orders.from_bytes(sys.stdin.buffer.read())
        recording = _recording(orders.run)
    except BadInputError as error:
        print(error, file=sys.stderr)  # noqa: T201 - a program of its own, with a stderr
        return BAD_ORDERS_STATUS
    if orders.run.ignores_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        asyncio.run(_carry_out(orders, recording))
    except BrokenPipeError:
        # Nobody reads any more; the interpreter's own last flush would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return orders.run.exit


async def _carry_out(orders: Orders, recording: bytes | None) -> None:
    run = orders.run
    if recording is not None:
        await asyncio.sleep(run.takes / _speed())
        _write(recording)
        for number in range(run.children):
            _leave_behind(own_session=number % 2 == 1)
        if run.hangs:
            await asyncio.Event().wait()
        return
    tools = TeamTools(orders.team_server, orders.disabled_tools)
    agent = Agent(orders, ScriptedStream(_write, session=orders.session), tools)
    await agent.act(has_team=bool(orders.team_server), speed=_speed())


def _speed() -> float:
    try:
        speed = float(os.environ.get(SPEED, "1"))
    except ValueError:
        return 1.0
    return speed if speed > 0 else 1.0


def _recording(run: ScriptedRun) -> bytes | None:
    """Return the recorded stream that the run plays, if it plays one."""
    if run.plays is None:
        return None
    try:
        raw = Path(run.plays).read_bytes()
        return gzip.decompress(raw) if run.plays.endswith(".gz") else raw
    except (OSError, EOFError) as error:
        raise BadInputError(f"run.plays: {run.plays} can't be read: {error}") from error


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _leave_behind(*, own_session: bool) -> None:
    """Start a process that outlives us and holds our pipes, as a forgotten dev server does."""
    subprocess.Popen(["sleep", "86400"], start_new_session=own_session)  # noqa: S607


def _command_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for commands, with its own PYTHONPATH."""
    kept = {
        name: value for name, value in environment.items() if name not in {PYTHON_ROOTS, SPEED}
    }
    roots = environment.get(PYTHON_ROOTS, "")
    path = kept.pop("PYTHONPATH", "").removeprefix(roots).removeprefix(os.pathsep)
    return {**kept, "PYTHONPATH": path} if path else kept


if __name__ == "__main__":
    sys.exit(main())
