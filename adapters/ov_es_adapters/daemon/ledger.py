"""Answers commands over the log: load, decide, record, and again when somebody was faster."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from logging import getLogger
from typing import Any, TypeAlias, cast

from ov_es_adapters.errors import (
    ConcurrentWriteError,
    StoreLockedError,
    StoreUnavailableError,
)
from ov_es_adapters.event_log.log import EventLog, Fence
from ov_es_adapters.ports import Clock
from ov_es_domain.catalogue import lifecycle_of
from ov_es_domain.delivery.aggregate import Delivery
from ov_es_domain.identity import watch_key
from ov_es_domain.lifecycle import Aggregate, Command, fold, handle
from ov_es_domain.recorded import NewEvent, Recorded
from ov_es_domain.signal.aggregate import Signal
from ov_es_domain.thread.aggregate import Thread
from ov_es_domain.ticket.aggregate import Ticket
from ov_es_domain.turn.aggregate import Turn
from ov_es_domain.watch.aggregate import Watch
from ov_es_projections.projection import Row, Value

_LOGGER = getLogger("ov_es.ledger")
_CACHED_AGGREGATES_MAX = 4096
_CONFLICTS_MAX = 20
_PAUSE_SECONDS_MAX = 5.0


@dataclass(frozen=True, slots=True)
class Step:
    """One command to one aggregate, as a part of a decision."""

    key: str
    command: Command
    after: str | None = None
    """The key of the aggregate whose newest event is the cause; None: the decision's own cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Commands that are answered together: all of their events are recorded, or none."""

    steps: Sequence[Step]
    cause: str
    correlation: str


class View:
    """What a decision may read: aggregates as they stand, and the rows of inline projections."""

    def __init__(self, log: EventLog, cache: "OrderedDict[str, tuple[Aggregate, int]]") -> None:
        """Share the ledger's cache, which is right because only the log's order counts."""
        self._log = log
        self._cache = cache

    def aggregate(self, key: str) -> tuple[Aggregate, int]:
        """Return an aggregate and its version (0 for one that has no event yet)."""
        if key not in self._cache:
            events = self._log.load(key)
            folded = fold(lifecycle_of(key), (event.body for event in events))
            self._cache[key] = (folded, len(events))
            while len(self._cache) > _CACHED_AGGREGATES_MAX:
                self._cache.popitem(last=False)
        self._cache.move_to_end(key)
        return self._cache[key]

    def turn(self, key: str) -> Turn:
        """Return a turn by its key."""
        return cast(Turn, self.aggregate(key)[0])

    def ticket(self, key: str) -> Ticket:
        """Return a ticket by its key."""
        return cast(Ticket, self.aggregate(key)[0])

    def thread(self, key: str | None) -> Thread:
        """Return a thread by its key; where there is no key, one that nobody has cancelled."""
        return Thread() if key is None else cast(Thread, self.aggregate(key)[0])

    def delivery(self, key: str) -> Delivery:
        """Return a delivery by its key."""
        return cast(Delivery, self.aggregate(key)[0])

    def signal(self, key: str) -> Signal:
        """Return what is known of an inbound source."""
        return cast(Signal, self.aggregate(key)[0])

    def watch(self, agent: str) -> Watch:
        """Return an agent's watch."""
        return cast(Watch, self.aggregate(watch_key(agent))[0])

    def reference(self, key: str) -> str:
        """Return how events name the newest event of an aggregate as their cause."""
        return f"{key}@{self.aggregate(key)[1]}"

    def rows(self, table: str, **equal: Value) -> list[Row]:
        """Return the rows of an inline projection whose columns have these values."""
        return self._log.select(table, equal)


Plan: TypeAlias = Callable[[View], Decision | None]
"""Looks at the present state and says what is to be done; it may be asked more than once."""


class Ledger:
    """The one way in which the daemon writes."""

    def __init__(self, log: EventLog, clock: Clock, *, unhealthy_after_seconds: float) -> None:
        """`unhealthy_after_seconds`: how long a locked or full store is waited for in silence."""
        self._log = log
        self._clock = clock
        self._unhealthy_after = unhealthy_after_seconds
        self._cache: OrderedDict[str, tuple[Aggregate, int]] = OrderedDict()
        self._turnstile = asyncio.Lock()
        self._listeners: list[Callable[[Recorded], None]] = []
        self.fence: Fence | None = None
        """Set once the watch is taken: from then on each commit proves that we still hold it."""
        self.trouble: str = ""
        """Why nothing can be recorded at the moment; "" when all is well."""
        self.view = View(log, self._cache)
        self._position = log.position()

    def subscribe(self, listener: Callable[[Recorded], None]) -> None:
        """Call `listener` for every event of ours, right after its commit."""
        self._listeners.append(listener)

    def refresh(self, key: str) -> None:
        """Forget what is known of an aggregate, so that the next look reads the log."""
        self._cache.pop(key, None)

    def notice_others(self) -> int:
        """Take notice of what others recorded, such as an operator; return how many events.

        It reaches the listeners like an event of our own.
        """
        if self._log.position() == self._position:
            return 0
        news = list(self._log.stream(after=self._position))
        for event in news:
            self.refresh(event.key)
            self._position = event.position
        for event in news:
            self._tell(event)
        return len(news)

    def _tell(self, event: Recorded) -> None:
        for listener in self._listeners:
            listener(event)

    async def begin(self, key: str, command: Command) -> None:
        """Record the start of a watch, and raise the fencing token in the same transaction."""
        async with self._turnstile:
            decision = Decision(steps=[Step(key, command)], cause="start", correlation=key)
            recorded = await self._commit_when_possible(lambda _: decision, raises=key)
        for event in recorded:
            self._tell(event)

    async def commit(self, plan: Plan) -> list[Recorded]:
        """Carry out what `plan` says in one transaction, in the order of the calls.

        A locked or full store is waited for: nothing of the plan's effects may happen before.
        Returns: the recorded events; an empty list when there was nothing to do.
        Raises: CommandRefusedError, FencedError, CorruptLogError.
        """
        async with self._turnstile:
            recorded = await self._commit_when_possible(plan)
        for event in recorded:
            self._tell(event)
        return recorded

    async def _commit_when_possible(
        self, plan: Plan, *, raises: str | None = None
    ) -> list[Recorded]:
        pause, waited = 0.05, 0.0
        conflicts = 0
        while True:
            try:
                recorded = self._try(plan, raises=raises)
            except ConcurrentWriteError:
                self._cache.clear()
                conflicts += 1
                if conflicts > _CONFLICTS_MAX:
                    raise
            except (StoreLockedError, StoreUnavailableError) as error:
                self._cache.clear()
                if waited >= self._unhealthy_after and not self.trouble:
                    _LOGGER.warning("nothing can be recorded: %s", error)
                    self.trouble = str(error)
                await asyncio.sleep(pause)
                waited += pause
                pause = min(pause * 2, _PAUSE_SECONDS_MAX)
            else:
                self.trouble = ""
                return recorded

    def _try(self, plan: Plan, *, raises: str | None) -> list[Recorded]:
        decision = plan(self.view)
        if decision is None:
            return []
        events, folded = self._answer(decision)
        if not events:
            return []
        recorded = self._log.append(events, fence=self.fence, raises=raises)
        self._cache.update(folded)
        if recorded[0].position == self._position + 1:
            # Otherwise somebody else wrote in between, and `notice_others` will come to it.
            self._position = recorded[-1].position
        return recorded

    def _answer(
        self, decision: Decision
    ) -> tuple[list[NewEvent], dict[str, tuple[Aggregate, int]]]:
        at = self._clock.now()
        folded: dict[str, tuple[Aggregate, int]] = {}
        events: list[NewEvent] = []
        for step in decision.steps:
            before, version = folded.get(step.key) or self.view.aggregate(step.key)
            bodies, after = handle(cast(Any, lifecycle_of(step.key)), before, step.command)
            cause = decision.cause
            if step.after is not None:
                newest = folded.get(step.after) or self.view.aggregate(step.after)
                cause = f"{step.after}@{newest[1]}"
            for number, body in enumerate(bodies):
                version += 1
                events.append(
                    NewEvent(
                        key=step.key,
                        version=version,
                        body=body,
                        at=at,
                        cause=cause,
                        correlation=decision.correlation,
                        command=step.command if number == 0 else None,
                    )
                )
            folded[step.key] = (cast(Aggregate, after), version)
        return events, folded
