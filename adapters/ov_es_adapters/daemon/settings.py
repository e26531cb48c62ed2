"""What a watcher is told at its start, as one frozen value."""

from dataclasses import dataclass
from typing import cast

from ov_es_adapters.daemon.prompt_data import DEFAULT_BOUNDS, PromptBounds
from ov_es_adapters.errors import BadInputError
from ov_es_domain.identity import Identifier
from ov_es_domain.policy.admission import SIGNATURE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentIdentity:
    """Whom the watcher watches for."""

    identifier: str
    name: str = ""
    """The display name; people may mention either."""
    id: Identifier | None = None
    """The numeric id, if it's known from the start; else `list_agents` tells (TK-9)."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """All names that it's mentioned by (TH-2)."""
        return tuple(dict.fromkeys(name for name in (self.identifier, self.name) if name))


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """All values have the defaults of the design; times are in seconds."""

    agent: AgentIdentity
    workdir: str | None = None
    """The workspace's root; None: it may not touch code (TK-28)."""
    concurrency: int = 3
    """Work runs at a time; replies are always one at a time (Q-107)."""
    model: str | None = None
    chat_model: str | None = None
    work_limit_seconds: float = 90 * 60.0
    reply_limit_seconds: float = 10 * 60.0
    reconcile_seconds: float = 5 * 60.0
    catch_up_seconds: float = 10.0
    """How long answers wait at most for what was missed, after each connection."""
    call_deadline_seconds: float = 20.0
    repost_wait_seconds: float = 40.0
    """After an attempt was left unknown: how long a late one may still arrive."""
    retry_seconds: float = 5.0
    """The first pause after a refused attempt; it doubles up to `retry_seconds_max`."""
    retry_seconds_max: float = 300.0
    stop_seconds: float = 30.0
    attempts_max: int = 3
    """Runs of one turn that may end in a crash before it's set aside (EVT-16)."""
    agent_turns_max: int = 3
    """Turns in a thread that agents ask for in a row without a person's message."""
    signature_seconds: float = SIGNATURE_SECONDS
    """How long the same words count as one message where the team gives it no id (WS-15)."""
    message_characters_max: int = 20_000
    """A longer answer is posted in parts (OUT-10)."""
    posts_per_minute_max: int = 5
    """Messages into one thread in a minute; what is more waits (LUP-05)."""
    delivery_age_seconds_max: float = 24 * 3600.0
    """Answers that are older than this aren't posted after a long stop."""
    introduction_channel: Identifier | None = None
    """Where the agent introduces itself once (WS-22); None: it doesn't."""
    introduction_seconds: float = 30.0
    """How long after the first connection it does so."""
    store_retry_seconds: float = 30.0
    """How long a locked or full store is waited for before it counts as unhealthy."""
    notice_seconds: float = 1.0
    """How often it's looked whether somebody else, such as an operator, wrote to the log."""
    prompt_bounds: PromptBounds = DEFAULT_BOUNDS
    """How much of what others wrote goes into a prompt."""
    once: bool = False
    """Reconcile, drain, stop."""

    def __post_init__(self) -> None:
        """Refuse what no watcher could run with (Q-108, MCP-102)."""
        # Other files' values come in here, too, whatever the annotation says.
        given = cast("object", self.concurrency)
        if not isinstance(given, int) or isinstance(given, bool):
            raise BadInputError(f"concurrency is {given!r}; it must be a whole number")
        if self.concurrency < 1:
            raise BadInputError(f"concurrency is {self.concurrency}; it must be 1 or more")
        for name in ("message_characters_max", "posts_per_minute_max", "agent_turns_max"):
            if getattr(self, name) < 1:
                raise BadInputError(f"{name} is {getattr(self, name)}; it must be 1 or more")

    @property
    def has_workspace(self) -> bool:
        """Whether it may touch code."""
        return self.workdir is not None
