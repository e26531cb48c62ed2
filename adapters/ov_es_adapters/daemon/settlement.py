"""Settles a run whose process is gone: judge it, and record all that follows in one commit."""

from dataclasses import dataclass

from ov_es_adapters.daemon.consequences import blocker_steps, in_parts
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.ports import Clock, Ids
from ov_es_domain.delivery.commands import PlanDelivery
from ov_es_domain.delivery.target import Purpose
from ov_es_domain.observation import RunReport
from ov_es_domain.policy import wording
from ov_es_domain.policy.evidence import Judgement, combine, judge
from ov_es_domain.ticket.commands import BlockTicket, PauseTicket, RequeueTicket
from ov_es_domain.ticket.machine import TicketState
from ov_es_domain.turn.aggregate import Turn
from ov_es_domain.turn.commands import FailTurn, RecoverTurn, RetryTurn, SettleTurn
from ov_es_domain.turn.kinds import Lane, StopReason, TurnKind, Verdict
from ov_es_domain.turn.machine import TurnState

_RETRY_PAUSE_SECONDS = 1.0
_RETRIES_MAX = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """What comes after a settlement."""

    execution: str | None
    """The execution id of the recovery run that must be spawned now; None: the turn let go."""


class Settlement:
    """Brings reports home."""

    def __init__(self, ledger: Ledger, clock: Clock, ids: Ids, settings: WatchSettings) -> None:
        """Write through `ledger`; ask `ids` for the execution id of a recovery."""
        self._ledger = ledger
        self._clock = clock
        self._ids = ids
        self._settings = settings

    async def settle(self, key: str, execution: str, attempt: int, report: RunReport) -> Next:
        """Record what a run came to. Source: CY-11 to CY-21."""
        recovery = self._ids.execution()

        def plan(view: View) -> Decision:
            turn = view.turn(key)
            steps = self._steps(view, key, turn, execution, attempt, report, recovery)
            return Decision(
                steps=steps,
                cause=view.reference(key),
                correlation=turn.ticket or turn.thread or turn.source,
            )

        await self._ledger.commit(plan)
        turn = self._ledger.view.turn(key)
        is_recovering = turn.state == TurnState.RECOVERING and turn.execution == recovery
        return Next(execution=recovery if is_recovering else None)

    def _steps(  # noqa: PLR0913 - one report, with all that identifies it
        self,
        view: View,
        key: str,
        turn: Turn,
        execution: str,
        attempt: int,
        report: RunReport,
        recovery: str,
    ) -> list[Step]:
        whole = combine(turn.first_report, report) if turn.first_report else report
        judgement = judge(whole, lane=turn.lane, is_ticket=turn.ticket is not None)
        settle = SettleTurn(
            execution=execution,
            attempt=attempt,
            verdict=judgement.verdict,
            reason=judgement.reason,
            report=whole,
            missing=judgement.missing,
        )
        is_stale = not turn.is_running or (execution, attempt) != (turn.execution, turn.attempt)
        if is_stale:
            return [Step(key, settle)]
        if turn.stop is not None:
            return [Step(key, settle), *self._after_stop(view, key, turn)]
        if judgement.verdict is Verdict.SUCCEEDED:
            return [Step(key, settle), *self._answer(key, turn, whole)]
        if judgement.lacks_evidence and turn.state == TurnState.RUNNING:
            recover = RecoverTurn(
                execution=execution,
                attempt=attempt,
                report=report,
                missing=judgement.missing,
                next_execution=recovery,
            )
            return [Step(key, recover)]
        if self._may_retry(turn, judgement):
            retry = RetryTurn(
                execution=execution,
                attempt=attempt,
                report=report,
                reason=judgement.reason,
                not_before=self._clock.now() + _RETRY_PAUSE_SECONDS,
            )
            steps = [Step(key, retry)]
            if turn.ticket is not None:
                steps.append(
                    Step(turn.ticket, RequeueTicket(turn=key, reason=judgement.reason), key)
                )
            return steps
        return [Step(key, settle), *self._failure(view, key, turn, judgement, whole)]

    def _may_retry(self, turn: Turn, judgement: Judgement) -> bool:
        """A reply that failed or came back empty runs once more, then people are told."""
        is_retriable = judgement.verdict in {Verdict.FAILED, Verdict.TIMED_OUT}
        return is_retriable and turn.lane is Lane.REPLY and turn.retries < _RETRIES_MAX

    def _answer(self, key: str, turn: Turn, report: RunReport) -> list[Step]:
        """The watcher's own reply; a ticket's report comes after one more look at the ticket."""
        if turn.slot is None or turn.target is None:
            return []
        plan = PlanDelivery(
            slot=turn.slot,
            purpose=Purpose.INTRODUCTION if turn.kind is TurnKind.INTRO else Purpose.REPLY,
            target=turn.target,
            content=report.stream.text.strip(),
            source=turn.source,
            source_at=turn.accepted_at,
            turn=key,
            ticket=turn.ticket,
            thread=turn.thread,
        )
        return in_parts(plan, most=self._settings.message_characters_max, after=key)

    def _after_stop(self, view: View, key: str, turn: Turn) -> list[Step]:
        """Nothing is published for a turn that was stopped (CY-11)."""
        if turn.ticket is None or view.ticket(turn.ticket).state != TicketState.WORKING:
            return []
        if turn.stop is not None and turn.stop.resumes:
            return [Step(turn.ticket, RequeueTicket(turn=key, reason=turn.stop.value), key)]
        if turn.stop is StopReason.PERSON:
            return [Step(turn.ticket, PauseTicket(reason=turn.stop.value, revision=None), key)]
        return []

    def _failure(
        self, view: View, key: str, turn: Turn, judgement: Judgement, report: RunReport
    ) -> list[Step]:
        """People are told, in either lane, and the ticket waits for them (CY-13, CY-19)."""
        label = view.ticket(turn.ticket).label if turn.ticket is not None else None
        steps: list[Step] = []
        note: str | None = None
        if judgement.verdict is Verdict.BLOCKED:
            root = report.stream.policy_block or turn.directory
            notice = wording.push_notice(label, root)
            note = wording.push_note()
            if turn.ticket is not None:
                blocked = BlockTicket(reason=judgement.reason, root=root)
                steps.append(Step(turn.ticket, blocked, key))
        else:
            notice = wording.failure_notice(
                judgement,
                lane=turn.lane,
                label=label,
                recovered=turn.first_report is not None,
            )
            if turn.ticket is not None:
                steps.append(
                    Step(turn.ticket, PauseTicket(reason=judgement.reason, revision=None), key)
                )
        if turn.target is not None and turn.kind is not TurnKind.INTRO:
            # Nobody waits for an introduction, so nobody has to hear that there's none.
            now = self._clock.now()
            steps += blocker_steps(
                view, turn.target, notice, turn.source, key, at=now, after=key, note=note
            )
        return steps

    async def give_up(self, key: str, reason: str) -> None:
        """End a turn that our own side can't carry through, and tell people (Q-109)."""
        judgement = Judgement(verdict=Verdict.FAILED, reason=reason)

        def plan(view: View) -> Decision | None:
            turn = view.turn(key)
            if not turn.is_open:
                return None
            return Decision(
                steps=give_up_steps(view, key, judgement, at=self._clock.now()),
                cause=view.reference(key),
                correlation=turn.ticket or turn.thread or turn.source,
            )

        await self._ledger.commit(plan)


def give_up_steps(view: View, key: str, judgement: Judgement, *, at: float) -> list[Step]:
    """Return how a turn ends without a report, its ticket and its blocker with it."""
    turn = view.turn(key)
    label = view.ticket(turn.ticket).label if turn.ticket is not None else None
    steps = [Step(key, FailTurn(reason=judgement.reason))]
    if turn.ticket is not None:
        steps.append(Step(turn.ticket, PauseTicket(reason=judgement.reason, revision=None), key))
    if turn.target is not None and turn.kind is not TurnKind.INTRO:
        notice = wording.failure_notice(judgement, lane=turn.lane, label=label, recovered=False)
        steps += blocker_steps(view, turn.target, notice, turn.source, key, at=at, after=key)
    return steps
