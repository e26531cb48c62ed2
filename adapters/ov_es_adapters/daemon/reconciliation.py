"""Looks at the whole team without a model, and sends what was missed down the road of live events.

A request that comes while one look is under way is remembered, and one more look follows.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from logging import getLogger

from ov_es_adapters.daemon.intake import Intake
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.reports import report_steps
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.errors import (
    PeerRefusedError,
    StoreError,
    ToolCallError,
    ToolNotAdvertisedError,
)
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.ports import Clock
from ov_es_domain.identity import signal_key, ticket_key, watch_key
from ov_es_domain.policy import wording
from ov_es_domain.policy.admission import Admitted, HandsOver, admit_ticket, is_ours
from ov_es_domain.policy.lanes import priority_rank
from ov_es_domain.policy.team_facts import TicketFacts
from ov_es_domain.signal.arrival import Arrival, ArrivalKind, Via
from ov_es_domain.ticket.machine import TicketState
from ov_es_domain.watch.commands import NoteAgent, NoteReconciliation

_LOGGER = getLogger("ov_es.reconciliation")


class Reconciliation:
    """One look at a time, at the start, at each connection and every five minutes (RC-1)."""

    def __init__(  # noqa: PLR0913 - what a look needs, and who waits for it
        self,
        ledger: Ledger,
        team: TeamClient,
        intake: Intake,
        *,
        clock: Clock,
        settings: WatchSettings,
        on_caught_up: Callable[[], None],
    ) -> None:
        """What's found goes to `intake`; `on_caught_up` is told when nothing more is asked for."""
        self._ledger = ledger
        self._team = team
        self._intake = intake
        self._clock = clock
        self._settings = settings
        self._on_caught_up = on_caught_up
        self._wanted = asyncio.Event()
        self._asked_at = clock.monotonic()
        self._reason = "start"
        self._done = asyncio.Event()

    def request(self, reason: str) -> None:
        """Ask for a look; while one is under way, for one more after it."""
        self._reason = reason
        if self._done.is_set():
            self._asked_at = self._clock.monotonic()
        self._done.clear()
        self._wanted.set()

    def holds_back_seconds(self) -> float:
        """Return how long answers wait at most for a catch-up that was asked for (LOS-02).

        What was missed in a thread is answered before what is newer; a server that doesn't
        answer holds nobody up for long.
        """
        if self._done.is_set():
            return 0.0
        waited = self._clock.monotonic() - self._asked_at
        return max(0.0, self._settings.catch_up_seconds - waited)

    async def finished(self) -> None:
        """Wait until no look is under way and none is asked for."""
        await self._done.wait()

    async def run(self) -> None:
        """Look whenever somebody asks, and when five minutes have passed."""
        while True:
            try:
                async with asyncio.timeout(self._settings.reconcile_seconds):
                    await self._wanted.wait()
            except TimeoutError:
                self._reason = "interval"
            self._wanted.clear()
            try:
                await self._look(self._reason)
            except (StoreError, PeerRefusedError):
                raise
            except Exception:
                # The next one starts clean (RC-3).
                _LOGGER.exception("a reconciliation failed by a defect of ov-es")
            if not self._wanted.is_set():
                self._done.set()
                self._on_caught_up()

    async def _look(self, reason: str) -> None:
        problems: list[str] = []
        await self._learn_who_we_are(problems)
        tickets = await self._candidates(problems)
        for facts in tickets:
            await self._intake.take(self._ticket_arrival(facts))
        mentions = await self._missed_mentions(problems)
        for arrival in mentions:
            await self._intake.take(arrival)
        note = NoteReconciliation(
            reason=reason,
            tickets=len(tickets),
            mentions=len(mentions),
            problem=wording.joined(problems),
        )
        key = watch_key(self._settings.agent.identifier)
        is_news = tickets or mentions or problems or reason != "interval"
        if is_news:
            await self._ledger.commit(
                lambda _: Decision(
                    steps=[Step(key, note)], cause=f"reconciliation:{reason}", correlation=key
                )
            )

    async def _learn_who_we_are(self, problems: list[str]) -> None:
        """Learn our numeric id by our identifier (TK-9)."""
        agent = self._settings.agent.identifier
        try:
            agents = await self._team.agents()
        except ToolCallError as error:
            problems.append(str(error))
            return
        key = watch_key(agent)
        for mine in agents:
            if mine.identifier == agent:
                note = Step(key, NoteAgent(agent_id=mine.id))
                await self._ledger.commit(partial(_plan_note, step=note))

    # --- tickets -------------------------------------------------------------------------------

    async def _candidates(self, problems: list[str]) -> list[TicketFacts]:
        """Return what is ours and actionable, most urgent first, then longest unchanged (RC-7)."""
        found: list[TicketFacts] = []
        try:
            projects = await self._team.projects()
        except ToolCallError as error:
            problems.append(str(error))
            return []
        for project in projects:
            try:
                tasks = await self._team.tasks(project.id)
            except ToolCallError as error:
                problems.append(str(error))
                continue
            found += [facts for facts in tasks if await self._is_candidate(facts)]
        return sorted(
            found,
            key=lambda facts: (
                priority_rank(facts.priority),
                facts.updated_at if facts.updated_at is not None else float("-inf"),
            ),
        )

    async def _is_candidate(self, facts: TicketFacts) -> bool:
        """Ask the same rules as for a live signal; only what would change something goes on."""
        key = ticket_key(facts.project_id, facts.ticket_id)
        view = self._ledger.view
        ticket = view.ticket(key)
        outcome = admit_ticket(
            facts,
            ticket=ticket,
            ticket_key=key,
            ourselves=self._intake.ourselves,
            authorized_roots=self._intake.authorized_roots(),
        )
        if (facts.is_completed or facts.is_in_review) and is_ours(facts, self._intake.ourselves):
            await self._report_if_owed(key, facts)
            return ticket.state in {TicketState.SEEN, TicketState.BLOCKED, TicketState.PAUSED}
        return isinstance(outcome, Admitted | HandsOver)

    async def _report_if_owed(self, key: str, facts: TicketFacts) -> None:
        """Make up for a missed report without running a model again (DL-17, DL-18)."""

        def plan(view: View) -> Decision:
            steps = report_steps(
                view,
                key,
                facts,
                at=self._clock.now(),
                characters_max=self._settings.message_characters_max,
            )
            return Decision(steps=steps, cause=view.reference(key), correlation=key)

        await self._ledger.commit(plan)

    def _ticket_arrival(self, facts: TicketFacts) -> Arrival:
        return Arrival(
            kind=ArrivalKind.TICKET_ASSIGNED,
            via=Via.RECONCILIATION,
            at=self._clock.now(),
            project_id=facts.project_id,
            ticket_id=facts.ticket_id,
        )

    # --- mentions ------------------------------------------------------------------------------

    async def _missed_mentions(self, problems: list[str]) -> list[Arrival]:
        """Return the mentions in the activity that the log has no outcome for (RC-12, WS-16)."""
        try:
            activity = await self._team.activity(at=self._clock.now())
        except ToolNotAdvertisedError:
            return []
        except ToolCallError as error:
            problems.append(str(error))
            return []
        return [arrival for arrival in activity if self._is_news(arrival)]

    def _is_news(self, arrival: Arrival) -> bool:
        """A message that wasn't for us may be so by now: people edit what they said (DUP-12)."""
        signal = self._ledger.view.signal(signal_key(arrival.source))
        is_edited = not signal.is_addressed and signal.seen_text != arrival.text
        return signal.arrivals == 0 or is_edited


def _plan_note(_view: View, step: Step) -> Decision:
    return Decision(steps=[step], cause="reconciliation:list_agents", correlation=step.key)
