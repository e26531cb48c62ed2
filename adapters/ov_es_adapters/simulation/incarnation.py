"""One life of the daemon's process: once it has died, nothing of it can touch the world."""

from collections.abc import Callable


class ProcessDiedError(BaseException):
    """The process that made this call is dead.

    No `except Exception` catches it, so that no clean-up of a dead daemon can have an effect: a
    process that is killed doesn't clean up either.
    """


class Incarnation:
    """From one start of the process to its end; every port of the daemon asks it first."""

    def __init__(self, number: int, on_death: Callable[[bool], None]) -> None:
        """`on_death` is called once, and told whether the process is back at once."""
        self.number = number
        self.is_alive = True
        self.has_died = False
        """Whether it died, in place of ending by itself."""
        self._on_death = on_death

    def check(self) -> None:
        """Do nothing while the process lives.

        Raises: ProcessDiedError.
        """
        if not self.is_alive:
            raise ProcessDiedError(self.number)

    def die(self, *, is_back_at_once: bool = False) -> None:
        """Die, in the middle of whatever it does; dying again changes nothing."""
        if self.is_alive:
            self.is_alive = False
            self.has_died = True
            self._on_death(is_back_at_once)

    def end(self) -> None:
        """End by itself, with nothing left to do."""
        self.is_alive = False
