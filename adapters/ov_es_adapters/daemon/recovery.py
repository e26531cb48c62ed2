"""What a watcher does before anything else: find what the last one left, and look before acting.

Each step asks the log again at the moment at which it acts, so that a list read earlier can't
mislead it (EVT-06).
"""

from functools import partial
from logging import getLogger

from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.daemon.settlement import give_up_steps
from ov_es_adapters.ports import Clock, Processes, ProcessIdentity
from ov_es_domain.delivery.commands import LoseDelivery
from ov_es_domain.delivery.machine import DeliveryState
from ov_es_domain.policy.evidence import Judgement
from ov_es_domain.ticket.commands import PauseTicket, RequeueTicket
from ov_es_domain.ticket.machine import TicketState
from ov_es_domain.turn.commands import InterruptTurn, RequeueTurn
from ov_es_domain.turn.kinds import StopReason, Verdict
from ov_es_domain.turn.machine import TurnState

_LOGGER = getLogger("ov_es.recovery")
_CRASH_PAUSE_SECONDS = 1.0


class Recovery:
    """Settles the leftovers of an earlier life."""

    def __init__(
        self, ledger: Ledger, processes: Processes, clock: Clock, settings: WatchSettings
    ) -> None:
        """`processes` is the world that runs are looked for in."""
        self._ledger = ledger
        self._processes = processes
        self._clock = clock
        self._settings = settings

    async def run(self) -> None:
        """End leftover processes, let their turns wait again, and doubt what was being posted."""
        for row in self._ledger.view.rows("open_turns"):
            key = str(row["key"])
            if row["state"] in {TurnState.RUNNING.value, TurnState.RECOVERING.value}:
                await self._end_leftovers(key)
                await self._ledger.commit(partial(self._plan_lost, key=key))
            elif row["state"] == TurnState.INTERRUPTED.value:
                await self._ledger.commit(partial(self._plan_resumed, key=key))
        for row in self._ledger.view.rows("deliveries", state=DeliveryState.ATTEMPTING.value):
            key = str(row["key"])
            await self._ledger.commit(partial(self._plan_doubt, key=key))

    async def _end_leftovers(self, key: str) -> None:
        """Nothing of the old run may live on beside the new one (PRC-01)."""
        turn = self._ledger.view.turn(key)
        identity = ProcessIdentity(
            pid=turn.pid or 0, started=turn.pid_started, marker=turn.marker or turn.execution
        )
        found = await self._processes.end(identity)
        if found:
            _LOGGER.warning("%s: ended %d processes of an earlier life", key, found)

    def _plan_lost(self, view: View, key: str) -> Decision | None:
        turn = view.turn(key)
        if not turn.is_running:
            return None
        steps = [Step(key, InterruptTurn(reason=StopReason.CRASH))]
        stop = turn.stop or StopReason.CRASH
        if not stop.interrupts:
            return self._decision(view, key, steps)
        if not stop.resumes:
            if turn.ticket is not None:
                pause = PauseTicket(reason=stop.value, revision=None)
                steps.append(Step(turn.ticket, pause, key))
            return self._decision(view, key, steps)
        if turn.crashes + 1 >= self._settings.attempts_max:
            judgement = Judgement(verdict=Verdict.FAILED, reason="crashed-too-often")
            steps += give_up_steps(view, key, judgement, at=self._clock.now())
            return self._decision(view, key, steps)
        return self._decision(view, key, [*steps, *self._again(view, key, stop)])

    def _plan_resumed(self, view: View, key: str) -> Decision | None:
        turn = view.turn(key)
        if turn.state != TurnState.INTERRUPTED or turn.stop is None or not turn.stop.resumes:
            return None
        return self._decision(view, key, self._again(view, key, turn.stop))

    def _again(self, view: View, key: str, stop: StopReason) -> list[Step]:
        turn = view.turn(key)
        pause = _CRASH_PAUSE_SECONDS * turn.crashes
        requeue = RequeueTurn(reason=stop.value, not_before=self._clock.now() + pause)
        steps = [Step(key, requeue)]
        if turn.ticket is not None and view.ticket(turn.ticket).state == TicketState.WORKING:
            steps.append(Step(turn.ticket, RequeueTicket(turn=key, reason=stop.value), key))
        return steps

    def _plan_doubt(self, view: View, key: str) -> Decision | None:
        """An attempt that nobody saw the end of is unknown, never pending (OUT-01)."""
        delivery = view.delivery(key)
        if delivery.state != DeliveryState.ATTEMPTING:
            return None
        now = self._clock.now()
        lose = LoseDelivery(
            reason="the watcher ended in the middle of the call",
            look_at=now,
            repost_after=now + self._settings.repost_wait_seconds,
        )
        return Decision(
            steps=[Step(key, lose)],
            cause=view.reference(key),
            correlation=delivery.ticket or delivery.thread or delivery.source,
        )

    def _decision(self, view: View, key: str, steps: list[Step]) -> Decision:
        turn = view.turn(key)
        return Decision(
            steps=steps,
            cause=view.reference(key),
            correlation=turn.ticket or turn.thread or turn.source,
        )
