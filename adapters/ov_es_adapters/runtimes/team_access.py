"""How a run's program reaches the team's tools: address and credentials, by environment only."""

from collections.abc import Mapping
from dataclasses import dataclass, field

URL = "OV_ES_TEAM_MCP_URL"
API_KEY = "OV_ES_TEAM_API_KEY"
IDENTIFIER = "OV_ES_TEAM_IDENTIFIER"
SERVER = "openvisio-team"
"""The name of the team's MCP server in every runtime's configuration."""


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

    @property
    def environment(self) -> dict[str, str]:
        """The variables that carry it; the key is nowhere else (PX-2)."""
        return {URL: self.url, API_KEY: self.api_key, IDENTIFIER: self.identifier}

    @property
    def headers(self) -> dict[str, str]:
        """The two headers that every call carries (MCP-121)."""
        return {"x-agent-api-key": self.api_key, "x-agent-identifier": self.identifier}
