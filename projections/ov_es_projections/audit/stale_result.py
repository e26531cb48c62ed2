"""A result that settles a turn comes from the run that holds it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ov_es_domain.recorded import Recorded
from ov_es_domain.turn import events as t
from ov_es_projections.audit.finding import Finding, Severity


@dataclass(slots=True)
class StaleResult:
    """Follows who holds each turn, as the log has it."""

    rule: ClassVar[str] = "stale-result-applied"
    explanation: ClassVar[str] = (
        "A success carries the execution id and attempt of the run that was started last."
    )
    _holders: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Compare each success with its holder."""
        match event.body:
            case (
                t.TurnStarted(execution=execution, attempt=attempt)
                | t.TurnRecovering(execution=execution, attempt=attempt)
            ):
                self._holders[event.key] = (execution, attempt)
            case t.TurnSucceeded(execution=execution, attempt=attempt):
                holder = self._holders.get(event.key)
                if holder != (execution, attempt):
                    yield Finding(
                        rule=self.rule,
                        severity=Severity.ERROR,
                        key=event.key,
                        position=event.position,
                        message=f"{execution} (attempt {attempt}) settled it; {holder} held it",
                    )
            case _:
                return

    def end(self, at: float) -> Iterable[Finding]:
        """Nothing is left open."""
        del at
        return ()
