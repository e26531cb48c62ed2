"""Starts turns in the order of their queues, and stays with each run until its process is gone."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from logging import getLogger

from ov_es_adapters.daemon.consequences import hand_over_steps, stop_steps
from ov_es_adapters.daemon.intake import Intake
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.prompting import Prompts
from ov_es_adapters.daemon.redacting import redacted_report
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.daemon.settlement import Settlement
from ov_es_adapters.errors import PeerRefusedError, StoreError, ToolCallError
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.ports import Clock, Ids, Run, RunRequest, Runtime, Worktrees
from ov_es_adapters.redaction import Redactor
from ov_es_domain.identity import ticket_ids
from ov_es_domain.observation import RunReport
from ov_es_domain.policy import lanes
from ov_es_domain.policy.admission import second_look
from ov_es_domain.policy.team_facts import TicketFacts
from ov_es_domain.policy.witnesses import weighed
from ov_es_domain.recorded import Recorded
from ov_es_domain.ticket.commands import PauseTicket, ReleaseTicket, StartTicket
from ov_es_domain.ticket.machine import TicketState
from ov_es_domain.turn.aggregate import Turn
from ov_es_domain.turn.commands import DeferTurn, NoteSpawn, ReleaseTurn, RequestStop, StartTurn
from ov_es_domain.turn.events import TurnStopRequested
from ov_es_domain.turn.kinds import Lane, StopReason, TurnKind
from ov_es_domain.turn.machine import TurnState
from ov_es_projections.open_turns import in_order

_LOGGER = getLogger("ov_es.dispatcher")
_GROUP_PAUSE_SECONDS = 5.0
_POSTING_TOOLS = frozenset({"post_message"})


class Dispatcher:
    """One loop that starts, and one task for each turn that was started."""

    def __init__(  # noqa: PLR0913 - the parts that a run touches
        self,
        ledger: Ledger,
        team: TeamClient,
        intake: Intake,
        settlement: Settlement,
        prompts: Prompts,
        *,
        clock: Clock,
        ids: Ids,
        runtime: Runtime,
        worktrees: Worktrees,
        redactor: Redactor,
        settings: WatchSettings,
        workdir: str | None,
        epoch: Callable[[], int],
        holds_back_seconds: Callable[[], float],
    ) -> None:
        """`epoch` is the fencing token that starts carry; `workdir` the workspace's root.

        `holds_back_seconds` tells how long answers wait for older ones to be found.
        """
        self._ledger = ledger
        self._team = team
        self._intake = intake
        self._settlement = settlement
        self._prompts = prompts
        self._clock = clock
        self._ids = ids
        self._runtime = runtime
        self._worktrees = worktrees
        self._redactor = redactor
        self._settings = settings
        self._workdir = workdir
        self._epoch = epoch
        self._holds_back_seconds = holds_back_seconds
        self._news = asyncio.Event()
        self._cycles: dict[str, asyncio.Task[None]] = {}
        self._starting: dict[str, tuple[Lane, str]] = {}
        self._runs: dict[str, Run] = {}
        self._stops: set[asyncio.Task[None]] = set()
        self._is_stopping = False
        ledger.subscribe(self._notice)

    def _notice(self, event: Recorded) -> None:
        if isinstance(event.body, TurnStopRequested) and event.key in self._runs:
            stop = asyncio.create_task(self._runs[event.key].stop())
            self._stops.add(stop)
            stop.add_done_callback(self._stops.discard)
        if event.key.startswith("turn:"):
            self._news.set()

    def wake(self) -> None:
        """Look at the queues again."""
        self._news.set()

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs, and nothing waits that could start without waiting for a time."""
        return not self._cycles and not self._ledger.view.rows("open_turns")

    async def run(self, cycles: asyncio.TaskGroup) -> None:
        """Start what is due, whenever something happened or a turn's time has come."""
        while True:
            self._news.clear()
            wait = None if self._is_stopping else self._start_due(cycles)
            # Not `wait_for`: it can lose a cancellation that comes together with the news.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._news.wait()

    def _start_due(self, cycles: asyncio.TaskGroup) -> float | None:
        """Start what may start; return the seconds until the next turn's time, if any."""
        now = self._clock.now()
        rows = in_order(self._ledger.view.rows("open_turns"))
        held = self._holds_back_seconds()
        next_time: float | None = held or None
        for lane, slots in ((Lane.REPLY, 1), (Lane.WORK, self._settings.concurrency)):
            mine = [row for row in rows if row["lane"] == lane.value]
            busy = [
                str(row["turn_group"] or "")
                for row in mine
                if row["state"] in {TurnState.RUNNING.value, TurnState.RECOVERING.value}
                and row["key"] not in self._starting
            ]
            busy += [group for where, group in self._starting.values() if where is lane]
            waiting = [
                lanes.Waiting(
                    key=str(row["key"]),
                    lane=lane,
                    group=str(row["turn_group"] or ""),
                    not_before=float(row["not_before"] or 0.0),
                    thread=str(row["thread"] or ""),
                    source=str(row["source"]),
                )
                for row in mine
                if row["state"] == TurnState.QUEUED.value and row["key"] not in self._cycles
            ]
            free = [entry for entry in waiting if not (held and entry.thread)]
            starting, deferred = lanes.due(
                lanes.oldest_first_in_threads(free),
                running_groups=busy,
                running=len(busy),
                slots=slots,
                now=now,
            )
            for entry in starting:
                self._starting[entry.key] = (lane, entry.group)
                self._cycles[entry.key] = cycles.create_task(self._cycle(entry.key))
            times = [entry.until for entry in deferred if entry.until is not None]
            if times:
                soonest = max(0.0, min(times) - now)
                next_time = soonest if next_time is None else min(next_time, soonest)
        return next_time

    # --- one cycle -------------------------------------------------------------------------------

    async def _cycle(self, key: str) -> None:
        """Carry one turn from its start to its settlement (CY-6).

        What fails in it by a defect of ours ends this turn alone, and the queue goes on (Q-109).
        """
        try:
            await self._serve(key)
        except (StoreError, PeerRefusedError):
            raise
        except Exception:
            _LOGGER.exception("%s failed by a defect of ov-es", key)
            await self._settlement.give_up(key, "internal-error")
        finally:
            self._starting.pop(key, None)
            self._runs.pop(key, None)
            self._cycles.pop(key, None)
            self._news.set()

    async def _serve(self, key: str) -> None:
        turn = self._ledger.view.turn(key)
        facts = None
        if turn.ticket is not None:
            facts = await self._look_again(key, turn)
            if facts is None:
                return
        directory, group = await self._directory(turn, facts)
        execution = self._ids.execution()
        await self._ledger.commit(
            lambda view: self._plan_start(view, key, execution, directory, group)
        )
        while True:
            turn = self._ledger.view.turn(key)
            self._starting.pop(key, None)
            if not turn.is_running or turn.execution != execution:
                return
            report = await self._run(key, turn, facts)
            following = await self._settlement.settle(key, execution, turn.attempt, report)
            if following.execution is None:
                return
            execution = following.execution

    async def _look_again(self, key: str, turn: Turn) -> TicketFacts | None:
        """Ask for the ticket once more before any model starts (TK-22 to TK-24)."""
        ticket_key = turn.ticket
        if ticket_key is None:
            raise AssertionError("only a ticket's turn is looked at again")
        try:
            facts = await self._team.ticket(*ticket_ids(ticket_key))
        except ToolCallError as error:
            _LOGGER.warning("%s isn't started: %s", key, error.reason)
            await self._ledger.commit(lambda view: _plan_release(view, key, "ticket-unreadable"))
            return None
        ourselves = self._intake.ourselves
        ticket = self._ledger.view.ticket(ticket_key)
        is_recovery = turn.first_report is not None
        reason = second_look(facts, ticket=ticket, ourselves=ourselves, is_recovery=is_recovery)
        if reason is None:
            return facts
        if reason == "not-ours":
            owner = facts.agent_identifier or str(facts.agent_id or "")
            await self._ledger.commit(lambda view: _plan_hand_over(view, ticket_key, owner))
        else:
            await self._ledger.commit(lambda view: _plan_release(view, key, reason))
        return None

    async def _directory(self, turn: Turn, facts: TicketFacts | None) -> tuple[str | None, str]:
        """Return where it runs, and the group of that directory (GIT-103, Q-116)."""
        if turn.kind is not TurnKind.FULL:
            return None, ""
        found = None
        if facts is not None:
            found = await self._worktrees.prepare(str(facts.ticket_id), facts.slug)
        return (found, found) if found else (self._workdir, lanes.SHARED_GROUP)

    def _plan_start(
        self, view: View, key: str, execution: str, directory: str | None, group: str
    ) -> Decision | None:
        turn = view.turn(key)
        if turn.state != TurnState.QUEUED or self._is_stopping:
            return None
        if group != turn.group and _is_busy(view, group):
            # Its directory isn't the one that it queued for, and somebody works there.
            until = self._clock.now() + _GROUP_PAUSE_SECONDS
            defer = DeferTurn(reason="group-busy", until=until)
            return Decision(
                steps=[Step(key, defer)],
                cause=view.reference(key),
                correlation=turn.ticket or turn.thread or turn.source,
            )
        start = StartTurn(
            execution=execution,
            epoch=self._epoch(),
            runtime=self._runtime.name,
            model=self._model(turn),
            directory=directory,
            group=group,
        )
        steps = [Step(key, start)]
        if turn.ticket is not None:
            steps.append(Step(turn.ticket, StartTicket(turn=key, execution=execution), key))
        return Decision(
            steps=steps,
            cause=view.reference(key),
            correlation=turn.ticket or turn.thread or turn.source,
        )

    def _model(self, turn: Turn) -> str | None:
        return lanes.model_for(
            turn.kind,
            main=self._settings.model,
            chat=self._settings.chat_model,
            has_one_model=self._runtime.name == "codex",
        )

    async def _run(self, key: str, turn: Turn, facts: TicketFacts | None) -> RunReport:
        """Spawn, stay with it, and look at the directory before and after."""
        before = None
        if turn.directory is not None:
            before = await self._worktrees.snapshot(turn.directory)
        is_coding = turn.kind is TurnKind.FULL
        run = await self._runtime.start(
            RunRequest(
                source=turn.source,
                lane=turn.lane.value,
                kind=turn.kind.value,
                attempt=turn.attempt,
                execution=turn.execution,
                prompt=self._prompts.prompt(turn, facts),
                system_prompt=self._prompts.charter(turn),
                directory=turn.directory,
                model=self._model(turn),
                time_limit_seconds=(
                    self._settings.work_limit_seconds
                    if is_coding
                    else self._settings.reply_limit_seconds
                ),
                disabled_tools=_POSTING_TOOLS,
            )
        )
        self._runs[key] = run
        if run.identity is not None:
            identity = run.identity
            spawned = NoteSpawn(
                execution=turn.execution,
                pid=identity.pid,
                started=identity.started,
                marker=identity.marker,
            )
            await self._ledger.commit(lambda view: _plan_one(view, key, spawned))
        if self._ledger.view.turn(key).stop is not None:
            await run.stop()
        try:
            report = redacted_report(await run.wait(), self._redactor)
        except BaseException:
            # Whatever fails here, nothing that was started may outlive it.
            await asyncio.shield(run.stop())
            raise
        self._runs.pop(key, None)
        if before is not None:
            report = replace(report, workspace=await self._worktrees.compare(before))
        return weighed(report)

    # --- ends ------------------------------------------------------------------------------------

    async def interrupt(self, source: str) -> None:
        """End the turn of a source because a person says so, whether it waits or runs."""

        def plan(view: View) -> Decision | None:
            steps: list[Step] = []
            for row in view.rows("open_turns", source=source):
                key = str(row["key"])
                turn = view.turn(key)
                steps += stop_steps(view, key, StopReason.PERSON, "a person", None)
                if turn.ticket is not None and not turn.is_running:
                    pause = PauseTicket(reason=StopReason.PERSON.value, revision=None)
                    steps.append(Step(turn.ticket, pause, key))
            if not steps:
                return None
            return Decision(steps=steps, cause="operator:interrupt", correlation=source)

        await self._ledger.commit(plan)

    async def stop(self) -> None:
        """Start nothing more, stop what runs, and wait for every one of them (PR-6)."""
        self._is_stopping = True
        self._news.set()
        await self._stop_runs()
        if self._cycles:
            await asyncio.wait(list(self._cycles.values()))

    async def _stop_runs(self) -> None:
        for key in list(self._cycles):
            await self._ledger.commit(partial(_plan_stop, key=key))


def _is_busy(view: View, group: str) -> bool:
    return bool(group) and any(
        view.turn(str(row["key"])).is_running for row in view.rows("open_turns", turn_group=group)
    )


def _plan_stop(view: View, key: str) -> Decision | None:
    if not view.turn(key).is_running:
        return None
    request = RequestStop(reason=StopReason.SHUTDOWN, by="the watcher's stop")
    return _plan_one(view, key, request)


def _plan_one(view: View, key: str, command: NoteSpawn | RequestStop) -> Decision:
    turn = view.turn(key)
    return Decision(
        steps=[Step(key, command)],
        cause=view.reference(key),
        correlation=turn.ticket or turn.thread or turn.source,
    )


def _plan_release(view: View, key: str, reason: str) -> Decision | None:
    turn = view.turn(key)
    if turn.state != TurnState.QUEUED or turn.ticket is None:
        return None
    steps = [Step(key, ReleaseTurn(reason=reason))]
    if view.ticket(turn.ticket).state == TicketState.QUEUED:
        steps.append(Step(turn.ticket, ReleaseTicket(reason=reason), key))
    return Decision(steps=steps, cause=view.reference(key), correlation=turn.ticket)


def _plan_hand_over(view: View, ticket: str, owner: str) -> Decision | None:
    if view.ticket(ticket).state == TicketState.HANDED_OVER:
        return None
    return Decision(
        steps=hand_over_steps(view, ticket, owner, because=None),
        cause=view.reference(ticket),
        correlation=ticket,
    )
