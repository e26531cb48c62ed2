"""Closes a ticket after its run: one more look says what is reported, and what we changed.

Restart-safe: what has to be closed is read from the log, never remembered in memory alone.
"""

import asyncio
from functools import partial
from logging import getLogger

from ov_es_adapters.daemon.consequences import hand_over_steps, has_open_notes
from ov_es_adapters.daemon.intake import Intake
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.reports import report_steps
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.errors import ToolCallError
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.ports import Clock
from ov_es_domain.identity import ticket_ids
from ov_es_domain.policy.admission import is_ours
from ov_es_domain.policy.settling import backoff
from ov_es_domain.policy.team_facts import TicketFacts
from ov_es_domain.ticket.commands import NoteTicketRevision, ReportTicket
from ov_es_domain.ticket.machine import TicketState
from ov_es_domain.turn.machine import TurnState

_LOGGER = getLogger("ov_es.closing")


class Closing:
    """Looks at tickets whose run is over, until the look succeeds."""

    def __init__(
        self,
        ledger: Ledger,
        team: TeamClient,
        intake: Intake,
        clock: Clock,
        settings: WatchSettings,
    ) -> None:
        """`intake` knows who we are."""
        self._ledger = ledger
        self._team = team
        self._intake = intake
        self._clock = clock
        self._settings = settings
        self._under_way: set[str] = set()

    def waiting(self) -> list[str]:
        """Return the tickets that are still to be closed, as the log has them."""
        view = self._ledger.view
        keys = [str(row["key"]) for row in view.rows("tickets", state=TicketState.WORKING.value)]
        keys += [str(row["key"]) for row in view.rows("tickets", state=TicketState.PAUSED.value)]
        return [key for key in keys if self._is_waiting(view, key)]

    def _is_waiting(self, view: View, key: str) -> bool:
        ticket = view.ticket(key)
        if ticket.state == TicketState.PAUSED:
            # A note of ours changes the ticket: only what comes after it can be news.
            return ticket.paused_revision is None and not has_open_notes(view, key)
        if ticket.state != TicketState.WORKING or ticket.turn is None:
            return False
        return view.turn(ticket.turn).state == TurnState.SUCCEEDED

    async def close_waiting(self) -> None:
        """Close whatever waits; a ticket that can't be read is asked for again, with back-off."""
        keys = [key for key in self.waiting() if key not in self._under_way]
        await asyncio.gather(*(self._close(key) for key in keys))

    async def _close(self, key: str) -> None:
        self._under_way.add(key)
        try:
            failures = 0
            while self._is_waiting(self._ledger.view, key):
                try:
                    facts = await self._team.ticket(*ticket_ids(key))
                except ToolCallError as error:
                    _LOGGER.warning("%s can't be closed yet: %s", key, error.reason)
                    await asyncio.sleep(
                        backoff(
                            failures,
                            first=self._settings.retry_seconds,
                            most=self._settings.retry_seconds_max,
                        )
                    )
                    failures += 1
                else:
                    await self._ledger.commit(partial(self._plan, key=key, facts=facts))
        finally:
            self._under_way.discard(key)

    def _plan(self, view: View, key: str, facts: TicketFacts) -> Decision | None:
        if not self._is_waiting(view, key):
            return None
        return Decision(
            steps=self._steps(view, key, facts), cause=view.reference(key), correlation=key
        )

    def _steps(self, view: View, key: str, facts: TicketFacts) -> list[Step]:
        ticket = view.ticket(key)
        if not is_ours(facts, self._intake.ourselves):
            owner = facts.agent_identifier or str(facts.agent_id or "")
            return hand_over_steps(view, key, owner, because=None)
        if ticket.state == TicketState.PAUSED:
            return [Step(key, NoteTicketRevision(revision=facts.revision))]
        if ticket.turn is None:
            raise AssertionError("a working ticket has a turn")
        steps = [Step(key, ReportTicket(turn=ticket.turn, revision=facts.revision))]
        if facts.is_completed or facts.is_in_review:
            steps += report_steps(
                view,
                key,
                facts,
                at=self._clock.now(),
                characters_max=self._settings.message_characters_max,
            )
        return steps
