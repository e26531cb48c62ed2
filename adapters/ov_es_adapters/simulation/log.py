"""The real event log, as one incarnation of a simulated process uses it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from ov_es_adapters.errors import StoreUnavailableError
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.simulation.incarnation import Incarnation, ProcessDiedError
from ov_es_domain.recorded import NewEvent, Recorded


@dataclass(slots=True, kw_only=True)
class Storage:
    """What outlives every process: the log itself, and the disk that it's on."""

    log: EventLog
    time: Callable[[], float]
    """Seconds since the start of the simulation."""
    die_after: int | None = None
    """The commit right after which the process dies; None: at none."""
    is_full: bool = False
    commits: int = 0
    times: dict[int, float] = field(default_factory=dict[int, float])
    """position → when it was recorded."""


class SimulatedLog:
    """All of the log's methods, while the process lives."""

    def __init__(self, storage: Storage, incarnation: Incarnation) -> None:
        """Use `storage` in the name of `incarnation`."""
        self._storage = storage
        self._incarnation = incarnation

    def append(self, events: Sequence[NewEvent], **options: Any) -> list[Recorded]:
        """Record events in one transaction, and die right after it where that's the plan.

        Raises: StoreError, ProcessDiedError.
        """
        storage = self._storage
        self._incarnation.check()
        if storage.is_full:
            raise StoreUnavailableError("the disk is full; nothing was written")
        recorded = storage.log.append(events, **options)
        now = storage.time()
        storage.times.update((event.position, now) for event in recorded)
        storage.commits += 1
        if storage.commits == storage.die_after:
            self._incarnation.die(is_back_at_once=True)
            raise ProcessDiedError(self._incarnation.number)
        return recorded

    def __getattr__(self, name: str) -> Any:
        """Return any other method of the log, as long as somebody is there to call it."""
        self._incarnation.check()
        return getattr(self._storage.log, name)


def log_of(storage: Storage, incarnation: Incarnation) -> EventLog:
    """Return the log in the name of an incarnation."""
    return cast(EventLog, SimulatedLog(storage, incarnation))
