"""A team in memory: people change it, agents call its tools, and what they wrote is on record.

There is no I/O here, and no clock: the time comes in as `now`, in seconds since the world's start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.errors import BadInputError, CallRefusedError
from ov_es_adapters.runtimes.strict_fields import Fields
from ov_es_adapters.team.answers import Call, answer
from ov_es_adapters.team.records import Agent
from ov_es_adapters.team.state import TeamState, following, mentions
from ov_es_adapters.team.tools import TOOLS
from ov_es_adapters.team.written import (
    CommentRecord,
    PostRecord,
    ReactionRecord,
    UpdateRecord,
    Written,
)
from ov_es_domain.identity import Identifier

STARTS_AT = 1_767_225_600.0
"""2026-01-01T00:00:00Z: a scenario's second 0."""

_OWN_IDS_FROM = 1_000_001
"""Scenarios have ids for what is said later; what is posted meanwhile keeps clear of them."""


class TeamWorld:
    """The team's state: people change it with `merge` and `say`, agents with `call`."""

    def __init__(
        self,
        team: Mapping[str, object],
        agent: AgentIdentity,
        *,
        starts_at: float = STARTS_AT,
        own_ids_from: int = _OWN_IDS_FROM,
    ) -> None:
        """Read a `team` object as scenarios have it; `agent` belongs to the team in any case.

        Args:
            team: The lists, each of which may be absent.
            agent: Who calls where a call doesn't say.
            starts_at: What `now` counts from, in seconds since the epoch.
            own_ids_from: The least id of a message that is posted here.

        Raises: BadInputError that names the field and its place.
        """
        self._starts_at = starts_at
        self._state = TeamState(own_ids_from=own_ids_from)
        self._state.merge(team, at=starts_at)
        self._own_id = self._join(agent)

    def _join(self, agent: AgentIdentity) -> Identifier:
        """Let the agent that the world is for be one of the team, and return its id."""
        agents = self._state.agents
        for known in agents.values():
            if known.identifier == agent.identifier:
                if agent.id not in {None, known.id}:
                    raise BadInputError(
                        f"team.agents: {known.identifier} has the id {known.id}, not {agent.id}"
                    )
                return known.id
        own_id = following(agents) if agent.id is None else agent.id
        if own_id in agents:
            raise BadInputError(
                f"team.agents: {agents[own_id].identifier} has the id {own_id},"
                f" which is {agent.identifier}'s"
            )
        name = agent.name or agent.identifier
        agents[own_id] = Agent(id=own_id, identifier=agent.identifier, name=name)
        return own_id

    # --- people --------------------------------------------------------------------------------

    def merge(self, partial: Mapping[str, object], *, now: float = 0.0) -> None:
        """Let people change something: a partial object per list, merged by id; all or nothing.

        A ticket that changes without saying when gets a later `updated_at`, as a backend would
        give it one.

        Raises: BadInputError.
        """
        self._state.merge(partial, at=self._starts_at + now)

    def say(
        self,
        content: str,
        *,
        person: Identifier,
        channel_id: Identifier,
        parent_id: Identifier | None = None,
        now: float,
    ) -> Identifier:
        """Let a person post a message, and return its id.

        Raises: BadInputError where there is no such person, channel or thread.
        """
        if person not in self._state.people:
            raise BadInputError(f"there is no person {person}")
        try:
            message = self._state.write(
                content,
                channel_id=channel_id,
                parent_id=parent_id,
                person=person,
                at=self._starts_at + now,
            )
        except LookupError as error:
            raise BadInputError(str(error.args[0])) from error
        return message.id

    # --- agents --------------------------------------------------------------------------------

    @property
    def tools(self) -> frozenset[str]:
        """Return the names of all tools."""
        return frozenset(TOOLS)

    @property
    def agents(self) -> Sequence[Agent]:
        """Return the team's agents."""
        return tuple(self._state.agents.values())

    @property
    def own_id(self) -> Identifier:
        """Return the id of the agent that this world was made for."""
        return self._own_id

    def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        *,
        agent: Identifier | None,
        now: float,
        by: str,
    ) -> object:
        """Carry out one call of a tool, and return its answer.

        Args:
            tool: The tool's name.
            arguments: Its arguments.
            agent: Who calls; None is the agent that this world was made for.
            now: Seconds since the world's start.
            by: What the record shall say about where the call came from.

        Raises: CallRefusedError, and nothing was changed then.
        """
        caller = self._state.agents.get(self._own_id if agent is None else agent)
        if caller is None:
            raise CallRefusedError(tool, f"there is no agent {agent}")
        at = self._starts_at + now
        return answer(
            self._state,
            Call(tool=tool, arguments=arguments, caller=caller, now=now, at=at, by=by),
        )

    @property
    def posts(self) -> Sequence[PostRecord]:
        """Return what agents posted, in the order of its happening."""
        return tuple(self._state.written.posts)

    @property
    def updates(self) -> Sequence[UpdateRecord]:
        """Return what agents changed of tickets."""
        return tuple(self._state.written.updates)

    @property
    def comments(self) -> Sequence[CommentRecord]:
        """Return the notes that agents made on tickets."""
        return tuple(self._state.written.comments)

    @property
    def reactions(self) -> Sequence[ReactionRecord]:
        """Return the reactions of agents to messages."""
        return tuple(self._state.written.reactions)

    # --- as the tools show it ------------------------------------------------------------------

    def message(self, message_id: Identifier) -> dict[str, object]:
        """Return a message as the tools show it. Raises: BadInputError."""
        found = self._state.messages.get(message_id)
        if found is None:
            raise BadInputError(f"there is no message {message_id}")
        return self._state.shown_message(found)

    def mentioned(self, message_id: Identifier) -> Sequence[Agent]:
        """Return the agents that a message mentions, without its author."""
        message = self._state.messages[message_id]
        return tuple(agent for agent in self.agents if mentions(message, agent))

    def ticket(self, ticket_id: Identifier) -> dict[str, object]:
        """Return a ticket as the tools show it. Raises: BadInputError."""
        found = self._state.tickets.get(ticket_id)
        if found is None:
            raise BadInputError(f"there is no ticket {ticket_id}")
        return self._state.shown_ticket(found)

    # --- over a restart ------------------------------------------------------------------------

    def snapshot(self) -> dict[str, object]:
        """Return the team and what was written, as JSON can hold it."""
        return {"team": self._state.lists(), "written": asdict(self._state.written)}

    @classmethod
    def restored(
        cls,
        snapshot: Mapping[str, object],
        agent: AgentIdentity,
        *,
        starts_at: float = STARTS_AT,
        own_ids_from: int = _OWN_IDS_FROM,
    ) -> "TeamWorld":
        """Make a world from a snapshot. Raises: BadInputError."""
        fields = Fields(snapshot, "the state", ("team", "written"), "a team's state")
        world = cls(fields.object("team"), agent, starts_at=starts_at, own_ids_from=own_ids_from)
        world._state.written = _written(fields.object("written"))
        return world


def _written(value: Mapping[str, object]) -> Written:
    import msgspec  # noqa: PLC0415 - only where a state was kept

    try:
        return msgspec.convert(value, Written, strict=True)
    except msgspec.ValidationError as error:
        raise BadInputError(f"the state: written: {error}") from error
