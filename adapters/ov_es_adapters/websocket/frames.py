"""A frame of the team's socket, read into an arrival: pure, and never failing.

What can't be read arrives all the same, with its problem: everything that came has an outcome.
Rules: WS-5 to WS-11, WS-15, WS-19.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import cast

import orjson

from ov_es_adapters.websocket.fields import excerpt, first_id, one_line, record, well_formed
from ov_es_adapters.websocket.mentions import mention_arrival
from ov_es_domain.identity import Identifier
from ov_es_domain.signal.arrival import Arrival, ArrivalKind, Via

__all__ = ["mention_arrival", "read_frame", "rejected_frame"]

_KNOWN = {kind.value: kind for kind in ArrivalKind if kind is not ArrivalKind.UNKNOWN}
_EXCERPT_CHARACTERS_MAX = 200
_KIND_CHARACTERS_MAX = 80

# Half a character, as JavaScript writes one where a text was cut in the middle of a pair. Other
# escapes are matched along, so that an escaped backslash isn't taken for the start of one.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


def read_frame(text: str | bytes, *, at: float, via: Via = Via.SOCKET) -> Arrival:
    """Read a frame, whatever it is; one that can't be used says so in `problem`.

    Problems: `not-json`, `not-an-object`, `unknown-kind`, `no-project-id`, `no-ticket-id`,
    `no-message-id` (a mention with neither an id nor a text).

    >>> read_frame('{"type": "task:updated", "data": {"id": 5, "projectId": 1}}', at=0).source
    'ticket:1:5'
    >>> read_frame("hello", at=0).problem
    'not-json'
    """
    said = text.decode("utf-8", "replace") if isinstance(text, bytes) else well_formed(text)
    said = said.removeprefix("\ufeff")
    unreadable = Arrival(
        kind=ArrivalKind.UNKNOWN,
        via=via,
        at=at,
        text=excerpt(said, _EXCERPT_CHARACTERS_MAX),
        digest=sha256(said.encode()).hexdigest()[:32],
    )
    try:
        frame = _parse(said)
    except orjson.JSONDecodeError:
        return replace(unreadable, problem="not-json")
    if not isinstance(frame, dict):
        return replace(unreadable, problem="not-an-object")

    fields = record(cast("object", frame))
    kind, wire_kind = _kind(fields)
    data = _data(fields)
    match kind:
        case ArrivalKind.UNKNOWN:
            return replace(unreadable, wire_kind=wire_kind, problem="unknown-kind")
        case ArrivalKind.MENTION:
            message = record(data.get("message"))
            return mention_arrival(
                _channel(data), message, at=at, via=via, mentions=data.get("mentions")
            )
        case _:
            project_id, ticket_id = _ticket(data)
            lacking = "no-ticket-id" if ticket_id is None else ""
            return Arrival(
                kind=kind,
                via=via,
                at=at,
                wire_kind=wire_kind,
                project_id=project_id,
                ticket_id=ticket_id,
                digest=unreadable.digest,
                problem="no-project-id" if project_id is None else lacking,
            )


def rejected_frame(reason: str, *, at: float) -> Arrival:
    """Return the arrival that stands for a frame that the socket couldn't take (WSK-06).

    >>> rejected_frame("frame-too-large", at=0).problem
    'frame-too-large'
    """
    return Arrival(
        kind=ArrivalKind.UNKNOWN,
        via=Via.SOCKET,
        at=at,
        problem=excerpt(reason, _KIND_CHARACTERS_MAX),
        digest=sha256(reason.encode()).hexdigest()[:32],
    )


def _parse(said: str) -> object:
    try:
        return orjson.loads(said)
    except orjson.JSONDecodeError:
        repaired = _ESCAPE.sub(lambda m: r"\ufffd" if m["half"] else m[0], said)
        if repaired == said:
            raise
        # A request isn't lost because an emoji in it was cut in half.
        return orjson.loads(repaired)


def _kind(fields: Mapping[str, object]) -> tuple[ArrivalKind, str]:
    spelled = [
        one_line(value)
        for name in ("type", "event", "kind")
        if isinstance(value := fields.get(name), str)
    ]
    for each in spelled:
        if each in _KNOWN:
            return _KNOWN[each], each
    return ArrivalKind.UNKNOWN, excerpt(spelled[0], _KIND_CHARACTERS_MAX) if spelled else ""


def _data(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Return the data of the envelope, or the frame itself where it has no envelope."""
    return next(
        (found for name in ("data", "payload") if (found := record(fields.get(name)))), fields
    )


def _channel(data: Mapping[str, object]) -> Identifier | None:
    """Return the channel by the first spelling that isn't null (WS-7)."""
    name = "channelId" if data.get("channel_id") is None else "channel_id"
    return first_id(data, (name,))


def _ticket(data: Mapping[str, object]) -> tuple[Identifier | None, Identifier | None]:
    """Return project id and ticket id, and nothing else of the ticket is believed (WS-5, TK-1)."""
    wrapped = record(data.get("task")) or record(data.get("ticket"))
    ticket_names = ("task_id", "taskId", "ticket_id", "ticketId")
    ticket_id = first_id(wrapped, ("id", *ticket_names)) if wrapped else None
    if ticket_id is None:
        ticket_id = first_id(data, ticket_names if wrapped else (*ticket_names, "id"))
    project_id = _project(wrapped)
    return (_project(data) if project_id is None else project_id), ticket_id


def _project(fields: Mapping[str, object]) -> Identifier | None:
    found = first_id(fields, ("project_id", "projectId"))
    return first_id(record(fields.get("project")), ("id",)) if found is None else found
