"""The door for people and tests: they talk, assign tickets, and make things go wrong."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ov_es_adapters.errors import BadInputError, StoreUnavailableError
from ov_es_adapters.runtimes.strict_fields import Fields, is_object
from ov_es_adapters.team.access import CONTROL_HEADER, Access
from ov_es_adapters.team.faults import parse_faults
from ov_es_adapters.team.live_team import LiveTeam
from ov_es_domain.identity import Identifier, identifier

_TIMES_MAX = 1_000
_CODE_LEAST, _CODE_MOST = 1000, 4999

Order: TypeAlias = Callable[[LiveTeam, object], object]
"""Does what a request's body says. Raises: BadInputError, StoreUnavailableError."""


def control_routes(team: LiveTeam, access: Access) -> list[Route]:
    """Return the routes below `/control`, each of which wants the control token."""
    routes = [
        Route(f"/control/{name}", _door(team, access, order), methods=["POST"])
        for name, order in _ORDERS.items()
    ]
    return [*routes, Route("/control/state", _door(team, access, _state), methods=["GET"])]


def _door(
    team: LiveTeam, access: Access, order: Order
) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        if not access.admits_people(request.headers.get(CONTROL_HEADER)):
            return _json({"error": f"the header {CONTROL_HEADER} isn't the control token"}, 401)
        body = await request.body()
        try:
            return _json(order(team, orjson.loads(body) if body else {}))
        except orjson.JSONDecodeError as error:
            return _json({"error": f"the body is no JSON: {error}"}, 400)
        except BadInputError as error:
            return _json({"error": str(error)}, 400)
        except StoreUnavailableError as error:
            return _json({"error": str(error)}, 503)

    return serve


def _json(value: object, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")


def _say(team: LiveTeam, body: object) -> object:
    known = ("person", "channel_id", "parent_id", "content", "wake")
    fields = Fields(body, "the body", known, "a message")
    return {
        "message": team.say(
            fields.text("content"),
            person=_id(body, "person"),
            channel_id=_id(body, "channel_id"),
            parent_id=_optional_id(body, "parent_id"),
            wake=[str(who) for who in fields.list("wake")],
        )
    }


def _assign(team: LiveTeam, body: object) -> object:
    fields = Fields(body, "the body", ("ticket_id", "agent_id"), "an assignment")
    if "agent_id" not in fields:
        raise BadInputError("the body: the field 'agent_id' is missing; it is an id or null")
    return {"ticket": team.assign(_id(body, "ticket_id"), _optional_id(body, "agent_id"))}


def _edit(team: LiveTeam, body: object) -> object:
    return {"ticket": team.edit(Fields(body, "the body", ("ticket",), "it").object("ticket"))}


def _merge(team: LiveTeam, body: object) -> object:
    team.merge(Fields(body, "the body", ("team",), "it").object("team"))
    return {}


def _push(team: LiveTeam, body: object) -> object:
    fields = Fields(body, "the body", ("agent", "frame", "text", "times"), "a frame")
    if ("frame" in fields) == ("text" in fields):
        raise BadInputError("the body has exactly one of `frame` (an object) and `text`")
    if "frame" in fields:
        text = orjson.dumps(fields.object("frame")).decode()
    else:
        text = fields.text("text", may_be_empty=True)
    return {"sockets": team.push(text, _agent(team, fields), times=_times(fields))}


def _repeat(team: LiveTeam, body: object) -> object:
    return {"sockets": team.repeat(_times(Fields(body, "the body", ("times",), "it")))}


def _drop(team: LiveTeam, body: object) -> object:
    fields = Fields(body, "the body", ("agent", "code"), "it")
    code = fields.integer("code", default=1001) if "code" in fields else None
    if code is not None and not _CODE_LEAST <= code <= _CODE_MOST:
        raise BadInputError(f"the body.code: must be from {_CODE_LEAST} to {_CODE_MOST}")
    return {"sockets": team.connections.drop(_agent(team, fields), code)}


def _fail(team: LiveTeam, body: object) -> object:
    team.faults = parse_faults(Fields(body, "the body", ("faults",), "it").list("faults"))
    return {}


def _state(team: LiveTeam, body: object) -> object:
    del body
    return team.report()


def _id(body: object, name: str) -> Identifier:
    found = _optional_id(body, name)
    if found is None:
        raise BadInputError(f"the body: the field {name!r} is missing; it is an id")
    return found


def _optional_id(body: object, name: str) -> Identifier | None:
    given = body.get(name) if is_object(body) else None
    found = identifier(given)
    if found is None and given is not None:
        raise BadInputError(f"the body.{name}: must be an id, as the backend has it: a number")
    return found


def _agent(team: LiveTeam, fields: Fields) -> str | None:
    if "agent" not in fields:
        return None
    who = fields.text("agent")
    if who not in {agent.identifier for agent in team.world.agents}:
        raise BadInputError(f"the body.agent: there is no agent {who!r}")
    return who


def _times(fields: Fields) -> int:
    times = fields.integer("times", default=1, least=1)
    if times > _TIMES_MAX:
        raise BadInputError(f"the body.times: must be at most {_TIMES_MAX}")
    return times


_ORDERS: Mapping[str, Order] = {
    "say": _say,
    "assign": _assign,
    "ticket": _edit,
    "merge": _merge,
    "frame": _push,
    "repeat": _repeat,
    "drop": _drop,
    "faults": _fail,
}
