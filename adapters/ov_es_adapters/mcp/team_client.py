"""The team as the daemon knows it: its tools' answers as facts, whoever makes the calls.

The real caller and the simulated one both stand behind it. An answer that can't be read is a
failure of the call: "not checked" never passes for "nothing there".
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from ov_es_adapters.errors import (
    CallUnknownError,
    PeerRefusedError,
    ToolCallError,
    ToolNotAdvertisedError,
)
from ov_es_adapters.mcp import team_reading as reading
from ov_es_adapters.mcp.discovery import CORE_TOOLS
from ov_es_adapters.mcp.ticket_reading import read_ticket, ticket_in
from ov_es_adapters.mcp.wire_values import facts_of, rows, same
from ov_es_adapters.ports import ToolCaller
from ov_es_adapters.websocket.fields import first_id, first_text, record
from ov_es_adapters.websocket.mentions import mention_arrival
from ov_es_domain.identity import Identifier
from ov_es_domain.policy.team_facts import (
    AgentFacts,
    ChannelFacts,
    ProjectFacts,
    RenderedMessage,
    TicketFacts,
)
from ov_es_domain.signal.arrival import Arrival

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Possible:
    """Whether something optional was possible; true or false by itself."""

    is_so: bool
    reason: str = ""
    """Why not, such as `not-advertised`."""

    def __bool__(self) -> bool:
        """Answer in an `if`."""
        return self.is_so


class TeamClient:
    """What can be asked of the team, and told to it."""

    def __init__(self, caller: ToolCaller) -> None:
        """`caller` makes the calls; nothing is kept here that could outlive its session."""
        self._caller = caller
        self._missing_core: frozenset[str] = frozenset()
        self._has_warned = False

    # --- reading -------------------------------------------------------------------------------

    async def agents(self) -> list[AgentFacts]:
        """Return the agents of the team; among them us (TK-9)."""
        return facts_of(await self._rows("list_agents", {}, "agents"), reading.agent)

    async def projects(self) -> list[ProjectFacts]:
        """Return the projects whose tasks we may read."""
        return facts_of(await self._rows("list_projects", {}, "projects"), reading.project)

    async def channels(self) -> list[ChannelFacts]:
        """Return the channels."""
        return facts_of(await self._rows("list_channels", {}, "channels"), reading.channel)

    async def tasks(self, project_id: Identifier) -> list[TicketFacts]:
        """Return the tickets of a project, whoever they're assigned to."""
        arguments = {"project_id": project_id}
        found = await self._rows("list_tasks", arguments, "tasks", "tickets")
        return facts_of(found, lambda row: read_ticket(row, project_id))

    async def ticket(self, project_id: Identifier, ticket_id: Identifier) -> TicketFacts:
        """Return the truth about a ticket (TK-1).

        Raises: ToolCallError, also for an answer that is about another ticket, or none.
        """
        arguments = {"project_id": project_id, "ticket_id": ticket_id}
        answer = await self._caller.call("get_ticket", arguments)
        facts = read_ticket(ticket_in(answer), project_id)
        if facts is None or not same(facts.ticket_id, ticket_id):
            raise CallUnknownError("get_ticket", "the answer isn't the ticket that was asked for")
        return facts

    async def thread(
        self, channel_id: Identifier | None, root_id: Identifier | None
    ) -> list[RenderedMessage]:
        """Return what is really there, oldest first: a thread, or the top of a channel.

        Args:
            channel_id: The channel.
            root_id: The thread's root; None for what stands at the top of the channel.
        """
        arguments = _present(channel_id=channel_id, parent_id=root_id)
        found = await self._rows("list_message_thread", arguments, "messages", "thread")
        messages = facts_of(found, lambda row: reading.message(row, channel_id))
        there = [m for m in messages if _belongs(m, root_id)]
        times = [m.created_at for m in there if m.created_at is not None]
        if len(times) < len(there):
            return there
        return sorted(there, key=lambda m: m.created_at or 0.0)

    async def project_channel(self, project_id: Identifier) -> Identifier | None:
        """Return the channel for a project's news; none is no error (TK-30).

        Raises: ToolCallError where nobody can say whether it has one.
        """
        failure: ToolCallError | None = None
        channels: list[ChannelFacts] = []
        try:
            channels = await self.channels()
        except ToolNotAdvertisedError:
            pass
        except ToolCallError as error:
            failure = error
        found = [c.id for c in channels if same(c.project_id, project_id)]
        if len(found) == 1:
            return found[0]
        # Of several, or where channels don't name their project, the project's own word counts.
        named = [p.channel_id for p in await self.projects() if same(p.id, project_id)]
        known = [channel for channel in named if channel is not None]
        if failure is not None and not known:
            raise failure
        return next(iter([*known, *found]), None)

    async def activity(self, *, at: float) -> list[Arrival]:
        """Return the mentions in our activity, as arrivals that were found at `at` (RC-12).

        Raises: ToolNotAdvertisedError where the server has no such list; ToolCallError.
        """
        possible = await self.optional("list_activity")
        if not possible:
            raise ToolNotAdvertisedError("list_activity", possible.reason)
        found = await self._rows("list_activity", {}, "activity", "activities", "mentions")
        return [_mention(row, at) for row in found if _is_mention(row)]

    # --- telling -------------------------------------------------------------------------------

    async def post(
        self, channel_id: Identifier, parent_id: Identifier | None, content: str
    ) -> Identifier | None:
        """Post a message, and return its id where the answer names one.

        Raises: ToolCallError; CallUnknownError where it may be out all the same.
        """
        arguments = _present(channel_id=channel_id, content=content, parent_id=parent_id)
        return reading.posted_id(await self._caller.call("post_message", arguments))

    async def update_ticket(
        self, project_id: Identifier, ticket_id: Identifier, fields: Mapping[str, object]
    ) -> TicketFacts | None:
        """Change a ticket, and return it as it is now, where the answer says."""
        arguments = {**fields, "project_id": project_id, "ticket_id": ticket_id}
        answer = await self._caller.call("update_ticket", arguments)
        facts = read_ticket(ticket_in(answer), project_id)
        return facts if facts is not None and same(facts.ticket_id, ticket_id) else None

    async def comment(self, project_id: Identifier, ticket_id: Identifier, text: str) -> Possible:
        """Put a note on a ticket, if the server has a tool for it (MCP-118, MCP-119).

        Raises: ToolCallError, where the tool was called and it went wrong.
        """
        possible = await self.optional("comment_ticket")
        if not possible:
            return possible
        arguments = {"project_id": project_id, "ticket_id": ticket_id, "content": text}
        try:
            await self._caller.call("comment_ticket", arguments)
        except ToolNotAdvertisedError as error:
            return Possible(is_so=False, reason=error.reason)
        return Possible(is_so=True)

    async def optional(self, tool: str) -> Possible:
        """Tell whether the server is known to have an optional tool (MCP-118).

        A failed discovery is warned about once, and leaves all optional tools out (MCP-120).
        """
        try:
            names = await self._caller.advertised()
        except (ToolCallError, PeerRefusedError) as error:
            if not self._has_warned:
                _LOGGER.warning("the optional tools are left out: %s", error)
                self._has_warned = True
            return Possible(is_so=False, reason=f"not-advertised: the tools are unknown: {error}")
        self._has_warned = False
        self._name_missing(CORE_TOOLS - names)
        if tool in names:
            return Possible(is_so=True)
        return Possible(is_so=False, reason="not-advertised")

    def _name_missing(self, missing: frozenset[str]) -> None:
        """Log which core tools aren't there, whenever that has changed (MCP-117)."""
        if missing and missing != self._missing_core:
            _LOGGER.warning("the team's server lacks %s", ", ".join(sorted(missing)))
        self._missing_core = missing

    async def _rows(
        self, tool: str, arguments: Mapping[str, object], *names: str
    ) -> list[Mapping[str, object]]:
        found = rows(await self._caller.call(tool, arguments), *names)
        if found is None:
            raise CallUnknownError(tool, f"the answer has no list of {names[0]}")
        return found


def _present(**arguments: object) -> dict[str, object]:
    return {name: value for name, value in arguments.items() if value is not None}


def _belongs(message: RenderedMessage, root_id: Identifier | None) -> bool:
    """Leave out what a generous server adds from elsewhere in the channel."""
    if root_id is None or message.parent_id is None:
        return message.parent_id is None
    return same(message.parent_id, root_id)


def _is_mention(row: Mapping[str, object]) -> bool:
    kind = first_text(row, ("kind", "type", "event"))
    return "mention" in kind.lower() if kind else bool(record(row.get("message")))


def _mention(row: Mapping[str, object], at: float) -> Arrival:
    message = record(row.get("message")) or row
    channel = first_id(row, ("channel_id", "channelId"))
    if channel is None:
        channel = first_id(message, ("channel_id", "channelId"))
    return mention_arrival(channel, message, at=at, mentions=row.get("mentions"))
