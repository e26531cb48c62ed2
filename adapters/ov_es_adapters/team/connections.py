"""The sockets that agents have open, and what is pushed to them."""

import asyncio
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

_WAITING_FRAMES_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Close:
    """End a connection with the closing handshake, after the frames before it."""

    code: int


Outgoing: TypeAlias = str | Close


@dataclass(slots=True, kw_only=True, eq=False)
class Connection:
    """One open socket of an agent."""

    number: int
    """Connections of this server, counted from 1."""
    identifier: str
    abort: Callable[[], None]
    """Cuts the wire, without a word to the other end."""
    outgoing: "asyncio.Queue[Outgoing]" = field(
        default_factory=lambda: asyncio.Queue(_WAITING_FRAMES_MAX)
    )

    def put(self, item: Outgoing) -> None:
        """Put something on its way; whoever doesn't read for too long is cut off."""
        try:
            self.outgoing.put_nowait(item)
        except asyncio.QueueFull:
            self.abort()


class Connections:
    """All open sockets of all agents."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """`on_change` is told whenever a socket opens or is gone."""
        self._on_change = on_change
        self._open: list[Connection] = []
        self._numbers = itertools.count(1)

    def open(self, identifier: str, abort: Callable[[], None]) -> Connection:
        """Keep a new socket of an agent."""
        made = Connection(number=next(self._numbers), identifier=identifier, abort=abort)
        self._open.append(made)
        self._on_change()
        return made

    def gone(self, connection: Connection) -> None:
        """Forget a socket."""
        self._open.remove(connection)
        self._on_change()

    def of(self, identifier: str | None) -> list[Connection]:
        """Return the open sockets of an agent, or those of all."""
        return [each for each in self._open if identifier in {None, each.identifier}]

    def counts(self) -> Mapping[str, int]:
        """Return how many sockets each connected agent has."""
        names = [each.identifier for each in self._open]
        return {name: names.count(name) for name in sorted(set(names))}

    def send(self, text: str, identifier: str | None) -> int:
        """Push a frame to each socket of an agent, or of all, and return how many there are."""
        found = self.of(identifier)
        for each in found:
            each.put(text)
        return len(found)

    def drop(self, identifier: str | None, code: int | None) -> int:
        """End the sockets of an agent, or of all; without a code the wire is just cut."""
        found = self.of(identifier)
        for each in found:
            if code is None:
                each.abort()
            else:
                each.put(Close(code))
        return len(found)
