"""Who may come in: an agent with its key, and people with the control token."""

import hmac
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

KEY_HEADER = "x-agent-api-key"
IDENTIFIER_HEADER = "x-agent-identifier"
CONTROL_HEADER = "x-control-token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The keys of the agents and the control token, in no representation of it."""

    keys: Mapping[str, str] = field(repr=False)
    """Identifier → key."""
    control_token: str = field(repr=False)

    @classmethod
    def made_for(cls, identifiers: Iterable[str]) -> "Access":
        """Make a key for each agent, and a token, all by chance."""
        return cls(
            keys={who: secrets.token_urlsafe(32) for who in identifiers},
            control_token=secrets.token_urlsafe(32),
        )

    def extended(self, identifiers: Iterable[str]) -> "Access":
        """Return the same with a key for each agent that has none yet."""
        fresh = Access.made_for(who for who in identifiers if who not in self.keys)
        return Access(keys={**fresh.keys, **self.keys}, control_token=self.control_token)

    def admits(self, identifier: str | None, key: str | None) -> bool:
        """Tell whether this is the agent's key; the time that it takes says nothing about it."""
        known = self.keys.get(identifier or "", "")
        is_same = hmac.compare_digest((key or "").encode(), known.encode())
        return is_same and bool(known)

    def admits_people(self, token: str | None) -> bool:
        """Tell whether this is the control token, likewise."""
        return hmac.compare_digest((token or "").encode(), self.control_token.encode())
