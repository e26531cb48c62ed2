"""The team that a local server starts with: a file of a person's, or the one that comes along."""

from collections.abc import Mapping
from pathlib import Path

import orjson

from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.strict_fields import Fields, is_object
from ov_es_adapters.team.example import example_team
from ov_es_adapters.team.live_team import local_world
from ov_es_adapters.team.records import parse_agent
from ov_es_adapters.team.state import LISTS
from ov_es_adapters.team.world import TeamWorld

_EXAMPLE_AGENT = "ada"


def read_team(path: Path | None, agent: str | None) -> TeamWorld:
    """Read the team for an agent, who joins it where it isn't in it yet.

    Args:
        path: A scenario's `team` object, or a whole scenario; None: the example.
        agent: The agent's identifier; None: the scenario's, or the first agent of the team.

    Raises: BadInputError that names the file and the place in it.
    """
    if path is None:
        own = agent or _EXAMPLE_AGENT
        return local_world(example_team(own), AgentIdentity(identifier=own))
    try:
        return _world(orjson.loads(path.read_bytes()), agent)
    except OSError as error:
        raise BadInputError(f"{path}: can't be read: {error.strerror or error}") from error
    except (orjson.JSONDecodeError, BadInputError) as error:
        raise BadInputError(f"{path}: {error}") from error


def _world(value: object, agent: str | None) -> TeamWorld:
    if not is_object(value):
        raise BadInputError("a team is an object with lists, as a scenario's `team`")
    if "team" not in value:
        return local_world(value, AgentIdentity(identifier=agent or _first_agent(value)))
    scenario = Fields(value, "the file", tuple(value), "a scenario")
    own = parse_agent(scenario.object("agent"), "agent")
    if agent in {None, own.identifier}:
        identity = AgentIdentity(id=own.id, identifier=own.identifier, name=own.name)
    else:
        identity = AgentIdentity(identifier=str(agent))
    return local_world(scenario.object("team"), identity)


def _first_agent(team: Mapping[str, object]) -> str:
    agents = Fields(team, "team", LISTS, "the team").list("agents")
    if not agents:
        raise BadInputError("team.agents: there is none; name one with --agent")
    return parse_agent(agents[0], "team.agents[0]").identifier
