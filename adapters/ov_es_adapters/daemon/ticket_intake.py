"""Gives every news of a ticket its one outcome: of the frame only the ids are believed (TK-1)."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection
from logging import getLogger

from ov_es_adapters.daemon.consequences import blocker_steps, hand_over_steps
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.reports import (
    free_report_slot,
    report_steps,
    superseded_steps,
)
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.errors import CallRefusedError, ToolCallError
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.ports import Worktrees
from ov_es_domain.delivery.commands import OweDelivery
from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.identity import (
    Identifier,
    delivery_key,
    signal_key,
    ticket_key,
    turn_key,
)
from ov_es_domain.policy import wording
from ov_es_domain.policy.admission import (
    Admitted,
    HandsOver,
    Ourselves,
    Refused,
    Suppressed,
    admit_ticket,
)
from ov_es_domain.policy.lanes import SHARED_GROUP, kind_of_ticket
from ov_es_domain.policy.team_facts import TicketFacts
from ov_es_domain.policy.vocabulary import Vocabulary
from ov_es_domain.signal.arrival import Arrival
from ov_es_domain.signal.commands import AcceptSignal, RefuseSignal, SuppressSignal
from ov_es_domain.ticket.commands import (
    BlockTicket,
    QueueTicket,
    ReleaseTicket,
    SeeTicket,
)
from ov_es_domain.ticket.machine import TicketState
from ov_es_domain.turn.commands import QueueTurn
from ov_es_domain.turn.kinds import TurnKind

_LOGGER = getLogger("ov_es.intake")
_RELEASABLE = {TicketState.SEEN, TicketState.PAUSED, TicketState.BLOCKED}


class TicketIntake:
    """Admits tickets: one commit holds the outcome and all that follows from it."""

    def __init__(  # noqa: PLR0913 - the parts that an admission asks
        self,
        ledger: Ledger,
        team: TeamClient,
        worktrees: Worktrees,
        settings: WatchSettings,
        vocabulary: Vocabulary,
        *,
        ourselves: Callable[[], Ourselves],
        authorized_roots: Callable[[], Collection[str]],
    ) -> None:
        """`ourselves` says who we are, `authorized_roots` which repositories may be pushed."""
        self._ledger = ledger
        self._team = team
        self._worktrees = worktrees
        self._settings = settings
        self._vocabulary = vocabulary
        self._ourselves = ourselves
        self._authorized_roots = authorized_roots
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def take(self, arrival: Arrival) -> None:
        """Record the outcome of an arrival, and the turn that it leads to."""
        source = arrival.source
        async with self._locks[source]:
            facts = await self._read(arrival)
            if facts is None:
                return
            channel_id: Identifier | None = None
            group = SHARED_GROUP
            if self._is_admitted(self._ledger.view, facts, source):
                try:
                    channel_id = await self._channel(facts.project_id)
                except ToolCallError as error:
                    # A place that is unknown now would stay so: it's fixed with the acceptance.
                    await self._put_off(arrival, "channel-unreadable", "DL-1", error)
                    return
                directory = await self._worktrees.find(str(facts.ticket_id), facts.slug)
                group = directory or SHARED_GROUP
            await self._ledger.commit(
                lambda view: self._decide_ticket(view, arrival, facts, channel_id, group)
            )

    async def _read(self, arrival: Arrival) -> TicketFacts | None:
        """Ask for the ticket; where that fails the next reconciliation brings it again (TK-8)."""
        project_id, ticket_id = arrival.project_id, arrival.ticket_id
        if project_id is None or ticket_id is None:
            raise AssertionError("an arrival without a problem has its ids")
        try:
            return await self._team.ticket(project_id, ticket_id)
        except ToolCallError as error:
            await self._put_off(arrival, "ticket-unreadable", "TK-8", error)
            return None

    async def _channel(self, project_id: Identifier) -> Identifier | None:
        """Return where its news go; a server's plain no means that there's no such place."""
        try:
            return await self._team.project_channel(project_id)
        except CallRefusedError as error:
            _LOGGER.warning("project %s has no channel for us: %s", project_id, error.reason)
            return None

    async def _put_off(
        self, arrival: Arrival, reason: str, rule: str, error: ToolCallError
    ) -> None:
        _LOGGER.warning("%s isn't taken up yet, %s: %s", arrival.source, reason, error.reason)
        refuse = RefuseSignal(arrival=arrival, reason=reason, rule=rule)
        await self._ledger.commit(
            lambda _: Decision(
                steps=[Step(signal_key(arrival.source), refuse)],
                cause=f"{arrival.via.value}:{arrival.kind.value}",
                correlation=arrival.source,
            )
        )

    def _is_admitted(self, view: View, facts: TicketFacts, source: str) -> bool:
        return isinstance(self._admit(view, facts, source), Admitted)

    def _admit(
        self, view: View, facts: TicketFacts, source: str
    ) -> Admitted | Suppressed | Refused | HandsOver:
        return admit_ticket(
            facts,
            ticket=view.ticket(source),
            ticket_key=source,
            ourselves=self._ourselves(),
            authorized_roots=self._authorized_roots(),
        )

    def _decide_ticket(
        self,
        view: View,
        arrival: Arrival,
        facts: TicketFacts,
        channel_id: Identifier | None,
        group: str,
    ) -> Decision:
        source = arrival.source
        key = signal_key(source)
        match self._admit(view, facts, source):
            case Suppressed(reason=reason, rule=rule, repeats=repeats):
                suppress = SuppressSignal(
                    arrival=arrival, reason=reason, repeats=repeats, rule=rule
                )
                steps = [Step(key, suppress)]
            case Refused(reason=reason, rule=rule):
                steps = [Step(key, RefuseSignal(arrival=arrival, reason=reason, rule=rule))]
                if rule == "TK-10":
                    if view.ticket(source).state in _RELEASABLE:
                        steps.append(Step(source, ReleaseTicket(reason=reason), key))
                    steps += report_steps(
                        view,
                        source,
                        facts,
                        at=arrival.at,
                        characters_max=self._settings.message_characters_max,
                    )
            case HandsOver(to=to, reason=reason, rule=rule):
                steps = [
                    Step(key, RefuseSignal(arrival=arrival, reason=reason, rule=rule)),
                    *hand_over_steps(view, source, to, because=key),
                ]
            case Admitted(reason=reason, rule=rule):
                accept = AcceptSignal(arrival=arrival, reason=reason, rule=rule)
                steps = [
                    Step(key, accept),
                    *self._queue_ticket(view, arrival, facts, channel_id, group, reason),
                ]
        return Decision(
            steps=steps, cause=f"{arrival.via.value}:{arrival.kind.value}", correlation=source
        )

    def _queue_ticket(  # noqa: PLR0913 - all that one entry holds, and it never changes later
        self,
        view: View,
        arrival: Arrival,
        facts: TicketFacts,
        channel_id: Identifier | None,
        group: str,
        reason: str,
    ) -> list[Step]:
        source = ticket_key(facts.project_id, facts.ticket_id)
        because = signal_key(source)
        generation = view.signal(because).generation + 1
        turn = turn_key(source, generation)
        kind = kind_of_ticket(facts.title, facts.description, vocabulary=self._vocabulary)
        target = Target(channel_id=channel_id, parent_id=None)
        slot = free_report_slot(view, source, facts.revision, generation)
        see = SeeTicket(
            project_id=facts.project_id,
            ticket_id=facts.ticket_id,
            slug=facts.slug,
            title=facts.title,
            revision=facts.revision,
            reason=reason,
        )
        steps = [Step(source, see, because)]
        if kind is TurnKind.FULL and not self._settings.has_workspace:
            blocked = BlockTicket(reason="no-workspace", root=None)
            notice = wording.no_workspace_notice(facts.slug or facts.title)
            return [
                *steps,
                Step(source, blocked, source),
                *blocker_steps(view, target, notice, source, None, at=arrival.at, after=source),
            ]
        is_owed = kind is TurnKind.FULL
        steps += superseded_steps(view, source, slot if is_owed else None)
        steps.append(
            Step(source, QueueTicket(turn=turn, report=slot if is_owed else None), because)
        )
        if is_owed:
            owe = OweDelivery(
                slot=slot,
                purpose=Purpose.REPORT,
                target=target,
                source=source,
                source_at=arrival.at,
                ticket=source,
            )
            steps.append(Step(delivery_key(slot), owe, source))
        queue = QueueTurn(
            source=source,
            generation=generation,
            kind=kind,
            group=group if kind is TurnKind.FULL else "",
            ticket=source,
            thread=None,
            target=target,
            slot=None,
            title=facts.slug or facts.title,
            text=f"{facts.title}\n\n{facts.description}".strip(),
            sender="",
            by_agent=False,
            accepted_at=arrival.at,
        )
        steps.append(Step(turn, queue, source))
        return steps
