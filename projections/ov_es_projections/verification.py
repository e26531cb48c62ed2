"""Makes every recorded decision again with today's rules, and says where they'd decide otherwise.

A command stands on the first event of its answer. The aggregate is folded as the log has it, up
to before that event; the command is handled again; and what comes out is held against what was
recorded. Where the log also holds all that a policy read, the policy is asked again too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ov_es_domain.catalogue import LIFECYCLES, lifecycle_of
from ov_es_domain.errors import CommandRefusedError, IllegalTransitionError
from ov_es_domain.lifecycle import Aggregate, Event, handle, step
from ov_es_domain.policy.admission import Ourselves, Refused, Suppressed, admit_mention
from ov_es_domain.policy.evidence import Judgement, judge
from ov_es_domain.policy.vocabulary import Vocabulary
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal import events as s
from ov_es_domain.turn import events as t
from ov_es_domain.turn.kinds import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One decision that would come out otherwise. The fields are those of `replay --json`."""

    position: int
    key: str
    recorded: object
    now: object


@dataclass(slots=True)
class _Answer:
    """A recorded answer, while its events are still coming."""

    first: Recorded
    before: Aggregate
    bodies: list[Event] = field(default_factory=list[Event])


@dataclass(slots=True)
class Verification:
    """Follows every aggregate; after its first difference, one is left alone."""

    decisions: int = 0
    """How many decisions were made again."""
    _states: dict[str, Aggregate] = field(default_factory=dict[str, Aggregate])
    _answers: dict[str, _Answer] = field(default_factory=dict[str, _Answer])
    _given_up: set[str] = field(default_factory=set[str])
    _lanes: dict[str, t.TurnQueued] = field(default_factory=dict[str, t.TurnQueued])

    def see(self, event: Recorded) -> Iterator[Difference]:
        """Take the next event; yield the difference that it completes or shows, if any."""
        if event.key in self._given_up:
            return
        command = event.read_command
        if command is not None:
            yield from self._close(event.key)
        if event.key in self._given_up:
            return
        lifecycle = lifecycle_of(event.key)
        before: Aggregate = self._states.get(event.key) or lifecycle.initial
        if command is not None:
            self._answers[event.key] = _Answer(event, before)
        answer = self._answers.get(event.key)
        if answer is not None:
            answer.bodies.append(event.body)
        try:
            self._states[event.key] = step(lifecycle, before, event.body)
        except IllegalTransitionError as error:
            yield self._differ(event, _told([event.body]), {"refused": str(error)})
            return
        yield from self._ask_policy(event, before)

    def end(self) -> Iterator[Difference]:
        """Yield what the last answers differ in."""
        for key in list(self._answers):
            yield from self._close(key)

    def _close(self, key: str) -> Iterator[Difference]:
        """Handle a command again, now that all events of its answer are known."""
        answer = self._answers.pop(key, None)
        if answer is None or key in self._given_up:
            return
        command = answer.first.command
        if command is None:
            return
        self.decisions += 1
        try:
            bodies, _ = handle(lifecycle_of(key), answer.before, command)
        except CommandRefusedError as error:
            yield self._differ(answer.first, _told(answer.bodies), {"refused": str(error)})
            return
        if bodies != answer.bodies:
            yield self._differ(answer.first, _told(answer.bodies), _told(bodies))

    def _differ(self, event: Recorded, recorded: object, now: object) -> Difference:
        self._given_up.add(event.key)
        self._answers.pop(event.key, None)
        return Difference(position=event.position, key=event.key, recorded=recorded, now=now)

    # --- policies whose facts are in the log -----------------------------------------------------

    def _ask_policy(self, event: Recorded, before: Any) -> Iterator[Difference]:
        if isinstance(event.body, t.TurnQueued):
            self._lanes[event.key] = event.body
        queued = self._lanes.get(event.key)
        if queued is not None:
            yield from self._judge(event, queued)
        if event.body.TOPIC.startswith("signal."):
            yield from self._admit(event, before)

    def _judge(self, event: Recorded, queued: t.TurnQueued) -> Iterator[Difference]:
        """Ask the rules of evidence about a report that the log keeps."""
        match event.body:
            case t.TurnSucceeded(report=report):
                recorded = Judgement(verdict=Verdict.SUCCEEDED)
            case t.TurnTimedOut(report=report):
                recorded = Judgement(verdict=Verdict.TIMED_OUT, reason="time-limit")
            case t.TurnBlocked(report=report, reason=reason):
                recorded = Judgement(verdict=Verdict.BLOCKED, reason=reason)
            case t.TurnFailed(report=report, reason=reason, missing=missing) if report is not None:
                recorded = Judgement(verdict=Verdict.FAILED, reason=reason, missing=missing)
            case t.TurnRecovering(report=report, missing=missing):
                recorded = Judgement(verdict=Verdict.FAILED, missing=missing)
            case _:
                return
        self.decisions += 1
        again = judge(report, lane=queued.kind.lane, is_ticket=queued.ticket is not None)
        if isinstance(event.body, t.TurnRecovering):
            # What it lacks is on the record, and says all; the reason's own word isn't.
            again = replace(again, reason="")
        if again != recorded:
            yield self._differ(event, _judged(recorded), _judged(again))

    def _admit(self, event: Recorded, before: Any) -> Iterator[Difference]:
        """Ask admission again where its answer rests on nothing but the arrival and its source.

        Who we were and which words were set isn't in the log; an arrival that can't be read, or
        that repeats one, has the same outcome whoever we are.
        """
        match event.body:
            case (
                s.SignalAccepted(arrival=arrival, reason=reason, rule=rule)
                | s.SignalSuppressed(arrival=arrival, reason=reason, rule=rule)
                | s.SignalRefused(arrival=arrival, reason=reason, rule=rule)
            ):
                pass
            case _:
                return
        if not arrival.problem and not (arrival.is_mention and before.is_addressed):
            return
        self.decisions += 1
        again = admit_mention(
            arrival,
            signal=before,
            signal_key=f"{event.key}@{event.version - 1}",
            thread=LIFECYCLES["thread"].initial,
            has_work_in_thread=False,
            ourselves=Ourselves(aliases=(), identifier="", id=None),
            vocabulary=Vocabulary(),
            agent_turns_max=1,
        )
        outcome: type[Event]
        match again:
            case Suppressed():
                outcome = s.SignalSuppressed
            case Refused():
                outcome = s.SignalRefused
            case _:
                outcome = s.SignalAccepted
        if (type(event.body), reason, rule) != (outcome, again.reason, again.rule):
            yield self._differ(
                event,
                {"type": event.body.TOPIC, "reason": reason, "rule": rule},
                {"type": outcome.TOPIC, "reason": again.reason, "rule": again.rule},
            )


def _told(bodies: Sequence[Event]) -> list[object]:
    return [{"type": body.TOPIC, "data": body} for body in bodies]


def _judged(judgement: Judgement) -> dict[str, object]:
    return {
        "verdict": judgement.verdict.value,
        "reason": judgement.reason,
        "missing": list(judgement.missing),
    }


def verify(
    events: Iterable[Recorded], *, progress: Callable[[int], None] | None = None
) -> tuple[int, list[Difference]]:
    """Return how many decisions were made again, and the first difference of each aggregate.

    Shapes: `events` start at the log's beginning, in order.
    """
    verification = Verification()
    found: list[Difference] = []
    for event in events:
        found.extend(verification.see(event))
        if progress is not None:
            progress(event.position)
    found.extend(verification.end())
    return verification.decisions, sorted(found, key=lambda difference: difference.position)
