"""What is promised doesn't wait for ever, and nothing is left running by nobody."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ov_es_domain.delivery import events as d
from ov_es_domain.recorded import Recorded
from ov_es_domain.turn import events as t
from ov_es_domain.watch import events as w
from ov_es_projections.audit.finding import Finding, Severity

DELIVERY_SECONDS_MAX = 600.0
"""A promised message that isn't out after ten minutes is shown (design, decided values)."""


@dataclass(slots=True)
class LeftUndone:
    """Keeps what is open, and says at the end what shouldn't be."""

    rule: ClassVar[str] = "stuck"
    explanation: ClassVar[str] = (
        "A promised message goes out within ten minutes; after an orderly stop no turn is left"
        " running."
    )
    _deliveries: dict[str, Recorded] = field(default_factory=dict[str, Recorded])
    _running: dict[str, Recorded] = field(default_factory=dict[str, Recorded])
    _is_watched: bool = False

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Open and close; an abandoned message is for a person to look at."""
        match event.body:
            case w.WatchBegun():
                self._is_watched = True
            case w.WatchEnded():
                self._is_watched = False
            case d.DeliveryPlanned():
                self._deliveries[event.key] = event
            case d.DeliveryDelivered() | d.DeliverySuppressed():
                self._deliveries.pop(event.key, None)
            case d.DeliveryAbandoned(reason=reason, by=by):
                was_promised = self._deliveries.pop(event.key, None) is not None
                if was_promised and not by.startswith("operator"):
                    yield Finding(
                        rule="undeliverable",
                        severity=Severity.WARNING,
                        key=event.key,
                        position=event.position,
                        message=f"it was given up: {reason}",
                    )
            case t.TurnStarted():
                self._running[event.key] = event
            case (
                t.TurnInterrupted()
                | t.TurnRetried()
                | t.TurnSucceeded()
                | t.TurnFailed()
                | t.TurnTimedOut()
                | t.TurnBlocked()
                | t.TurnCancelled()
            ):
                self._running.pop(event.key, None)
            case _:
                return

    def end(self, at: float) -> Iterable[Finding]:
        """Report what waits too long, and what runs without a watcher."""
        for event in self._deliveries.values():
            age = at - event.at
            if age > DELIVERY_SECONDS_MAX:
                yield Finding(
                    rule=self.rule,
                    severity=Severity.WARNING,
                    key=event.key,
                    position=event.position,
                    message=f"promised {age / 60:.0f} min ago, and not out",
                )
        if not self._is_watched:
            for event in self._running.values():
                yield Finding(
                    rule="orphaned-run",
                    severity=Severity.ERROR,
                    key=event.key,
                    position=event.position,
                    message="its run was never settled, and nobody watches",
                )
