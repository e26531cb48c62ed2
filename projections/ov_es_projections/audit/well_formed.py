"""Every event follows from what was before: versions, transitions and causes have no hole."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ov_es_domain.catalogue import lifecycle_of
from ov_es_domain.recorded import Recorded
from ov_es_projections.audit.finding import Finding, Severity


@dataclass(slots=True)
class WellFormed:
    """Steps the tables, as replay would."""

    rule: ClassVar[str] = "broken-sequence"
    explanation: ClassVar[str] = (
        "Each aggregate's events are numbered without gaps and follow its machine; each event's"
        " cause is in the log before it."
    )
    _heads: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    _position: int = 0

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Check position, version, transition and cause."""
        if event.position <= self._position:
            yield self._finding(event, f"position {event.position} after {self._position}")
        self._position = event.position
        table = lifecycle_of(event.key).table
        version, state = self._heads.get(event.key, (0, table.initial))
        if event.version != version + 1:
            yield self._finding(event, f"version {event.version} after {version}")
        target = table.targets.get((state, event.body.TRANSITION))
        if target is None:
            yield self._finding(event, f"cannot {event.body.TRANSITION} while {state}")
        key, at, number = event.cause.rpartition("@")
        if at and number.isdecimal() and self._heads.get(key, (0, ""))[0] < int(number):
            is_own = key == event.key and int(number) < event.version
            if not is_own:
                yield self._finding(event, f"its cause {event.cause} isn't in the log before it")
        self._heads[event.key] = (event.version, target or state)

    def end(self, at: float) -> Iterable[Finding]:
        """Nothing is left open."""
        del at
        return ()

    def _finding(self, event: Recorded, message: str) -> Finding:
        return Finding(
            rule=self.rule,
            severity=Severity.ERROR,
            key=event.key,
            position=event.position,
            message=message,
        )
