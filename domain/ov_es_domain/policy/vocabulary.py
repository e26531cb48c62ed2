"""The words that policies look for: lists that come in as data, and that a team can extend."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Lower-case words and phrases, each compared as whole words; without any nothing is found."""

    stand_down: tuple[str, ...] = ()
    """A message that is nothing but one of these, names and courtesies aside, stands a thread
    down: it has to be about the work as a whole (TH-7)."""
    courtesies: tuple[str, ...] = ()
    """What may stand around a stand-down without changing what it means."""
    actions: tuple[str, ...] = ()
    """What coding work does (TH-13)."""
    targets: tuple[str, ...] = ()
    """What coding work is done to (TH-13)."""
    coordination: tuple[str, ...] = ()
    """What a ticket that only asks for coordination begins with (TK-26)."""
