"""A server that says 429 is left alone until the time that it asked for (MCP-04)."""

from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime

from ov_es_adapters.ports import Clock

FIRST_PAUSE_SECONDS = 1.0
PAUSE_SECONDS_MAX = 60.0
WISH_SECONDS_MAX = 24 * 3600.0
"""Who asks for more is asked again after a day, so that a slip of theirs isn't for ever."""


class Throttle:
    """When the next request may go out."""

    def __init__(self, clock: Clock, chance: Callable[[], float]) -> None:
        """`chance` gives numbers from 0 to 1, so that a fleet doesn't come back all at once."""
        self._clock = clock
        self._chance = chance
        self._until: float | None = None
        self._refusals = 0

    @property
    def parked_until(self) -> float | None:
        """The wall clock's time of the next request; None where nothing stands against it."""
        left = self.seconds_left
        return self._clock.now() + left if left > 0 else None

    @property
    def seconds_left(self) -> float:
        """How long nothing may be sent; 0 where something may."""
        return 0.0 if self._until is None else max(0.0, self._until - self._clock.monotonic())

    def refused(self, wish: str | None) -> float:
        """Pause after a 429, and return for how long. A shorter pause never replaces a longer."""
        self._refusals += 1
        asked = retry_after_seconds(wish, now=self._clock.now())
        if asked is None or asked <= 0:
            grown = FIRST_PAUSE_SECONDS * 2.0 ** min(self._refusals - 1, 16)
            asked = min(PAUSE_SECONDS_MAX, grown) * (0.5 + 0.5 * self._chance())
        until = self._clock.monotonic() + min(asked, WISH_SECONDS_MAX)
        self._until = until if self._until is None else max(until, self._until)
        return self.seconds_left

    def served(self) -> None:
        """Begin again with a short pause the next time."""
        self._refusals = 0


def retry_after_seconds(value: str | None, *, now: float) -> float | None:
    """Read the header: seconds or a date; None where it's absent or neither.

    >>> retry_after_seconds("7", now=0), retry_after_seconds("soon", now=0)
    (7.0, None)
    >>> retry_after_seconds("Thu, 01 Jan 1970 00:01:00 GMT", now=50)
    10.0
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.timestamp() - now
