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
from ov_es_domain.identity import identifier
from ov_es_domain.signal.arrival import Arrival

_UNKNOWN_PERSON = 0
"""Who has said what a frame brings without saying by whom."""

Facts = Mapping[str, object]


class SimulatedTeam:
    """What people, agents and runs do to the team, at the simulation's time.

    A message that a frame announces is there from its first frame on: nobody sees what nobody
    has said yet, and reconciliation doesn't either. One that only a frame tells of is there from
    then on as well, so that it can be answered, and found by whoever has lost the frame.
    """

    def __init__(self, scenario: Scenario, clock: VirtualClock) -> None:
        """Start with the scenario's team, without the messages that are still to be said."""
        self._clock = clock
        self._agent = scenario.agent
        frames = [step.text for step in scenario.steps if isinstance(step, FrameStep)]
        announced = {str(arrival.message_id) for arrival in map(_announced, frames) if arrival}
        messages = {_id(message): message for message in _rows(scenario.team, "messages")}
        self._unsaid = {key: m for key, m in messages.items() if key in announced}
        self._said = messages.keys() - announced
        said = [message for key, message in messages.items() if key in self._said]
        self._people = _rows(scenario.team, "people")
        self._world = TeamWorld({**scenario.team, "messages": said}, scenario.agent)

    @property
    def tools(self) -> frozenset[str]:
        """Return the names of all tools."""
        return self._world.tools

    # --- people --------------------------------------------------------------------------------

    def announce(self, frame: str) -> None:
        """Let the message that a frame brings be said, if it isn't there yet."""
        arrival = _announced(frame)
        if arrival is None or str(arrival.message_id) in self._said:
            return
        key = str(arrival.message_id)
        self._say(key, self._unsaid.get(key) or self._as_said(arrival))

    def change(self, change: Facts) -> None:
        """Let people change something. What they change is there, if it wasn't yet."""
        for message in _rows(change, "messages"):
            unsaid = self._unsaid.get(_id(message))
            if unsaid is not None and _id(message) not in self._said:
                self._say(_id(message), unsaid)
            self._said.add(_id(message))
        self._world.merge(change, now=self._clock.monotonic())

    def _say(self, key: str, message: Facts) -> None:
        self._said.add(key)
        self._world.merge({"messages": [message]}, now=self._clock.monotonic())

    def _as_said(self, arrival: Arrival) -> Facts:
        """Return the message of a frame as a team has it."""
        sender = arrival.sender
        author = None if sender is None else sender.id
        if author is None and sender is not None:
            named = [person for person in self._people if person.get("name") == sender.name]
            author = identifier(named[0]["id"]) if named else None
        is_agent = sender is not None and sender.is_agent and author is not None
        return {
            "id": arrival.message_id,
            "channel_id": arrival.channel_id,
            "parent_id": arrival.parent_id,
            "agent" if is_agent else "person": _UNKNOWN_PERSON if author is None else author,
            "content": arrival.text,
        }

    # --- the agent's side ------------------------------------------------------------------------

    def call_by_watcher(self, tool: str, arguments: Facts) -> object:
        """Carry out a call of the watcher. Raises: CallRefusedError."""
        return self._call(tool, arguments, BY_WATCHER)

    def call_by_run(self, tool: str, arguments: Facts) -> str:
        """Carry out a call of a run, and return why it failed, or ""."""
        try:
            self._call(tool, arguments, BY_RUN)
        except CallRefusedError as error:
            return error.reason
        return ""

    def _call(self, tool: str, arguments: Facts, by: str) -> object:
        return self._world.call(
            tool, arguments, agent=self._agent.id, now=self._clock.monotonic(), by=by
        )

    @property
    def posts(self) -> tuple[Post, ...]:
        """Return what the agent's side posted."""
        return tuple(
            Post(
                at=post["at"],
                message_id=post["id"],
                channel_id=post["channel_id"],
                parent_id=post["parent_id"],
                content=post["content"],
                by=post["by"],
            )
            for post in self._world.posts
        )

    @property
    def ticket_updates(self) -> tuple[TicketUpdate, ...]:
        """Return which tickets the agent's side changed."""
        return tuple(TicketUpdate(**update) for update in self._world.updates)

    @property
    def comments(self) -> tuple[Comment, ...]:
        """Return the notes that the agent's side wrote."""
        return tuple(Comment(**comment) for comment in self._world.comments)


def _rows(team: Facts, name: str) -> Sequence[Facts]:
    return cast("Sequence[Facts]", team.get(name, ()))


def _id(message: Facts) -> str:
    return str(identifier(message["id"]))


def _announced(frame: str) -> Arrival | None:
    """Return what a frame brings, if that's a message with an id in a channel."""
    arrival = read_frame(frame, at=0.0)
    is_whole = arrival.message_id is not None and arrival.channel_id is not None
    return arrival if arrival.is_mention and is_whole and arrival.text else None
