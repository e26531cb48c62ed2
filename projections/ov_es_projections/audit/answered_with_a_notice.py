"""Who asked and got a notice that there is no answer: that isn't counted as an answer."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ov_es_domain.delivery import events as d
from ov_es_domain.delivery.target import Purpose
from ov_es_domain.recorded import Recorded
from ov_es_projections.audit.finding import Finding, Severity


@dataclass(slots=True)
class AnsweredWithANotice:
    """Looks for the notices that stand where an answer to a message was asked for (TRU-06)."""

    rule: ClassVar[str] = "answered-with-a-notice"
    explanation: ClassVar[str] = (
        "A message whose run came to nothing has a notice in its thread, and is still open for"
        " whoever asked."
    )
    _notices: dict[str, d.DeliveryPlanned] = field(default_factory=dict[str, d.DeliveryPlanned])

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Remember what is promised as a notice, and tell of it when it's out."""
        match event.body:
            case d.DeliveryPlanned(purpose=Purpose.BLOCKER, source=source) as plan if (
                source.startswith("mention:")
            ):
                self._notices[event.key] = plan
            case d.DeliveryDelivered() if event.key in self._notices:
                source = self._notices.pop(event.key).source
                yield Finding(
                    rule=self.rule,
                    severity=Severity.NOTE,
                    key=event.key,
                    position=event.position,
                    message=f"{source} was answered with a notice, not with an answer",
                )
            case _:
                return

    def end(self, at: float) -> Iterable[Finding]:
        """Nothing is left open."""
        del at
        return ()
