"""What was accepted comes to something: a turn, and for a turn that succeeded its message."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ov_es_domain.delivery import events as d
from ov_es_domain.identity import delivery_key, turn_key
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal.events import SignalAccepted
from ov_es_domain.ticket.events import TicketBlocked
from ov_es_domain.turn import events as t
from ov_es_projections.audit.finding import Finding, Severity


@dataclass(slots=True)
class LostWork:
    """Promises are made in the transaction of what they follow from; a hole is a lost one."""

    rule: ClassVar[str] = "lost"
    explanation: ClassVar[str] = (
        "An accepted signal leads to a turn in the same transaction, and a reply that succeeded"
        " to a delivery."
    )
    _slots: dict[str, str] = field(default_factory=dict[str, str])
    _turns_due: dict[str, Recorded] = field(default_factory=dict[str, Recorded])
    _deliveries_due: dict[str, Recorded] = field(default_factory=dict[str, Recorded])

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Open and close promises."""
        match event.body:
            case SignalAccepted(arrival=arrival, reason=reason, generation=generation):
                if reason != "stand-down":
                    self._turns_due[turn_key(arrival.source, generation)] = event
            case TicketBlocked():
                for key in [k for k in self._turns_due if k.startswith(f"turn:{event.key}:")]:
                    del self._turns_due[key]
            case t.TurnQueued(slot=slot):
                self._turns_due.pop(event.key, None)
                if slot is not None:
                    self._slots[event.key] = slot
            case t.TurnSucceeded() if event.key in self._slots:
                self._deliveries_due[delivery_key(self._slots[event.key])] = event
            case d.DeliveryPlanned() | d.DeliverySuppressed():
                self._deliveries_due.pop(event.key, None)
            case _:
                pass
        return ()

    def end(self, at: float) -> Iterable[Finding]:
        """Report what is still open: nothing can close it any more."""
        del at
        for key, event in self._turns_due.items():
            yield self._finding(event, f"it was accepted, but {key} was never queued")
        for key, event in self._deliveries_due.items():
            yield self._finding(event, f"it succeeded, but {key} was never planned")

    def _finding(self, event: Recorded, message: str) -> Finding:
        return Finding(
            rule=self.rule,
            severity=Severity.ERROR,
            key=event.key,
            position=event.position,
            message=message,
        )
