"""Lets the agent introduce itself once in its life, some time after its first connection (WS-22).

It's off unless a channel is set: nothing on the wire says where a team wants to read it.
"""

import asyncio

from ov_es_adapters.daemon.ledger import Decision, Ledger, Step, View
from ov_es_adapters.daemon.settings import WatchSettings
from ov_es_adapters.ports import Clock
from ov_es_domain.delivery.target import Target
from ov_es_domain.identity import Identifier, turn_key, watch_key
from ov_es_domain.turn.commands import QueueTurn
from ov_es_domain.turn.kinds import TurnKind
from ov_es_domain.watch.commands import NoteIntroduction


class Introduction:
    """Queues one turn; that it was queued is in the log, so no restart repeats it."""

    def __init__(self, ledger: Ledger, clock: Clock, settings: WatchSettings) -> None:
        """Write through `ledger`."""
        self._ledger = ledger
        self._clock = clock
        self._settings = settings
        self._connected = asyncio.Event()

    def notice_connection(self) -> None:
        """Take notice that the team can be heard."""
        self._connected.set()

    async def run(self) -> None:
        """Wait for the connection and the delay, and queue the turn unless that was done."""
        channel_id = self._settings.introduction_channel
        if channel_id is None:
            return
        await self._connected.wait()
        if self._ledger.view.watch(self._settings.agent.identifier).is_introduced:
            return
        await asyncio.sleep(self._settings.introduction_seconds)
        await self._ledger.commit(lambda view: self._plan(view, channel_id))

    def _plan(self, view: View, channel_id: Identifier) -> Decision | None:
        agent = self._settings.agent.identifier
        if view.watch(agent).is_introduced:
            return None
        source = f"intro:{agent}"
        queue = QueueTurn(
            source=source,
            generation=1,
            kind=TurnKind.INTRO,
            group="",
            ticket=None,
            thread=None,
            target=Target(channel_id=channel_id, parent_id=None),
            slot=f"introduction:{agent}",
            title="",
            text="",
            sender="",
            by_agent=False,
            accepted_at=self._clock.now(),
        )
        watch, turn = watch_key(agent), turn_key(source, 1)
        return Decision(
            steps=[Step(watch, NoteIntroduction(turn=turn)), Step(turn, queue, watch)],
            cause=view.reference(watch),
            correlation=source,
        )
