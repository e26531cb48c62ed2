"""The team's socket without a socket: what is sent while nobody is connected is lost."""

import asyncio
from collections.abc import AsyncGenerator

from ov_es_adapters.ports import (
    ConnectionEvent,
    ConnectionLost,
    ConnectionOpened,
    FrameReceived,
)
from ov_es_adapters.simulation.incarnation import Incarnation


class SimulatedFrames:
    """The receiving end of one incarnation (`FrameSource`), connected from its start."""

    def __init__(self, incarnation: Incarnation) -> None:
        """Use `TeamSocket.connect`."""
        self._incarnation = incarnation
        self._events: asyncio.Queue[ConnectionEvent] = asyncio.Queue()
        self._number = 0
        self._is_open = False
        self.taken = 0
        """How many frames the daemon has taken so far."""
        self.taken_at = 0.0
        """When it took the last one."""

    async def events(self) -> AsyncGenerator[ConnectionEvent, None]:
        """Yield what happens, for ever."""
        while True:
            self._incarnation.check()
            event = await self._events.get()
            self._incarnation.check()
            if isinstance(event, FrameReceived):
                self.taken += 1
                self.taken_at = asyncio.get_running_loop().time()
            yield event

    def open(self) -> None:
        """Have a connection."""
        self._number += 1
        self._is_open = True
        self._events.put_nowait(ConnectionOpened(self._number))

    def lose(self, retry_in: float) -> None:
        """Have none, for this many seconds."""
        self._is_open = False
        self._events.put_nowait(
            ConnectionLost(self._number, "broken-off", is_refused=False, retry_in=retry_in)
        )

    def receive(self, text: str) -> bool:
        """Take a frame; False when it's lost, since nobody is there to take it."""
        if not self._is_open:
            return False
        # A dead process reads nothing any more; whoever is back at once gets what was on its way.
        self._events.put_nowait(FrameReceived(text, self._number))
        return self._incarnation.is_alive

    def unread(self) -> list[str]:
        """Return the frames that nobody has taken yet, and have them no longer."""
        texts: list[str] = []
        while not self._events.empty():
            event = self._events.get_nowait()
            if isinstance(event, FrameReceived):
                texts.append(event.text)
        return texts


class TeamSocket:
    """The sending end; it knows when the network is away."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start with a network."""
        self._loop = loop
        self._away_until = 0.0
        self._receiver: SimulatedFrames | None = None

    def connect(
        self, incarnation: Incarnation, *, is_back_at_once: bool = False
    ) -> SimulatedFrames:
        """Return the receiving end of a new process; the old one's gets nothing any more.

        What the old one hadn't taken is lost with it, but for one that is back at once: no time
        has passed for it, and those frames come as if it had been there all along.
        """
        unread = self._receiver.unread() if is_back_at_once and self._receiver else []
        self._receiver = SimulatedFrames(incarnation)
        away = self._away_until - self._loop.time()
        if away > 0:
            self._receiver.lose(away)
        else:
            self._receiver.open()
        for text in unread:
            self._receiver.receive(text)
        return self._receiver

    def send(self, text: str) -> bool:
        """Send a frame; False when nobody was there to take it."""
        return self._receiver is not None and self._receiver.receive(text)

    def cut(self, seconds: float) -> None:
        """Take the network away for a while; the longest of several wishes counts."""
        is_connected = self._away_until <= self._loop.time()
        until = self._loop.time() + seconds
        if until > self._away_until:
            self._away_until = until
            self._loop.call_at(until, self._restore, until)
        if is_connected and self._receiver is not None:
            self._receiver.lose(seconds)

    def _restore(self, until: float) -> None:
        if until == self._away_until and self._receiver is not None:
            self._receiver.open()
