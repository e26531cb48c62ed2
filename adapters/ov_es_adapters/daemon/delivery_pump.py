"""The one exit: each message that the watcher posts goes through here, and is looked for first.

Intent before effect: an attempt is in the log before the call is made, and an attempt whose
answer was lost is settled by looking, never by posting blindly again.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from functools import partial
from logging import getLogger

from ov_es_adapters.daemon.intake import Intake
from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.errors import (
    CallNotAppliedError,
    CallRefusedError,
    CallUnknownError,
    ToolCallError,
)
from ov_es_adapters.mcp.team_client import TeamClient
from ov_es_adapters.ports import Clock
from ov_es_domain.delivery import commands as c
from ov_es_domain.delivery.aggregate import Delivery
from ov_es_domain.delivery.machine import DeliveryState
from ov_es_domain.identity import Identifier
from ov_es_domain.lifecycle import Command
from ov_es_domain.policy.settling import (
    Look,
    NextStep,
    backoff,
    find_rendered,
    look,
    same_content,
)
from ov_es_domain.policy.team_facts import RenderedMessage
from ov_es_domain.recorded import Recorded

_LOGGER = getLogger("ov_es.delivery")
_FIRST_LOOK_SECONDS = 1.0


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
        self._intake = intake
        self._clock = clock
        self._settings = settings
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
            lane = str(row["thread"] or f"channel:{row['channel_id']}")
            wait = float(row["due"] or 0.0) - now
            if wait > 0:
                next_time = wait if next_time is None else min(next_time, wait)
            elif lane not in self._busy:
                self._busy[lane] = tasks.create_task(self._serve(str(row["key"]), lane))
        return next_time

    async def _serve(self, key: str, lane: str) -> None:
        try:
            await self._carry(key)
        finally:
            self._busy.pop(lane, None)
            self._news.set()

    # --- one delivery ----------------------------------------------------------------------------

    async def _carry(self, key: str) -> None:
        """Take the next step of one delivery. Source: DL-2 to DL-12, TH-17."""
        if await self._ledger.commit(lambda view: self._plan_end(view, key)):
            return
        delivery = self._ledger.view.delivery(key)
        try:
            thread = await self._team.thread(delivery.target.channel_id, delivery.target.parent_id)
        except CallRefusedError as error:
            await self._ledger.commit(partial(self._plan_gone, key=key, reason=error.reason))
            return
        except ToolCallError as error:
            await self._postpone(key, f"thread-unreadable: {error.reason}")
            return
        recorded = await self._ledger.commit(lambda view: self._plan_look(view, key, thread))
        if self._ledger.view.delivery(key).state == DeliveryState.ATTEMPTING and recorded:
            await self._post(key)

    def _plan_end(self, view: View, key: str) -> Decision | None:
        """Say why it isn't posted at all, if there's a reason (DL-4, DL-5, DL-22)."""
        delivery = view.delivery(key)
        if delivery.state != DeliveryState.PLANNED:
            return None
        command: Command | None = None
        # An operator's word, or a look that ended in another try, makes it young again.
        age = self._clock.now() - max(delivery.source_at, delivery.due)
        if view.thread(delivery.thread).is_cancelled:
            command = c.SuppressDelivery(reason="thread-cancelled", rule="DL-5", message_id=None)
        elif delivery.target.channel_id is None:
            command = c.AbandonDelivery(reason="no-channel", by="DL-22")
        elif delivery.attempts == 0 and age > self._settings.delivery_age_seconds_max:
            command = c.AbandonDelivery(reason=f"expired after {age / 3600:.0f} h", by="OUT-14")
        return None if command is None else _decision(view, key, command)

    def _plan_gone(self, view: View, key: str, reason: str) -> Decision | None:
        """What a refused thread can't take isn't posted elsewhere either (ADR-11)."""
        if not view.delivery(key).is_open:
            return None
        gone = c.AbandonDelivery(reason=f"thread-refused: {reason}", by="the team's server")
        return _decision(view, key, gone)

    def _plan_look(self, view: View, key: str, thread: list[RenderedMessage]) -> Decision | None:
        """Decide on what the thread shows; the stand-down is asked about once more (DL-3.5)."""
        delivery = view.delivery(key)
        if delivery.state not in {DeliveryState.PLANNED, DeliveryState.UNKNOWN}:
            return None
        found = find_rendered(
            delivery,
            thread,
            source_message=_source_message(delivery),
            is_ours=self._own(thread),
            bound={
                str(row["message_id"])
                for row in view.rows("deliveries", state=DeliveryState.DELIVERED.value)
                if row["message_id"] is not None and row["key"] != key
            }
            if thread
            else set(),
        )
        now = self._clock.now()
        seen = look(delivery, found, now=now)
        return _decision(view, key, self._step(view, delivery, seen, len(thread)))

    def _step(self, view: View, delivery: Delivery, seen: Look, rendered: int) -> Command:
        now = self._clock.now()
        match seen.step:
            case NextStep.ALREADY_OUT:
                return c.ConfirmDelivery(message_id=seen.message_id, proof="rendered")
            case NextStep.SAME_CONTENT:
                return c.SuppressDelivery(
                    reason="same-content-rendered", rule="DL-6", message_id=seen.message_id
                )
            case NextStep.LOOK_AGAIN:
                return c.LookForDelivery(reason="not-there-yet", look_at=delivery.repost_after)
            case NextStep.TRY_AGAIN:
                return c.ReplanDelivery(reason="not-there", until=now)
            case NextStep.POST if view.thread(delivery.thread).is_cancelled:
                return c.SuppressDelivery(reason="thread-cancelled", rule="TH-17", message_id=None)
            case NextStep.POST:
                return c.AttemptDelivery(epoch=self._epoch(), rendered=rendered)

    def _own(self, thread: list[RenderedMessage]) -> set[Identifier]:
        ourselves = self._intake.ourselves
        return {
            message.id
            for message in thread
            if message.is_agent
            and (
                (ourselves.id is not None and str(message.author_agent_id) == str(ourselves.id))
                or message.author_identifier == ourselves.identifier
            )
        }

    async def _post(self, key: str) -> None:
        """Make the call whose intent is in the log, and record what became of it."""
        delivery = self._ledger.view.delivery(key)
        channel = delivery.target.channel_id
        if channel is None:
            raise AssertionError("a delivery without a channel is never attempted")
        command: Command
        try:
            message_id = await self._team.post(
                channel, delivery.target.parent_id, delivery.content
            )
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
        await self._ledger.commit(lambda view: _decision(view, key, command))

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
                    return _decision(view, key, proof)
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
                    return _decision(view, key, c.DeferDelivery(reason=reason, until=until))
                case DeliveryState.UNKNOWN:
                    return _decision(view, key, c.LookForDelivery(reason=reason, look_at=until))
                case _:
                    return None

        await self._ledger.commit(plan)


def _decision(view: View, key: str, command: Command) -> Decision:
    delivery = view.delivery(key)
    return Decision(
        steps=[Step(key, command)],
        cause=view.reference(key),
        correlation=delivery.ticket or delivery.thread or delivery.source,
    )


def _source_message(delivery: Delivery) -> str | None:
    """Return the id of the message that the delivery answers, as text."""
    if not delivery.source.startswith("mention:"):
        return None
    return delivery.source.rsplit(":", 1)[-1]
