"""The watcher: wires the parts of the daemon together, and lives until it's told to stop."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import aclosing
from functools import partial
from logging import getLogger

from ov_es_adapters.daemon.closing import Closing
from ov_es_adapters.daemon.delivery_pump import DeliveryPump
from ov_es_adapters.daemon.dispatcher import Dispatcher
from ov_es_adapters.daemon.intake import Intake
from ov_es_adapters.daemon.introduction import Introduction
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step
from ov_es_adapters.daemon.prompting import Prompts
from ov_es_adapters.daemon.reconciliation import Reconciliation
from ov_es_adapters.daemon.recovery import Recovery
from ov_es_adapters.daemon.redacting import RedactingTools
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.daemon.settlement import Settlement
from ov_es_adapters.daemon.world import World
from ov_es_adapters.errors import (
    BadInputError,
    PeerRefusedError,
    StoreError,
    StoreLockedError,
    StoreUnavailableError,
)
from ov_es_adapters.event_log.log import Fence
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.mcp.team_reading import posted_id
from ov_es_adapters.ports import (
    ConnectionEvent,
    ConnectionLost,
    ConnectionOpened,
    FrameReceived,
    FrameRejected,
)
from ov_es_adapters.vocabulary.reading import english
from ov_es_adapters.websocket.frames import read_frame, rejected_frame
from ov_es_domain.delivery.events import (
    DeliveryAbandoned,
    DeliveryDelivered,
    DeliverySuppressed,
)
from ov_es_domain.identity import watch_key
from ov_es_domain.policy.vocabulary import Vocabulary
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal.arrival import Arrival
from ov_es_domain.ticket.events import TicketPaused
from ov_es_domain.turn.events import TurnSucceeded
from ov_es_domain.watch.commands import (
    BeginWatch,
    EndWatch,
    NoteConnection,
    NoteOutage,
)
from ov_es_domain.watch.events import WatchBegun

_LOGGER = getLogger("ov_es.watcher")
PROGRAM = "ov-es"
_REPORT_SECONDS = 30.0


def _no_roots() -> Collection[str]:
    return ()


class Watcher:
    """One agent's daemon. It takes its world as a parameter, so that a simulation can be one."""

    def __init__(
        self,
        world: World,
        settings: WatchSettings,
        *,
        vocabulary: Vocabulary | None = None,
        authorized_roots: Callable[[], Collection[str]] = _no_roots,
    ) -> None:
        """Nothing happens before `run`. `vocabulary`: None for the English words alone."""
        self._world = world
        self._settings = settings
        self._epoch = 0
        self._stopping = asyncio.Event()
        self._orders: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        self.ledger = Ledger(
            world.log, world.clock, unhealthy_after_seconds=settings.store_retry_seconds
        )
        team = TeamClient(RedactingTools(world.tools, world.redactor))
        self._intake = Intake(
            self.ledger,
            team,
            world.worktrees,
            settings,
            vocabulary or english(),
            authorized_roots,
        )
        self._closing = Closing(self.ledger, team, self._intake, world.clock, settings)
        self._dispatcher = Dispatcher(
            self.ledger,
            team,
            self._intake,
            Settlement(self.ledger, world.clock, world.ids, settings),
            Prompts(
                settings.agent,
                self.ledger.view,
                runtime=world.runtime.name,
                bounds=settings.prompt_bounds,
            ),
            clock=world.clock,
            ids=world.ids,
            runtime=world.runtime,
            worktrees=world.worktrees,
            redactor=world.redactor,
            settings=settings,
            workdir=settings.workdir,
            epoch=lambda: self._epoch,
            holds_back_seconds=lambda: self._reconciliation.holds_back_seconds(),  # noqa: PLW0108 - made below
        )
        self._pump = DeliveryPump(
            self.ledger,
            team,
            self._intake,
            clock=world.clock,
            settings=settings,
            epoch=lambda: self._epoch,
        )
        self._reconciliation = Reconciliation(
            self.ledger,
            team,
            self._intake,
            clock=world.clock,
            settings=settings,
            on_caught_up=self._dispatcher.wake,
        )
        self._introduction = Introduction(self.ledger, world.clock, settings)
        self._recovery = Recovery(self.ledger, world.processes, world.clock, settings)
        self._to_close = asyncio.Event()
        self._readings: set[asyncio.Task[None]] = set()
        self.ledger.subscribe(self._notice)

    # --- orders from outside ---------------------------------------------------------------------

    def stop(self) -> None:
        """Ask for an orderly stop; asking again changes nothing (PR-6)."""
        self._stopping.set()

    def interrupt(self, source: str) -> None:
        """End the turn of a source, because a person says so."""
        self._orders.put_nowait(partial(self._dispatcher.interrupt, source))

    def hear_late_answer(self, tool: str, arguments: Mapping[str, object], result: object) -> None:
        """Take an answer that came after its call was given up: it settles a post (OUT-06)."""
        if tool == "post_message":
            heard = partial(self._pump.hear_late_answer, arguments, posted_id(result))
            self._orders.put_nowait(heard)

    # --- its life --------------------------------------------------------------------------------

    async def run(self) -> None:
        """Watch until `stop`, or, with `once`, until nothing is left to do.

        Raises: BadInputError when the log is another agent's; PeerRefusedError when the team
        refuses our credentials; StoreError when the log can't be used any more, or another
        watcher took over.
        """
        await self._begin()
        await self._recovery.run()
        refusal: list[PeerRefusedError] = []
        try:
            async with asyncio.TaskGroup() as tasks:
                background = [
                    tasks.create_task(self._receive(tasks, refusal)),
                    tasks.create_task(self._reconciliation.run()),
                    tasks.create_task(self._dispatcher.run(tasks)),
                    tasks.create_task(self._pump.run(tasks)),
                    tasks.create_task(self._close_tickets()),
                    tasks.create_task(self._introduction.run()),
                    tasks.create_task(self._obey()),
                    tasks.create_task(self._keep_reports_fresh()),
                    tasks.create_task(self._notice_others()),
                ]
                self._to_close.set()
                self._reconciliation.request("start")
                if self._settings.once:
                    background.append(tasks.create_task(self._stop_when_done()))
                await self._stopping.wait()
                # What wasn't taken by now is found by the next watcher's reconciliation.
                for task in (background[0], *self._readings):
                    task.cancel()
                await self._dispatcher.stop()
                await self._pump.stop()
                for task in background:
                    task.cancel()
        except* PeerRefusedError as group:
            refusal.extend(e for e in group.exceptions if isinstance(e, PeerRefusedError))
        await self._end("refused by the team" if refusal else "stopped")
        if refusal:
            raise refusal[0]

    async def _begin(self) -> None:
        """Take the lease, and raise the fencing token: an older watcher can't record any more."""
        agent = self._settings.agent.identifier
        self._require_own_log(agent)
        key = watch_key(agent)
        host = self._world.host
        begin = BeginWatch(agent=agent, host=host.name, pid=host.pid, program=PROGRAM)
        await self.ledger.begin(key, begin)
        self._epoch = self.ledger.view.watch(agent).epoch
        self.ledger.fence = Fence(key, self._epoch)

    def _require_own_log(self, agent: str) -> None:
        """Refuse another agent's log: what it has handled would count as handled by us (MEM-7)."""
        # A log begins with its watch.
        first = next(self._world.log.stream(), None)
        if first is not None and isinstance(first.body, WatchBegun) and first.body.agent != agent:
            owner = first.body.agent
            raise BadInputError(
                f"this log is {owner}'s, and a log is one agent's alone: "
                f"give {agent} another by --store (on PostgreSQL: another ?schema=)"
            )

    async def _end(self, reason: str) -> None:
        key = watch_key(self._settings.agent.identifier)
        end = EndWatch(epoch=self._epoch, reason=reason)
        await self.ledger.commit(
            lambda view: Decision(
                steps=[Step(key, end)], cause=view.reference(key), correlation=key
            )
        )
        self._world.log.catch_up()

    async def _stop_when_done(self) -> None:
        await self._reconciliation.finished()
        while not self._is_done():  # noqa: ASYNC110 - the parts share no moment of rest to wait for
            await asyncio.sleep(0.05)
        self.stop()

    def _is_done(self) -> bool:
        return self._dispatcher.is_idle and self._pump.is_idle and not self._closing.waiting()

    async def _notice_others(self) -> None:
        """Look now and then whether somebody else wrote: an operator's word counts at once."""
        while True:
            await asyncio.sleep(self._settings.notice_seconds)
            try:
                self.ledger.notice_others()
            except (StoreLockedError, StoreUnavailableError) as error:
                _LOGGER.info("the log can't be looked at now: %s", error)

    async def _keep_reports_fresh(self) -> None:
        """Fold what only reports read now and then, so that they have little to catch up."""
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            try:
                self._world.log.catch_up()
            except (StoreLockedError, StoreUnavailableError) as error:
                _LOGGER.info("the reports aren't folded now: %s", error)

    async def _obey(self) -> None:
        while True:
            order = await self._orders.get()
            await _surviving(order(), "an order from outside")

    # --- what arrives ----------------------------------------------------------------------------

    async def _receive(self, tasks: asyncio.TaskGroup, refusal: list[PeerRefusedError]) -> None:
        async with aclosing(self._world.frames.events()) as events:
            async for event in events:
                await self._receive_one(event, tasks, refusal)

    async def _receive_one(
        self, event: ConnectionEvent, tasks: asyncio.TaskGroup, refusal: list[PeerRefusedError]
    ) -> None:
        match event:
            case ConnectionOpened(number=number):
                await self._note(NoteConnection(number=number), f"socket:{number}")
                self._reconciliation.request("connection")
                self._introduction.notice_connection()
            case ConnectionLost(number=number, reason=reason, is_refused=is_refused):
                await self._note(NoteOutage(number=number, reason=reason), f"socket:{number}")
                if is_refused:
                    refusal.append(PeerRefusedError(f"the team's socket refused us: {reason}"))
                    self.stop()
            case FrameReceived(text=text):
                now = self._world.clock.now()
                said = self._world.redactor.redact(text)
                await self._take(tasks, read_frame(said, at=now))
            case FrameRejected(reason=reason):
                now = self._world.clock.now()
                await self._take(tasks, rejected_frame(reason, at=now))

    async def _take(self, tasks: asyncio.TaskGroup, arrival: Arrival) -> None:
        """Record a mention at once; a ticket has to be read first, and nobody waits for that."""
        if arrival.project_id is not None and not arrival.problem:
            reading = tasks.create_task(_surviving(self._intake.take(arrival), arrival.source))
            self._readings.add(reading)
            reading.add_done_callback(self._readings.discard)
        else:
            await _surviving(self._intake.take(arrival), arrival.source)

    async def _note(self, command: NoteConnection | NoteOutage, cause: str) -> None:
        key = watch_key(self._settings.agent.identifier)
        await self.ledger.commit(
            lambda _: Decision(steps=[Step(key, command)], cause=cause, correlation=key)
        )

    # --- what has to be closed -------------------------------------------------------------------

    def _notice(self, event: Recorded) -> None:
        is_settled = isinstance(
            event.body, DeliveryDelivered | DeliverySuppressed | DeliveryAbandoned
        )
        is_note = is_settled and event.key.startswith("delivery:note:")
        if is_note or isinstance(event.body, TurnSucceeded | TicketPaused):
            self._to_close.set()

    async def _close_tickets(self) -> None:
        while True:
            await self._to_close.wait()
            self._to_close.clear()
            await _surviving(self._closing.close_waiting(), "the closing of tickets")


async def _surviving(work: Awaitable[None], what: str) -> None:
    """Let a defect of ours end one piece of work, and not the watcher.

    What was lost by it is found again: the log has no outcome for it, or still has it waiting.
    """
    try:
        await work
    except (StoreError, PeerRefusedError):
        raise
    except Exception:
        _LOGGER.exception("%s failed by a defect of ov-es", what)
