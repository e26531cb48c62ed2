"""The team's WebSocket: it pushes frames to an agent, and takes nothing but keepalives."""

import asyncio

from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from ov_es_adapters.team.access import Access
from ov_es_adapters.team.connections import Close, Connection
from ov_es_adapters.team.live_team import LiveTeam
from ov_es_adapters.team.transports import transport_of

REFUSED_CODE = 4401
"""The code with which some backends close a socket whose credentials are wrong."""


class SocketDoor:
    """Lets agents in by the key and identifier of their address (WS-1)."""

    def __init__(self, team: LiveTeam, access: Access, *, refuses_after_accepting: bool) -> None:
        """A refusal is HTTP status 403, or an accepted handshake and the code 4401."""
        self._team = team
        self._access = access
        self._refuses_after_accepting = refuses_after_accepting

    async def serve(self, socket: WebSocket) -> None:
        """Serve one socket until either end has had enough."""
        identifier = socket.query_params.get("identifier")
        if identifier is None or not self._access.admits(
            identifier, socket.query_params.get("api_key")
        ):
            await self._refuse(socket)
            return
        await socket.accept()
        connection = self._team.connections.open(identifier, transport_of(socket.scope).abort)
        pushing = asyncio.create_task(_push(socket, connection), name="push frames")
        try:
            await _listen(socket)
        finally:
            pushing.cancel()
            self._team.connections.gone(connection)
            await asyncio.wait({pushing})
        if not pushing.cancelled():
            pushing.result()

    async def _refuse(self, socket: WebSocket) -> None:
        if self._refuses_after_accepting:
            await socket.accept()
            await socket.close(REFUSED_CODE, "unauthorized")
        else:
            await socket.send_denial_response(PlainTextResponse("wrong credentials", 403))


async def _push(socket: WebSocket, connection: Connection) -> None:
    try:
        while True:
            match await connection.outgoing.get():
                case Close(code):
                    await socket.close(code)
                    return
                case text:
                    await socket.send_text(text)
    except WebSocketDisconnect:
        # The wire is gone: what was pushed is lost, as with any backend.
        return


async def _listen(socket: WebSocket) -> None:
    """Read what comes and do nothing with it, until the socket is closed."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
