"""The scenario's team in the simulated world, and the doors of the watcher and its runs."""

from collections.abc import Mapping, Sequence
from typing import cast

from ov_es_adapters.errors import CallRefusedError
from ov_es_adapters.simulation.scenario import Scenario
from ov_es_adapters.simulation.steps import FrameStep
from ov_es_adapters.simulation.truth import BY_RUN, BY_WATCHER, Comment, Post, TicketUpdate
from ov_es_adapters.simulation.virtual_clock import VirtualClock
from ov_es_adapters.team.world import TeamWorld
from ov_es_adapters.websocket.frames import read_frame


class SimulatedTeam:
    """What people, agents and runs do to the team, at the simulation's time.

    A message that a frame announces is written at the time of its first frame: people don't see
    what nobody has said yet, and neither does reconciliation.
    """

    def __init__(
        self, scenario: Scenario, clock: VirtualClock, *, is_complete: bool = False
    ) -> None:
        """Start with the scenario's team, without the messages that are still to be said.

        Args:
            scenario: What the team looks like.
            clock: When things happen in it.
            is_complete: Whether a message that only a frame tells of is in the team as well, as
                it is in a real one: whoever loses the frame in a crash can still find it there.
        """
        self._is_complete = is_complete
        self._clock = clock
        self._agent = scenario.agent
        frames = [step.text for step in scenario.steps if isinstance(step, FrameStep)]
        announced = {announced_message(text) for text in frames} - {None}
        messages = cast(Sequence[Mapping[str, object]], scenario.team.get("messages", ()))
        self._unsaid = {str(m["id"]): m for m in messages if str(m["id"]) in announced}
        said = [m for m in messages if str(m["id"]) not in self._unsaid]
        self._world = TeamWorld({**scenario.team, "messages": said}, scenario.agent)
        self._said = {str(message["id"]) for message in said}

    @property
    def tools(self) -> frozenset[str]:
        """Return the names of all tools."""
        return self._world.tools

    def announce(self, frame: str) -> None:
        """Let the message that a frame brings be said, if it's still to be said."""
        message_id = announced_message(frame)
        if message_id is None or message_id in self._said:
            return
        message = self._unsaid.get(message_id)
        if message is None and self._is_complete:
            message = _as_said(frame)
        if message is not None:
            self._said.add(message_id)
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


def _as_said(frame: str) -> Mapping[str, object] | None:
    """Return the message that a frame brings as the team has it, where its author is known."""
    arrival = read_frame(frame, at=0.0)
    sender = arrival.sender
    if sender is None or sender.id is None or arrival.channel_id is None:
        return None
    return {
        "id": arrival.message_id,
        "channel_id": arrival.channel_id,
        "parent_id": arrival.parent_id,
        "content": arrival.text,
        ("agent" if sender.is_agent else "person"): sender.id,
    }


def announced_message(frame: str) -> str | None:
    """Return the id of the message that a frame brings, as text.

    >>> announced_message('{"type": "agent:mention", "data": {"message": {"id": 100}}}')
    '100'
    """
    arrival = read_frame(frame, at=0.0)
    is_message = arrival.is_mention and arrival.message_id is not None
    return str(arrival.message_id) if is_message else None
