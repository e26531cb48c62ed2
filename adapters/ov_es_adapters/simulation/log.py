"""The real event log, as one incarnation of a simulated process uses it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from ov_es_adapters.errors import StoreUnavailableError
from ov_es_adapters.event_log.log import EventLog
from ov_es_adapters.simulation.incarnation import Incarnation, ProcessDiedError
from ov_es_domain.recorded import NewEvent, Recorded


@dataclass(frozen=True, slots=True)
class Death:
    """At which commit, counted from 1, the process dies, to be back at once."""

    commit: int
    is_before: bool
    """Whether that commit is lost with it: what it was to record has happened all the same."""


@dataclass(slots=True, kw_only=True)
class Storage:
    """What outlives every process: the log itself, and the disk that it's on."""

    log: EventLog
    time: Callable[[], float]
    """Seconds since the start of the simulation."""
    death: Death | None = None
    """When the process dies; it's taken away once that has happened."""
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
        """Record events in one transaction, and die right before or after where that's the plan.

        Raises: StoreError, ProcessDiedError.
        """
        storage = self._storage
        self._incarnation.check()
        if storage.is_full:
            raise StoreUnavailableError("the disk is full; nothing was written")
        death = storage.death
        if death is not None and death.is_before and death.commit == storage.commits + 1:
            self._die()
        recorded = storage.log.append(events, **options)
        now = storage.time()
        storage.times.update((event.position, now) for event in recorded)
        storage.commits += 1
        if death is not None and not death.is_before and death.commit == storage.commits:
            self._die()
        return recorded

    def _die(self) -> NoReturn:
        self._storage.death = None
        self._incarnation.die(is_back_at_once=True)
        raise ProcessDiedError(self._incarnation.number)

    def __getattr__(self, name: str) -> Any:
        """Return any other method of the log, as long as somebody is there to call it."""
        self._incarnation.check()
        return getattr(self._storage.log, name)


def log_of(storage: Storage, incarnation: Incarnation) -> EventLog:
    """Return the log in the name of an incarnation."""
    return cast(EventLog, SimulatedLog(storage, incarnation))
