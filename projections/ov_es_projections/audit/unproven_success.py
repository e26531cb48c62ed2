"""A coding turn that counts as done can show what the rules of evidence ask for."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ov_es_domain.policy.evidence import judge
from ov_es_domain.recorded import Recorded
from ov_es_domain.turn import events as t
from ov_es_domain.turn.kinds import Verdict
from ov_es_projections.audit.finding import Finding, Severity


@dataclass(slots=True)
class UnprovenSuccess:
    """Judges each success again, from the report that the log keeps."""

    rule: ClassVar[str] = "missing-evidence"
    explanation: ClassVar[str] = "Exit status 0 and prose prove nothing (EV-1, EV-22 to EV-25)."
    _queued: dict[str, t.TurnQueued] = field(default_factory=dict[str, t.TurnQueued])

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Ask today's rules about each success."""
        match event.body:
            case t.TurnQueued() as queued:
                self._queued[event.key] = queued
            case t.TurnSucceeded(report=report):
                turn = self._queued.get(event.key)
                if turn is None:
                    return
                again = judge(report, lane=turn.kind.lane, is_ticket=turn.ticket is not None)
                if again.verdict is not Verdict.SUCCEEDED:
                    lacks = "; ".join(again.missing) or again.reason
                    yield Finding(
                        rule=self.rule,
                        severity=Severity.ERROR,
                        key=event.key,
                        position=event.position,
                        message=f"it counts as done, but can't show {lacks}",
                    )
            case _:
                return

    def end(self, at: float) -> Iterable[Finding]:
        """Nothing is left open."""
        del at
        return ()
