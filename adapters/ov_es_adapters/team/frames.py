"""The frames that a team's backend pushes over the socket, built from what the team is now."""

from collections.abc import Mapping

import orjson

from ov_es_adapters.team.world import TeamWorld
from ov_es_domain.identity import Identifier
from ov_es_domain.signal.arrival import ArrivalKind

TICKET_KINDS = (
    ArrivalKind.TICKET_ASSIGNED,
    ArrivalKind.TICKET_CREATED,
    ArrivalKind.TICKET_UPDATED,
)


def mention_frame(world: TeamWorld, message_id: Identifier) -> dict[str, object]:
    """Return the frame that tells agents of a message that mentions them.

    Raises: BadInputError where there is no such message.
    """
    message = world.message(message_id)
    data = {"channel_id": message["channel_id"], "message": message}
    return _frame(ArrivalKind.MENTION, data)


def ticket_frame(world: TeamWorld, kind: ArrivalKind, ticket_id: Identifier) -> dict[str, object]:
    """Return the frame that tells an agent of a ticket.

    Raises: BadInputError where there is no such ticket.
    """
    if kind not in TICKET_KINDS:
        raise AssertionError(f"{kind} is not about a ticket")
    return _frame(kind, {"task": world.ticket(ticket_id)})


def frame_text(frame: Mapping[str, object]) -> str:
    """Return a frame as it goes over the wire."""
    return orjson.dumps(frame).decode()


def _frame(kind: ArrivalKind, data: Mapping[str, object]) -> dict[str, object]:
    return {"type": kind.value, "data": data}
