"""What a thread can be asked to do."""

from ov_es_domain.lifecycle import Command, command


@command("note_thread_turn")
class NoteThreadTurn(Command):
    """Count a turn of ours in it, so that two agents can't thank each other for ever."""

    source: str
    by_agent: bool
    """Whether an agent asked for it; a person's request starts the count anew."""


@command("hear_thread")
class HearThread(Command):
    """Take notice of what was said in it and isn't for us."""

    source: str
    by_agent: bool
    """Whether an agent said it; a person's word starts the count of agents' turns anew."""
    for_others: bool
    """Whether it was said to somebody else: then an answer that names nobody is theirs too."""


@command("pause_thread")
class PauseThread(Command):
    """Answer no agent in it any more, until a person says something (LUP-02)."""

    source: str
    """The request that isn't answered."""


@command("stand_thread_down")
class StandThreadDown(Command):
    """Someone told us to stop (TH-7)."""

    by: str
    source: str
    at: float


@command("redirect_thread")
class RedirectThread(Command):
    """Someone gave it to somebody else (TH-4)."""

    by: str
    source: str
    at: float


@command("wake_thread")
class WakeThread(Command):
    """A newer message is for us again (TH-11)."""

    source: str
