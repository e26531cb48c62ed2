"""Nobody but this log's watcher posts as the agent."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from ov_es_domain.delivery import events as d
from ov_es_domain.policy.withholding import SOMEONE_ELSE
from ov_es_domain.recorded import Recorded
from ov_es_projections.audit.finding import Finding, Severity


@dataclass(slots=True)
class PostedByOthers:
    """An answer that was withheld since a message that the log knows nothing of was there."""

    rule: ClassVar[str] = SOMEONE_ELSE
    explanation: ClassVar[str] = (
        "Each message of the agent comes from this log; another one shows that a second watcher"
        " or program uses the same identity (OWN-04)."
    )

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Tell of each answer that was withheld for that reason."""
        match event.body:
            case d.DeliverySuppressed(reason=reason, message_id=message_id) if (
                reason == SOMEONE_ELSE
            ):
                yield Finding(
                    rule=self.rule,
                    severity=Severity.WARNING,
                    key=event.key,
                    position=event.position,
                    message=f"message {message_id} was posted as us, and no delivery knows it",
                )
            case _:
                return

    def end(self, at: float) -> Iterable[Finding]:
        """Nothing is left open."""
        del at
        return ()
