"""How a proxy of its own reaches the team's tools: by its environment alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field

URL = "OV_ES_TEAM_MCP_URL"
API_KEY = "OV_ES_TEAM_API_KEY"
IDENTIFIER = "OV_ES_TEAM_IDENTIFIER"
DISABLED_TOOLS = "OV_ES_TEAM_DISABLED_TOOLS"
"""A JSON list of names; may be left out, but not be anything else (PX-6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamAccess:
    """The team's MCP server, and who we are there."""

    url: str
    identifier: str
    api_key: str = field(repr=False)

    @classmethod
    def found_in(cls, environment: Mapping[str, str]) -> "TeamAccess | None":
        """Return what the environment carries, or None where a part of it is missing."""
        url, key = environment.get(URL), environment.get(API_KEY)
        identifier = environment.get(IDENTIFIER)
        if not url or not key or not identifier:
            return None
        return cls(url=url, identifier=identifier, api_key=key)
