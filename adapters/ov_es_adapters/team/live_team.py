"""A team that lives: each change is kept before it's told, and whoever it concerns gets a frame.

Agents change it over MCP, people over the control door; both end here.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import TypeVar, cast

from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.errors import BadInputError, CallRefusedError, StoreUnavailableError
from ov_es_adapters.team.connections import Connections
from ov_es_adapters.team.faults import FaultPlan
from ov_es_adapters.team.frames import frame_text, mention_frame, ticket_frame
from ov_es_adapters.team.records import Agent
from ov_es_adapters.team.world import TeamWorld
from ov_es_domain.identity import Identifier, identifier
from ov_es_domain.signal.arrival import ArrivalKind

Changed = TypeVar("Changed")
Keep = Callable[[Mapping[str, object]], None]
"""Keeps a snapshot of the world. Raises: OSError when it can't."""
_CHANGING_TOOLS = frozenset({"update_ticket", "comment_ticket", "post_message", "react_message"})


def local_world(team: Mapping[str, object], agent: AgentIdentity) -> TeamWorld:
    """Return a world for a server: its times are the wall clock's, its ids go on from the last.

    Raises: BadInputError.
    """
    return TeamWorld(team, agent, starts_at=0.0, own_ids_from=1)


class LiveTeam:
    """The world, its clock, and the sockets of its agents."""

    def __init__(
        self,
        world: TeamWorld,
        *,
        keep: Keep | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Start with a world that counts its time from the epoch.

        Args:
            world: The team, as `local_world` makes it.
            keep: Where each change is kept before anybody hears of it; None: in memory only.
            clock: Seconds since the epoch.
        """
        self.faults = FaultPlan()
        self.calls: Counter[str] = Counter()
        """How many calls of each tool arrived, whatever became of them."""
        self.sent: list[tuple[str | None, str]] = []
        """The frames that were pushed: to whom (None: to all), and their text."""
        self.connections = Connections(self._tell)
        self._world = world
        self._keep = keep
        self._clock = clock
        self._has_changed = asyncio.Event()

    @property
    def world(self) -> TeamWorld:
        """Return the world as it is now."""
        return self._world

    # --- agents --------------------------------------------------------------------------------

    def call(self, tool: str, arguments: Mapping[str, object], who: str) -> object:
        """Carry out a call of an agent, keep what it changed, and tell whom it concerns.

        Raises: CallRefusedError, and StoreUnavailableError; nothing was changed then.
        """
        caller = self._agent_called(who)
        if caller is None:
            raise CallRefusedError(tool, f"there is no agent {who}")

        def carry_out(world: TeamWorld, now: float) -> object:
            return world.call(tool, arguments, agent=caller.id, now=now, by=who)

        if tool not in _CHANGING_TOOLS:
            return carry_out(self._world, self._clock())
        answer = self._change(carry_out)
        self._tell_of_call(tool, arguments, answer, caller)
        return answer

    def _tell_of_call(
        self, tool: str, arguments: Mapping[str, object], answer: object, caller: Agent
    ) -> None:
        """Push what a backend pushes when an agent has done something that others look at."""
        match tool, answer:
            case "post_message", {"message": {"id": int() | str() as message_id}}:
                self._tell_mentioned(message_id)
            case "update_ticket", {"ticket": {"id": int() | str() as ticket_id}}:
                owner = self._owner(ticket_id)
                if owner is None or owner.id == caller.id:
                    return
                has_moved = "agent_id" in arguments
                kind = ArrivalKind.TICKET_ASSIGNED if has_moved else ArrivalKind.TICKET_UPDATED
                self._push(ticket_frame(self._world, kind, ticket_id), owner.identifier)
            case _:
                pass

    # --- people --------------------------------------------------------------------------------

    def say(
        self,
        content: str,
        *,
        person: Identifier,
        channel_id: Identifier,
        parent_id: Identifier | None = None,
        wake: Collection[str] = (),
    ) -> Mapping[str, object]:
        """Let a person post a message, tell the agents that it mentions, and return it.

        Backends also wake agents that a message doesn't name, such as those of its thread: `wake`
        holds their identifiers.

        Raises: BadInputError, StoreUnavailableError.
        """
        for who in wake:
            if self._agent_called(who) is None:
                raise BadInputError(f"there is no agent {who!r}")
        message_id = self._change(
            lambda world, now: world.say(
                content, person=person, channel_id=channel_id, parent_id=parent_id, now=now
            )
        )
        self._tell_mentioned(message_id, wake)
        return self._world.message(message_id)

    def assign(self, ticket_id: Identifier, agent_id: Identifier | None) -> Mapping[str, object]:
        """Give a ticket to an agent, or to nobody, and tell the new owner and the old one.

        Raises: BadInputError, StoreUnavailableError.
        """
        before = self._owner(ticket_id)
        self._change_ticket({"id": ticket_id, "agent_id": agent_id})
        after = self._owner(ticket_id)
        if before is not None and (after is None or after.id != before.id):
            self._tell_of_ticket(ArrivalKind.TICKET_UPDATED, ticket_id, before)
        if after is not None:
            self._tell_of_ticket(ArrivalKind.TICKET_ASSIGNED, ticket_id, after)
        return self._world.ticket(ticket_id)

    def edit(self, fields: Mapping[str, object]) -> Mapping[str, object]:
        """Make or edit a ticket, named by its `id`, and tell its owner.

        Raises: BadInputError, StoreUnavailableError.
        """
        ticket_id = identifier(fields.get("id"))
        if ticket_id is None:
            raise BadInputError("the field 'id' is missing; it is the ticket's id")
        is_new = not self._has_ticket(ticket_id)
        if not is_new and "agent_id" in fields:
            raise BadInputError("the field 'agent_id' of a ticket is changed by assigning it")
        self._change_ticket(fields)
        owner = self._owner(ticket_id)
        if owner is not None:
            kind = ArrivalKind.TICKET_CREATED if is_new else ArrivalKind.TICKET_UPDATED
            self._tell_of_ticket(kind, ticket_id, owner)
        return self._world.ticket(ticket_id)

    def merge(self, partial: Mapping[str, object]) -> None:
        """Change the team without telling anybody, as a scenario's `team` step does.

        Raises: BadInputError, StoreUnavailableError.
        """
        self._change(lambda world, now: world.merge(partial, now=now))

    # --- the socket ----------------------------------------------------------------------------

    def push(self, text: str, who: str | None = None, *, times: int = 1) -> int:
        """Push any text, several times if wished, and return how many sockets get it."""
        reached = 0
        for _ in range(times):
            reached = self.connections.send(text, who)
            self.sent.append((who, text))
        self._tell()
        return reached

    def repeat(self, times: int = 1) -> int:
        """Push the last frame again, to the same agent, and return how many sockets get it.

        Raises: BadInputError where nothing was pushed yet.
        """
        if not self.sent:
            raise BadInputError("no frame was pushed yet that could be repeated")
        who, text = self.sent[-1]
        return self.push(text, who, times=times)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so; it's looked at whenever anything has changed."""
        while not is_so():
            self._has_changed.clear()
            await self._has_changed.wait()

    def count(self, tool: str) -> None:
        """Count a call that arrived."""
        self.calls[tool] += 1
        self._tell()

    def report(self) -> Mapping[str, object]:
        """Return everything that people may want to look at, as JSON can hold it."""
        return {
            **self._world.snapshot(),
            "connections": dict(self.connections.counts()),
            "calls": dict(self.calls),
            "frames": [{"to": who, "text": text} for who, text in self.sent],
        }

    # --- inside --------------------------------------------------------------------------------

    def _change(self, change: Callable[[TeamWorld, float], Changed]) -> Changed:
        """Change the world and keep it; what can't be kept hasn't happened."""
        before = self._world.snapshot() if self._keep is not None else None
        found = change(self._world, self._clock())
        if self._keep is not None and before is not None:
            try:
                self._keep(self._world.snapshot())
            except OSError as error:
                self._world = self.restored(before, self._world)
                raise StoreUnavailableError(
                    f"the team's state can't be kept: {error.strerror or error}"
                ) from error
        self._tell()
        return found

    @staticmethod
    def restored(snapshot: Mapping[str, object], like: TeamWorld) -> TeamWorld:
        """Return the world of a snapshot, for the same agent as another one.

        Raises: BadInputError.
        """
        own = next(agent for agent in like.agents if agent.id == like.own_id)
        who = AgentIdentity(identifier=own.identifier, name=own.name)
        return TeamWorld.restored(snapshot, who, starts_at=0.0, own_ids_from=1)

    def _change_ticket(self, fields: Mapping[str, object]) -> None:
        ticket_id = cast("Identifier", fields["id"])
        agent_id = fields.get("agent_id")
        if agent_id is not None and agent_id not in {agent.id for agent in self._world.agents}:
            raise BadInputError(f"there is no agent {agent_id}")
        if set(fields) == {"id", "agent_id"}:
            self._world.ticket(ticket_id)
        self.merge({"tickets": [fields]})

    def _has_ticket(self, ticket_id: Identifier) -> bool:
        try:
            self._world.ticket(ticket_id)
        except BadInputError:
            return False
        return True

    def _agent_called(self, who: str) -> Agent | None:
        return next((each for each in self._world.agents if each.identifier == who), None)

    def _owner(self, ticket_id: Identifier) -> Agent | None:
        owner = self._world.ticket(ticket_id)["agent_id"]
        return next((each for each in self._world.agents if each.id == owner), None)

    def _tell_mentioned(self, message_id: Identifier, wake: Collection[str] = ()) -> None:
        frame = mention_frame(self._world, message_id)
        mentioned = [agent.identifier for agent in self._world.mentioned(message_id)]
        for who in dict.fromkeys([*mentioned, *wake]):
            self._push(frame, who)

    def _tell_of_ticket(self, kind: ArrivalKind, ticket_id: Identifier, agent: Agent) -> None:
        self._push(ticket_frame(self._world, kind, ticket_id), agent.identifier)

    def _push(self, frame: Mapping[str, object], who: str) -> None:
        self.push(frame_text(frame), who)

    def _tell(self) -> None:
        self._has_changed.set()
