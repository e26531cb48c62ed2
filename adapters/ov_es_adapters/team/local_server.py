"""The local team server: a team's WebSocket and MCP on loopback, with real sockets."""

import asyncio
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.team.access import IDENTIFIER_HEADER, KEY_HEADER, Access
from ov_es_adapters.team.control_door import control_routes
from ov_es_adapters.team.faulty_wire import FaultyWire, OnCrash
from ov_es_adapters.team.live_team import LiveTeam
from ov_es_adapters.team.mcp_door import make_mcp_server
from ov_es_adapters.team.socket_door import SocketDoor
from ov_es_adapters.team.state_file import Kept, StateFile
from ov_es_adapters.team.transports import QuietServer, quiet_config
from ov_es_adapters.team.world import TeamWorld

_HOST = "127.0.0.1"
_PORT_MAX = 65_535
_GOING_AWAY = 1001


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """How a local team server behaves."""

    port: int = 0
    """0: any that is free."""
    state: Path | None = None
    """The file that the team survives in; None: in memory only."""
    has_sessions: bool = True
    """Whether MCP has sessions, as the protocol's older versions know them."""
    answers_as_json: bool = True
    """Whether MCP answers with JSON bodies; else with event streams."""
    page_size: int | None = None
    """How many tools a page of `tools/list` holds; None: all."""
    refuses_after_accepting: bool = False
    """Whether wrong credentials get an open socket and the code 4401, instead of status 403."""
    on_crash: OnCrash = lambda: None
    """Called where a fault says that the caller's process dies."""


class LocalTeamServer:
    """A running server; an asynchronous context manager."""

    def __init__(self, world: TeamWorld, options: ServerOptions | None = None) -> None:
        """Nothing is opened before it's entered.

        Args:
            world: The team at its very first start, as `local_world` makes it; what the state
                file holds, if there is one, goes before it.
            options: How it behaves.
        """
        self._options = ServerOptions() if options is None else options
        if not 0 <= self._options.port <= _PORT_MAX:
            raise BadInputError(f"--port {self._options.port}: must be from 0 to {_PORT_MAX}")
        if self._options.page_size is not None and self._options.page_size < 1:
            raise BadInputError("a page of tools holds at least one")
        self._world = world
        self._access = Access.made_for(agent.identifier for agent in world.agents)
        self._team = LiveTeam(world)
        self._stopping = asyncio.Event()
        self._is_ready: asyncio.Future[None] | None = None
        self._life: asyncio.Task[None] | None = None
        self._port = 0
        self._state = None if self._options.state is None else StateFile(self._options.state)

    async def __aenter__(self) -> Self:
        """Serve.

        Raises: BadInputError where the port or the state file can't be used; StoreLockedError
        where another server has the file.
        """
        self._load()
        listening = self._listen()
        self._is_ready = asyncio.get_running_loop().create_future()
        # The SDK's task groups have to be left by the task that entered them.
        self._life = asyncio.create_task(
            self._serve(listening, self._is_ready), name="team server"
        )
        await asyncio.wait({self._life, self._is_ready}, return_when=asyncio.FIRST_COMPLETED)
        if self._life.done():
            self._life.result()
            raise AssertionError("a server lives until it's stopped")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every socket, and stop."""
        del kind, error, trace
        self._stopping.set()
        if self._life is not None:
            await asyncio.wait({self._life})
            self._life.result()

    # --- what callers need ---------------------------------------------------------------------

    @property
    def team(self) -> LiveTeam:
        """Return the team: the same orders as at the control door, for those in this process."""
        return self._team

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        return self._port

    @property
    def ws_url(self) -> str:
        """Return the address of the WebSocket, without credentials."""
        return f"ws://{_HOST}:{self._port}/ws"

    @property
    def mcp_url(self) -> str:
        """Return the address of the tools."""
        return f"http://{_HOST}:{self._port}/mcp"

    @property
    def control_url(self) -> str:
        """Return the address of the control door; its orders are below it."""
        return f"http://{_HOST}:{self._port}/control"

    @property
    def identifier(self) -> str:
        """Return the identifier of the agent that the world was made for."""
        return _own_identifier(self._team.world)

    @property
    def api_key(self) -> str:
        """Return that agent's key."""
        return self._access.keys[self.identifier]

    @property
    def api_keys(self) -> Mapping[str, str]:
        """Return the keys of all agents, by their identifiers."""
        return self._access.keys

    @property
    def control_token(self) -> str:
        """Return what the control door wants to see."""
        return self._access.control_token

    # --- inside --------------------------------------------------------------------------------

    def _load(self) -> None:
        """Take up the team where the state file left it, or keep it there for the first time."""
        state = self._state
        if state is None:
            return
        state.open()
        try:
            kept = state.read()
            world = self._world
            if kept is not None:
                self._access = kept.access
                world = self._restored(kept, state.path)
            self._access = self._access.extended(agent.identifier for agent in world.agents)
            own = _own_identifier(world)

            def keep(snapshot: Mapping[str, object]) -> None:
                state.write(Kept(agent=own, access=self._access, world=snapshot))

            self._team = LiveTeam(world, keep=keep)
            keep(world.snapshot())
        except OSError as error:
            state.close()
            raise BadInputError(f"{state.path} can't be written: {error.strerror}") from error
        except BaseException:
            state.close()
            raise

    def _restored(self, kept: Kept, path: Path) -> TeamWorld:
        try:
            return LiveTeam.restored(kept.world, self._world)
        except BadInputError as error:
            raise BadInputError(f"{path} isn't a team's state: {error}") from error

    def _listen(self) -> socket.socket:
        try:
            listening = socket.create_server((_HOST, self._options.port))
        except OSError as error:
            if self._state is not None:
                self._state.close()
            raise BadInputError(
                f"--port {self._options.port} can't be used: {error.strerror}"
            ) from error
        listening.setblocking(False)  # noqa: FBT003 - the standard library's signature
        self._port = int(listening.getsockname()[1])
        return listening

    async def _serve(self, listening: socket.socket, is_ready: "asyncio.Future[None]") -> None:
        async with AsyncExitStack() as stack:
            if self._state is not None:
                stack.callback(self._state.close)
            stack.enter_context(listening)
            mcp = StreamableHTTPSessionManager(
                make_mcp_server(self._team, page_size=self._options.page_size),
                json_response=self._options.answers_as_json,
                stateless=not self._options.has_sessions,
                security_settings=TransportSecuritySettings(allowed_hosts=[f"{_HOST}:*"]),
            )
            await stack.enter_async_context(mcp.run())
            server = QuietServer(quiet_config(self._application(mcp)))
            serving = asyncio.create_task(server.serve([listening]), name="uvicorn")
            is_ready.set_result(None)
            try:
                stopping = asyncio.ensure_future(self._stopping.wait())
                await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
                stopping.cancel()
            finally:
                self._stopping.set()
                await self._end(server, serving)

    async def _end(self, server: QuietServer, serving: "asyncio.Task[None]") -> None:
        """Say goodbye on the sockets, cut what is left, and wait for the end."""
        self._team.connections.drop(None, _GOING_AWAY)
        server.should_exit = True
        while not serving.done():
            await asyncio.wait({serving}, timeout=0.1)
            server.cut_all()
        serving.result()

    def _application(self, mcp: StreamableHTTPSessionManager) -> Starlette:
        door = SocketDoor(
            self._team,
            self._access,
            refuses_after_accepting=self._options.refuses_after_accepting,
        )
        tools = _Guarded(
            FaultyWire(
                mcp.handle_request,
                self._team,
                on_crash=self._options.on_crash,
                stopping=self._stopping,
            ),
            self._access,
        )
        return Starlette(
            routes=[
                Route("/mcp", tools, methods=None),
                WebSocketRoute("/ws", door.serve),
                *control_routes(self._team, self._access),
            ]
        )


def _own_identifier(world: TeamWorld) -> str:
    return next(each.identifier for each in world.agents if each.id == world.own_id)


class _Guarded:
    """Lets an agent's requests pass, and answers 401 to all others (MCP-121)."""

    def __init__(self, inner: ASGIApp, access: Access) -> None:
        self._inner = inner
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        if self._access.admits(headers.get(IDENTIFIER_HEADER), headers.get(KEY_HEADER)):
            await self._inner(scope, receive, send)
            return
        body: dict[str, Any] = {"error": {"code": -32001, "message": "wrong credentials"}}
        refused = Response(orjson.dumps(body), 401, media_type="application/json")
        await refused(scope, receive, send)
