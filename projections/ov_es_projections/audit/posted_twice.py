"""No message is posted twice: for one cause, with the same words, or by the same proof."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ov_es_domain.delivery import events as e
from ov_es_domain.recorded import Recorded
from ov_es_projections.audit.finding import Finding, Severity


@dataclass(slots=True)
class PostedTwice:
    """Looks at what's out: by its cause and purpose, by its words, and by its proof."""

    rule: ClassVar[str] = "posted-twice"
    explanation: ClassVar[str] = (
        "One source gets one message of each purpose; a rendered message proves at most one"
        " delivery; the same words for the same source aren't said twice in one place."
    )
    _plans: dict[str, e.DeliveryPlanned] = field(default_factory=dict[str, e.DeliveryPlanned])
    _by_cause: dict[tuple[str, str, str], str] = field(
        default_factory=dict[tuple[str, str, str], str]
    )
    _by_words: dict[tuple[str, str, str], str] = field(
        default_factory=dict[tuple[str, str, str], str]
    )
    _by_proof: dict[str, str] = field(default_factory=dict[str, str])

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Remember plans; compare what is delivered with all that was before."""
        match event.body:
            case e.DeliveryPlanned() as plan:
                self._plans[event.key] = plan
            case e.DeliveryDelivered(message_id=message_id, proof=proof) if proof != "operator":
                yield from self._delivered(event, None if message_id is None else str(message_id))
            case _:
                return

    def _delivered(self, event: Recorded, message_id: str | None) -> Iterable[Finding]:
        plan = self._plans.get(event.key)
        if plan is None:
            return
        place = f"{plan.target.channel_id}:{plan.target.parent_id}"
        # A message that is too long for one has one delivery for each of its parts.
        cause = (plan.source, plan.purpose.value, f"{plan.turn or ''}#{plan.part}")
        # Another turn of the same source is another request, and may end in the same words.
        said = f"{plan.part}: {' '.join(plan.content.split())}"
        words = (plan.turn or plan.source, place, said)
        earlier = self._by_cause.setdefault(cause, event.key)
        if earlier != event.key and plan.purpose.value != "blocker":
            yield self._finding(event, f"{plan.source} has its {cause[1]} already: {earlier}")
        earlier = self._by_words.setdefault(words, event.key)
        if earlier != event.key:
            yield self._finding(event, f"{earlier} says the same in the same place")
        if message_id is not None:
            earlier = self._by_proof.setdefault(
                f"{plan.target.channel_id}:{message_id}", event.key
            )
            if earlier != event.key:
                yield self._finding(event, f"message {message_id} proves {earlier} already")

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
