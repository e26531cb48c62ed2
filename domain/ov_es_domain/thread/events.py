"""What can have happened to a thread. Append-only: add an @2, never edit an @1."""

from ov_es_domain.lifecycle import Event, event


@event("thread.turn_noted@1", transition="note_turn")
class ThreadTurnNoted(Event):
    """A turn of ours was queued in it."""

    source: str
    by_agent: bool
    agent_turns: int
    """How many in a row were asked for by agents; 0 after a person's."""


@event("thread.heard@1", transition="hear")
class ThreadHeard(Event):
    """Something was said in it that isn't for us."""

    source: str
    by_agent: bool
    for_others: bool


@event("thread.paused@1", transition="pause")
class ThreadPaused(Event):
    """Agents have had their turns; only a person is answered now."""

    source: str
    agent_turns: int


@event("thread.stood_down@1", transition="stand_down")
class ThreadStoodDown(Event):
    """Nothing of ours is wanted in it, until a newer request."""

    by: str
    source: str
    at: float


@event("thread.redirected@1", transition="redirect")
class ThreadRedirected(Event):
    """Somebody else has it, until a newer request."""

    by: str
    source: str
    at: float


@event("thread.woken@1", transition="wake")
class ThreadWoken(Event):
    """We're wanted again."""

    source: str
