"""No ticket is worked on by two runs at once, and no directory by two runs of the work lane."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ov_es_domain.recorded import Recorded
from ov_es_domain.turn import events as t
from ov_es_domain.turn.kinds import Lane
from ov_es_projections.audit.finding import Finding, Severity


@dataclass(slots=True)
class OverlappingRuns:
    """Keeps the runs that hold a ticket or a group, until the turn that holds them ends."""

    rule: ClassVar[str] = "two-runs-at-once"
    explanation: ClassVar[str] = (
        "A ticket and a worktree have one run at a time; replies have one in all."
    )
    _queued: dict[str, t.TurnQueued] = field(default_factory=dict[str, t.TurnQueued])
    _holders: dict[str, str] = field(default_factory=dict[str, str])

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Take and give back what a run holds."""
        match event.body:
            case t.TurnQueued() as queued:
                self._queued[event.key] = queued
            case t.TurnStarted(group=group):
                for held in self._held(event.key, group):
                    holder = self._holders.setdefault(held, event.key)
                    if holder != event.key:
                        yield Finding(
                            rule=self.rule,
                            severity=Severity.ERROR,
                            key=event.key,
                            position=event.position,
                            message=f"it started while {holder} held {held}",
                        )
            case (
                t.TurnInterrupted()
                | t.TurnRetried()
                | t.TurnSucceeded()
                | t.TurnFailed()
                | t.TurnTimedOut()
                | t.TurnBlocked()
                | t.TurnCancelled()
                | t.TurnReleased()
            ):
                for held in [h for h, key in self._holders.items() if key == event.key]:
                    del self._holders[held]
            case _:
                return

    def _held(self, key: str, group: str) -> list[str]:
        queued = self._queued.get(key)
        if queued is None:
            return []
        held = [queued.ticket] if queued.ticket else []
        if queued.kind.lane is Lane.REPLY:
            return [*held, "the reply lane"]
        return [*held, f"the directory {group}"] if group else held

    def end(self, at: float) -> Iterable[Finding]:
        """What still runs is looked at elsewhere."""
        del at
        return ()
