"""The one exit: each message that the watcher posts goes through here, and is looked for first.

Intent before effect: an attempt is in the log before the call is made, and an attempt whose
answer was lost is settled by looking, never by posting blindly again.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from logging import getLogger

from ov_es_adapters.daemon.exit_checks import ExitChecks, about
from ov_es_adapters.daemon.intake import Intake
from ov_es_adapters.daemon.ledger import Decision, Ledger, View
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.errors import (
    CallNotAppliedError,
    CallRefusedError,
    CallUnknownError,
    PeerRefusedError,
    StoreError,
    ToolCallError,
)
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.ports import Clock
from ov_es_domain.delivery import commands as c
from ov_es_domain.delivery.aggregate import Delivery
from ov_es_domain.delivery.machine import DeliveryState
from ov_es_domain.delivery.target import Purpose
from ov_es_domain.identity import Identifier, ticket_ids
from ov_es_domain.lifecycle import Command
from ov_es_domain.policy.settling import backoff, same_content
from ov_es_domain.recorded import Recorded
from ov_es_projections.projection import Row

_LOGGER = getLogger("ov_es.delivery")
_FIRST_LOOK_SECONDS = 1.0
_NOTE_FIELD = "blocker"
"""The field of a ticket's update that holds a note, where the server has no comments."""


def _lane(row: Row) -> str:
    """Return what posts of one place share: there they go out one after another."""
    if row["purpose"] == Purpose.NOTE.value:
        return f"notes of {row['ticket']}"
    return str(row["thread"] or f"channel:{row['channel_id']}")


class DeliveryPump:
    """Looks, posts and records, one delivery at a time in each thread."""

    def __init__(  # noqa: PLR0913 - the parts that a post touches
        self,
        ledger: Ledger,
        team: TeamClient,
        intake: Intake,
        *,
        clock: Clock,
        settings: WatchSettings,
        epoch: Callable[[], int],
    ) -> None:
        """`intake` knows who we are; `epoch` is the fencing token that attempts carry."""
        self._ledger = ledger
        self._team = team
        self._clock = clock
        self._settings = settings
        self._checks = ExitChecks(intake, clock, settings)
        self._epoch = epoch
        self._news = asyncio.Event()
        self._busy: dict[str, asyncio.Task[None]] = {}
        self._is_stopping = False
        ledger.subscribe(self._notice)

    def _notice(self, event: Recorded) -> None:
        if event.key.startswith("delivery:"):
            self._news.set()

    @property
    def is_idle(self) -> bool:
        """Whether no message is promised that could go out without waiting for anything."""
        rows = self._ledger.view.rows("deliveries", state=DeliveryState.PLANNED.value)
        return not self._busy and not rows

    async def run(self, tasks: asyncio.TaskGroup) -> None:
        """Serve what is due, whenever something happened or a delivery's time has come."""
        while True:
            self._news.clear()
            wait = None if self._is_stopping else self._serve_due(tasks)
            # Not `wait_for`: it can lose a cancellation that comes together with the news.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._news.wait()

    async def stop(self) -> None:
        """Begin no post any more, and wait for those under way."""
        self._is_stopping = True
        self._news.set()
        if self._busy:
            await asyncio.wait(list(self._busy.values()))

    def _serve_due(self, tasks: asyncio.TaskGroup) -> float | None:
        """Start what is due in each thread; return the seconds until the next time, if any."""
        now = self._clock.now()
        states = (DeliveryState.PLANNED.value, DeliveryState.UNKNOWN.value)
        rows = [row for s in states for row in self._ledger.view.rows("deliveries", state=s)]
        next_time: float | None = None
        for row in sorted(rows, key=lambda row: int(row["place"] or 0)):
            lane = _lane(row)
            if self._waits_for_another_part(str(row["key"])):
                continue
            wait = float(row["due"] or 0.0) - now
            if wait > 0:
                next_time = wait if next_time is None else min(next_time, wait)
            elif lane not in self._busy:
                self._busy[lane] = tasks.create_task(self._serve(str(row["key"]), lane))
        return next_time

    def _waits_for_another_part(self, key: str) -> bool:
        previous = self._ledger.view.delivery(key).previous
        return previous is not None and self._ledger.view.delivery(previous).is_open

    async def _serve(self, key: str, lane: str) -> None:
        try:
            await self._carry(key)
        except (StoreError, PeerRefusedError):
            raise
        except Exception:
            # A defect of ours in one delivery doesn't keep the others from going out.
            _LOGGER.exception("%s failed by a defect of ov-es", key)
            await self._postpone(key, "internal-error")
        finally:
            self._busy.pop(lane, None)
            self._news.set()

    # --- one delivery ----------------------------------------------------------------------------

    async def _carry(self, key: str) -> None:
        """Take the next step of one delivery. Source: DL-2 to DL-12, TH-17."""
        # An operator may have decided about it in a process of their own.
        self._ledger.refresh(key)
        if await self._ledger.commit(lambda view: self._checks.before_the_look(view, key)):
            return
        if not await self._is_wanted_on_its_ticket(key):
            return
        delivery = self._ledger.view.delivery(key)
        if delivery.purpose is Purpose.NOTE:
            await self._carry_note(key)
            return
        try:
            thread = await self._team.thread(delivery.target.channel_id, delivery.target.parent_id)
        except CallRefusedError as error:
            await self._give_up(key, f"thread-refused: {error.reason}")
            return
        except ToolCallError as error:
            await self._postpone(key, f"thread-unreadable: {error.reason}")
            return
        await self._ledger.commit(lambda view: self._checks.clock(view, delivery, thread))
        recorded = await self._ledger.commit(
            lambda view: self._checks.with_thread(view, key, thread, self._epoch())
        )
        if self._ledger.view.delivery(key).state == DeliveryState.ATTEMPTING and recorded:
            await self._call(key, self._post)

    async def _is_wanted_on_its_ticket(self, key: str) -> bool:
        """Ask for the ticket that the message is about, right before it's told (STP-07)."""
        delivery = self._ledger.view.delivery(key)
        if delivery.ticket is None or delivery.state != DeliveryState.PLANNED:
            return True
        try:
            facts = await self._team.ticket(*ticket_ids(delivery.ticket))
        except CallRefusedError as error:
            if delivery.purpose is Purpose.BLOCKER:
                # It claims nothing about the ticket, and people still wait for a word.
                return True
            await self._give_up(key, f"ticket-refused: {error.reason}")
            return False
        except ToolCallError as error:
            await self._postpone(key, f"ticket-unreadable: {error.reason}")
            return False
        withheld = await self._ledger.commit(
            lambda view: self._checks.with_ticket(view, key, facts)
        )
        return not withheld

    async def _carry_note(self, key: str) -> None:
        """Put a note on a ticket; whether a lost one is there can't be seen (BL-7)."""
        if self._ledger.view.delivery(key).state == DeliveryState.UNKNOWN:
            await self._give_up(key, "unknown: no tool shows whether the note is there")
            return

        def intend(view: View) -> Decision | None:
            if view.delivery(key).state != DeliveryState.PLANNED:
                return None
            return about(view, key, c.AttemptDelivery(epoch=self._epoch(), rendered=0))

        if await self._ledger.commit(intend):
            await self._call(key, self._write_note)

    async def _give_up(self, key: str, reason: str) -> None:
        """What a refused place can't take isn't put elsewhere either (ADR-11)."""

        def plan(view: View) -> Decision | None:
            if not view.delivery(key).is_open:
                return None
            gone = c.AbandonDelivery(reason=reason, by="the team's server")
            return about(view, key, gone)

        await self._ledger.commit(plan)

    async def _post(self, delivery: Delivery) -> Identifier | None:
        channel = delivery.target.channel_id
        if channel is None:
            raise AssertionError("a delivery without a channel is never attempted")
        return await self._team.post(channel, delivery.target.parent_id, delivery.content)

    async def _write_note(self, delivery: Delivery) -> None:
        """Write it as a comment where the server has that, else into the ticket itself."""
        if delivery.ticket is None:
            raise AssertionError("a note is about a ticket")
        project_id, ticket_id = ticket_ids(delivery.ticket)
        if not await self._team.comment(project_id, ticket_id, delivery.content):
            fields = {_NOTE_FIELD: delivery.content}
            await self._team.update_ticket(project_id, ticket_id, fields)

    async def _call(
        self, key: str, effect: Callable[[Delivery], Awaitable[Identifier | None]]
    ) -> None:
        """Make the call whose intent is in the log, and record what became of it."""
        delivery = self._ledger.view.delivery(key)
        command: Command
        try:
            message_id = await effect(delivery)
        except CallUnknownError as error:
            now = self._clock.now()
            command = c.LoseDelivery(
                reason=error.reason,
                look_at=now + _FIRST_LOOK_SECONDS,
                repost_after=now + self._settings.repost_wait_seconds,
            )
        except CallRefusedError as error:
            command = c.AbandonDelivery(reason=f"refused: {error.reason}", by="the team's server")
        except CallNotAppliedError as error:
            until = self._clock.now() + self._pause(delivery, error.retry_after)
            command = c.RefuseDelivery(reason=error.reason, until=until)
        else:
            command = c.ConfirmDelivery(message_id=message_id, proof="answered")

        def settle(view: View) -> Decision | None:
            # An operator may have settled it while the call was under way.
            is_ours = view.delivery(key).state == DeliveryState.ATTEMPTING
            return about(view, key, command) if is_ours else None

        await self._ledger.commit(settle)

    async def hear_late_answer(
        self, arguments: Mapping[str, object], message_id: Identifier | None
    ) -> None:
        """Settle the unknown delivery whose post has been answered after all (OUT-06)."""

        def plan(view: View) -> Decision | None:
            for row in view.rows("deliveries", state=DeliveryState.UNKNOWN.value):
                key = str(row["key"])
                delivery = view.delivery(key)
                target = delivery.target
                asked = (arguments.get("channel_id"), arguments.get("parent_id"))
                if asked == (target.channel_id, target.parent_id) and same_content(
                    str(arguments.get("content", "")), delivery.content
                ):
                    proof = c.ConfirmDelivery(message_id=message_id, proof="late-answer")
                    return about(view, key, proof)
            return None

        await self._ledger.commit(plan)

    def _pause(self, delivery: Delivery, wish: float | None = None) -> float:
        settings = self._settings
        pause = backoff(
            delivery.refusals, first=settings.retry_seconds, most=settings.retry_seconds_max
        )
        return pause if wish is None else max(wish, pause)

    async def _postpone(self, key: str, reason: str) -> None:
        """Wait with a post, or with a look, while the thread can't be read."""
        until = self._clock.now() + self._pause(self._ledger.view.delivery(key))

        def plan(view: View) -> Decision | None:
            match view.delivery(key).state:
                case DeliveryState.PLANNED:
                    return about(view, key, c.DeferDelivery(reason=reason, until=until))
                case DeliveryState.UNKNOWN:
                    return about(view, key, c.LookForDelivery(reason=reason, look_at=until))
                case _:
                    return None

        await self._ledger.commit(plan)
