"""How long to wait before the socket is made again: growing delays with full jitter."""

from collections.abc import Callable


class Backoff:
    """Delays up to a ceiling that doubles with each failure.

    Only a connection that stayed open long enough counts as a success: a server that accepts and
    closes at once would otherwise be asked again at full speed for ever.
    """

    def __init__(
        self,
        *,
        first_seconds: float,
        seconds_max: float,
        stable_seconds: float,
        random: Callable[[], float],
    ) -> None:
        """Take chance as `random`, a number from 0 to 1 at each call."""
        self._first_seconds = first_seconds
        self._seconds_max = seconds_max
        self._stable_seconds = stable_seconds
        self._random = random
        self._ceiling = first_seconds

    def delay_after(self, open_seconds: float) -> float:
        """Return the seconds to wait after a connection that was open for so long.

        An attempt that never opened counts as open for 0 seconds.

        >>> backoff = Backoff(
        ...     first_seconds=1, seconds_max=60, stable_seconds=60, random=lambda: 1.0
        ... )
        >>> [backoff.delay_after(0) for _ in range(8)], backoff.delay_after(60)
        ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0], 1.0)
        """
        if open_seconds >= self._stable_seconds:
            self._ceiling = self._first_seconds
        ceiling = min(self._ceiling, self._seconds_max)
        self._ceiling = min(self._ceiling * 2, self._seconds_max)
        return ceiling * self._random()
