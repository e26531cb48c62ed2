"""Gives every arrival its one outcome, from the socket and from reconciliation alike."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection
from logging import getLogger

from ov_es_adapters.daemon.consequences import (
    blocker_step,
    hand_over_steps,
    open_turns_in,
    stop_steps,
)
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.errors import ToolCallError
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.ports import Worktrees
from ov_es_domain.delivery.commands import OweDelivery
from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.identity import (
    Identifier,
    delivery_key,
    reply_slot,
    report_slot,
    signal_key,
    ticket_key,
    turn_key,
)
from ov_es_domain.policy import wording
from ov_es_domain.policy.admission import (
    Admitted,
    HandsOver,
    Ourselves,
    Redirects,
    Refused,
    StandsDown,
    Suppressed,
    admit_mention,
    admit_ticket,
)
from ov_es_domain.policy.lanes import SHARED_GROUP, kind_of_mention, kind_of_ticket
from ov_es_domain.policy.team_facts import TicketFacts
from ov_es_domain.policy.vocabulary import Vocabulary
from ov_es_domain.signal.arrival import Arrival, ArrivalKind
from ov_es_domain.signal.commands import AcceptSignal, RefuseSignal, SuppressSignal
from ov_es_domain.thread.commands import (
    NoteThreadTurn,
    RedirectThread,
    StandThreadDown,
    WakeThread,
)
from ov_es_domain.ticket.commands import (
    BlockTicket,
    QueueTicket,
    ReleaseTicket,
    SeeTicket,
)
from ov_es_domain.ticket.machine import TicketState
from ov_es_domain.turn.commands import QueueTurn
from ov_es_domain.turn.kinds import StopReason, TurnKind

_LOGGER = getLogger("ov_es.intake")
_RELEASABLE = {TicketState.SEEN, TicketState.PAUSED, TicketState.BLOCKED}


class Intake:
    """Admits arrivals: one commit holds the outcome and all that follows from it."""

    def __init__(  # noqa: PLR0913 - the parts that an admission asks
        self,
        ledger: Ledger,
        team: TeamClient,
        worktrees: Worktrees,
        settings: WatchSettings,
        vocabulary: Vocabulary,
        authorized_roots: Callable[[], Collection[str]],
    ) -> None:
        """`authorized_roots` tells which repositories a person has authorized for pushing."""
        self._ledger = ledger
        self._team = team
        self._worktrees = worktrees
        self._settings = settings
        self._vocabulary = vocabulary
        self.authorized_roots = authorized_roots
        self._ticket_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def ourselves(self) -> Ourselves:
        """Who we are, with the numeric id as soon as the log has it."""
        agent = self._settings.agent
        known = self._ledger.view.watch(agent.identifier).agent_id
        return Ourselves(
            aliases=agent.aliases,
            identifier=agent.identifier,
            id=agent.id if known is None else known,
        )

    async def take(self, arrival: Arrival) -> None:
        """Record the outcome of an arrival, and the turn that it leads to."""
        is_ticket = arrival.kind not in {ArrivalKind.MENTION, ArrivalKind.UNKNOWN}
        if is_ticket and not arrival.problem:
            await self._take_ticket(arrival)
        else:
            await self._ledger.commit(lambda view: self._decide_mention(view, arrival))

    # --- mentions, and what can't be read ------------------------------------------------------

    def _decide_mention(self, view: View, arrival: Arrival) -> Decision:
        key = signal_key(arrival.source)
        thread = view.thread(arrival.thread)
        outcome = admit_mention(
            arrival,
            signal=view.signal(key),
            signal_key=view.reference(key),
            thread=thread,
            has_work_in_thread=bool(open_turns_in(view, arrival.thread)),
            ourselves=self.ourselves,
            vocabulary=self._vocabulary,
            agent_turns_max=self._settings.agent_turns_max,
        )
        match outcome:
            case Suppressed(reason=reason, rule=rule, repeats=repeats):
                suppress = SuppressSignal(
                    arrival=arrival, reason=reason, repeats=repeats, rule=rule
                )
                steps = [Step(key, suppress)]
            case Refused(reason=reason, rule=rule):
                steps = [Step(key, RefuseSignal(arrival=arrival, reason=reason, rule=rule))]
            case StandsDown(reason=reason, rule=rule):
                accept = AcceptSignal(arrival=arrival, reason=reason, rule=rule)
                steps = [Step(key, accept), *self._cancel_thread(view, arrival, key)]
            case Redirects(reason=reason, rule=rule):
                refuse = RefuseSignal(arrival=arrival, reason=reason, rule=rule)
                steps = [Step(key, refuse), *self._cancel_thread(view, arrival, key, away=True)]
            case Admitted(reason=reason, rule=rule):
                accept = AcceptSignal(arrival=arrival, reason=reason, rule=rule)
                steps = [Step(key, accept), *self._queue_mention(view, arrival, key)]
        return Decision(
            steps=steps,
            cause=f"{arrival.via.value}:{arrival.wire_kind or arrival.kind.value}",
            correlation=arrival.thread or arrival.source,
        )

    def _cancel_thread(
        self, view: View, arrival: Arrival, because: str, *, away: bool = False
    ) -> list[Step]:
        """Cancel what waits and what runs for exactly this thread, in both lanes (TH-8)."""
        if arrival.thread is None:
            return []
        by = arrival.sender.name if arrival.sender else ""
        change = RedirectThread if away else StandThreadDown
        steps = [
            Step(arrival.thread, change(by=by, source=arrival.source, at=arrival.at), because)
        ]
        for row in open_turns_in(view, arrival.thread):
            steps += stop_steps(
                view, str(row["key"]), StopReason.THREAD_CANCELLED, by, arrival.thread
            )
        return steps

    def _queue_mention(self, view: View, arrival: Arrival, because: str) -> list[Step]:
        generation = view.signal(because).generation + 1
        by_agent = arrival.sender is not None and arrival.sender.is_agent
        kind = kind_of_mention(
            arrival.text,
            has_workspace=self._settings.has_workspace,
            vocabulary=self._vocabulary,
        )
        steps: list[Step] = []
        if arrival.thread is not None:
            if view.thread(arrival.thread).is_cancelled:
                steps.append(Step(arrival.thread, WakeThread(source=arrival.source), because))
            noted = NoteThreadTurn(source=arrival.source, by_agent=by_agent)
            steps.append(Step(arrival.thread, noted, because))
        message_id: Identifier = (
            arrival.digest if arrival.message_id is None else arrival.message_id
        )
        queue = QueueTurn(
            source=arrival.source,
            generation=generation,
            kind=kind,
            group=SHARED_GROUP if kind is TurnKind.FULL else "",
            ticket=None,
            thread=arrival.thread,
            target=Target(channel_id=arrival.channel_id, parent_id=arrival.root_id),
            slot=reply_slot(arrival.channel_id, message_id),
            title="",
            text=arrival.text,
            sender=arrival.sender.name if arrival.sender else "",
            by_agent=by_agent,
            accepted_at=arrival.at,
        )
        steps.append(Step(turn_key(arrival.source, generation), queue, because))
        return steps

    # --- tickets -------------------------------------------------------------------------------

    async def _take_ticket(self, arrival: Arrival) -> None:
        source = arrival.source
        async with self._ticket_locks[source]:
            facts = await self._read(arrival)
            if facts is None:
                return
            channel_id: Identifier | None = None
            group = SHARED_GROUP
            if self._is_admitted(self._ledger.view, facts, source):
                channel_id = await self._channel(facts.project_id)
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
            _LOGGER.warning("%s can't be read: %s", arrival.source, error.reason)
            refuse = RefuseSignal(arrival=arrival, reason="ticket-unreadable", rule="TK-8")
            await self._ledger.commit(
                lambda _: Decision(
                    steps=[Step(signal_key(arrival.source), refuse)],
                    cause=f"{arrival.via.value}:{arrival.kind.value}",
                    correlation=arrival.source,
                )
            )
            return None

    async def _channel(self, project_id: Identifier) -> Identifier | None:
        try:
            return await self._team.project_channel(project_id)
        except ToolCallError as error:
            _LOGGER.warning("the channel of project %s is unknown: %s", project_id, error.reason)
            return None

    def _is_admitted(self, view: View, facts: TicketFacts, source: str) -> bool:
        return isinstance(self._admit(view, facts, source), Admitted)

    def _admit(
        self, view: View, facts: TicketFacts, source: str
    ) -> Admitted | Suppressed | Refused | HandsOver:
        return admit_ticket(
            facts,
            ticket=view.ticket(source),
            ticket_key=source,
            ourselves=self.ourselves,
            authorized_roots=self.authorized_roots(),
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
                if rule == "TK-10" and view.ticket(source).state in _RELEASABLE:
                    steps.append(Step(source, ReleaseTicket(reason=reason), key))
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
        slot = report_slot(facts.project_id, facts.ticket_id, facts.revision)
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
                blocker_step(view, target, notice, source, None, at=arrival.at, after=source),
            ]
        is_owed = kind is TurnKind.FULL
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
