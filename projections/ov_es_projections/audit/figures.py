"""The numbers of an audit: how much of each, and how long people waited."""

from collections import Counter
from dataclasses import dataclass, field

from ov_es_domain.delivery import events as d
from ov_es_domain.lifecycle import Event
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal import events as s
from ov_es_domain.turn import events as t
from ov_es_domain.watch import events as w


def percentile(values: list[float], share: float) -> float | None:
    """Return the value below which this share lies (nearest rank), or None of nothing.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5), percentile([], 0.5)
    (2.0, None)
    """
    if not values:
        return None
    ranked = sorted(values)
    return ranked[max(0, min(len(ranked) - 1, round(share * len(ranked) + 0.4999) - 1))]


_STATES: dict[type[Event], str] = {
    t.TurnQueued: "queued",
    t.TurnRequeued: "queued",
    t.TurnRetried: "queued",
    t.TurnStarted: "running",
    t.TurnRecovering: "recovering",
    t.TurnInterrupted: "interrupted",
    t.TurnSucceeded: "succeeded",
    t.TurnFailed: "failed",
    t.TurnTimedOut: "timed_out",
    t.TurnBlocked: "blocked",
    t.TurnCancelled: "cancelled",
    t.TurnReleased: "released",
    d.DeliveryOwed: "owed",
    d.DeliveryPlanned: "planned",
    d.DeliveryRefused: "planned",
    d.DeliveryReplanned: "planned",
    d.DeliveryAttempted: "attempting",
    d.DeliveryLeftUnknown: "unknown",
    d.DeliveryDelivered: "delivered",
    d.DeliverySuppressed: "suppressed",
    d.DeliveryAbandoned: "abandoned",
}
"""Event → the state that it leaves its aggregate in."""


@dataclass(slots=True)
class Figures:
    """Counts, folded one event at a time."""

    events: int = 0
    first_at: float | None = None
    last_at: float = 0.0
    agents: set[str] = field(default_factory=set[str])
    tickets: set[str] = field(default_factory=set[str])
    turns: Counter[str] = field(default_factory=Counter[str])
    deliveries: Counter[str] = field(default_factory=Counter[str])
    suppressed: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    latencies: list[float] = field(default_factory=list[float])
    """Seconds from a signal's acceptance to its reply."""
    _accepted: dict[str, float] = field(default_factory=dict[str, float])
    _replies: dict[str, str] = field(default_factory=dict[str, str])
    _open: dict[str, str] = field(default_factory=dict[str, str])

    def see(self, event: Recorded) -> None:
        """Count one event."""
        self.events += 1
        if self.first_at is None:
            self.first_at = event.at
        self.last_at = max(self.last_at, event.at)
        kind = event.key.partition(":")[0]
        if kind == "ticket":
            self.tickets.add(event.key)
        match event.body:
            case w.WatchBegun(agent=agent):
                self.agents.add(agent)
            case s.SignalAccepted(arrival=arrival):
                self._accepted[arrival.source] = event.at
            case s.SignalSuppressed(reason=reason):
                self.suppressed[reason] += 1
            case s.SignalRefused(reason=reason):
                self.refused[reason] += 1
            case d.DeliveryPlanned(source=source, purpose=purpose, part=1) if (
                purpose.value == "reply"
            ):
                self._replies[event.key] = source
            case d.DeliveryDelivered() if event.key in self._replies:
                source = self._replies[event.key]
                if source in self._accepted:
                    self.latencies.append(event.at - self._accepted[source])
            case _:
                pass
        self._count_states(event, kind)

    def _count_states(self, event: Recorded, kind: str) -> None:
        name = _STATES.get(type(event.body))
        if name is None:
            return
        counts = self.turns if kind == "turn" else self.deliveries
        before = self._open.get(event.key)
        if before is not None:
            counts[before] -= 1
        counts[name] += 1
        self._open[event.key] = name
