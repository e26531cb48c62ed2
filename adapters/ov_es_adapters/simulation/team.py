"""The scenario's team in the simulated world: its truth, and the doors of the watcher and its runs."""

import json
from collections.abc import Mapping, Sequence
from typing import cast

from ov_es_adapters.errors import CallRefusedError
from ov_es_adapters.runtimes.strict_fields import is_object
from ov_es_adapters.simulation.scenario import Scenario
from ov_es_adapters.simulation.steps import FrameStep
from ov_es_adapters.simulation.truth import BY_RUN, BY_WATCHER, Comment, Post, TicketUpdate
from ov_es_adapters.simulation.virtual_clock import VirtualClock
from ov_es_adapters.team.world import TeamWorld


class SimulatedTeam:
    """What people, agents and runs do to the team, at the simulation's time.

    A message that a frame announces is written at the time of its first frame: people don't see
    what nobody has said yet, and neither does reconciliation.
    """

    def __init__(self, scenario: Scenario, clock: VirtualClock) -> None:
        """Start with the scenario's team, without the messages that are still to be said."""
        self._clock = clock
        self._agent = scenario.agent
        frames = [step.text for step in scenario.steps if isinstance(step, FrameStep)]
        announced = {announced_message(text) for text in frames} - {None}
        messages = cast(Sequence[Mapping[str, object]], scenario.team.get("messages", ()))
        self._unsaid = {str(m["id"]): m for m in messages if str(m["id"]) in announced}
        said = [m for m in messages if str(m["id"]) not in self._unsaid]
        self._world = TeamWorld({**scenario.team, "messages": said}, scenario.agent)
        self._posts: list[Post] = []

    @property
    def tools(self) -> frozenset[str]:
        """Return the names of all tools."""
        return self._world.tools

    def announce(self, frame: str) -> None:
        """Let the message that a frame brings be said, if it's still to be said."""
        message = self._unsaid.pop(announced_message(frame) or "", None)
        if message is not None:
            self._world.merge({"messages": [message]})

    def change(self, change: Mapping[str, object]) -> None:
        """Let people change something."""
        self._world.merge(change)

    def call_by_watcher(self, tool: str, arguments: Mapping[str, object]) -> object:
        """Carry out a call of the watcher. Raises: CallRefusedError."""
        return self._call(tool, arguments, BY_WATCHER)

    def call_by_run(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Carry out a call of a run, and return why it failed, or ""."""
        try:
            self._call(tool, arguments, BY_RUN)
        except CallRefusedError as error:
            return error.reason
        return ""

    def _call(self, tool: str, arguments: Mapping[str, object], by: str) -> object:
        return self._world.call(
            tool, arguments, agent=self._agent.id, now=self._clock.monotonic(), by=by
        )

    @property
    def posts(self) -> tuple[Post, ...]:
        """Return what the agent's side posted."""
        return tuple(
            Post(
                at=p["at"],
                message_id=p["id"],
                channel_id=p["channel_id"],
                parent_id=p["parent_id"],
                content=p["content"],
                by=p["by"],
            )
            for p in self._world.posts
        )

    @property
    def ticket_updates(self) -> tuple[TicketUpdate, ...]:
        """Return which tickets the agent's side changed."""
        return tuple(TicketUpdate(**u) for u in self._world.updates)

    @property
    def comments(self) -> tuple[Comment, ...]:
        """Return the notes that the agent's side wrote."""
        return tuple(Comment(**u) for u in self._world.comments)


def announced_message(frame: str) -> str | None:
    """Return the id of the message that a frame brings, as text.

    >>> announced_message('{"type": "agent:mention", "data": {"message": {"id": 100}}}')
    '100'
    """
    try:
        value: object = json.loads(frame)
    except ValueError:
        return None
    for name in ("data", "message"):
        value = value.get(name) if is_object(value) else None
    found = value.get("id") if is_object(value) else None
    return None if found is None else str(found)
