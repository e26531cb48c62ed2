"""The calls of one run, each joined with its result by id (EV-12), and what they come to.

Whether a call failed isn't whether it had an effect: only what the stream proves is said, and
the rest is None.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from ov_es_adapters.runtimes.streams.tool_names import POST, TASK_READS, UPDATE, is_read
from ov_es_domain.observation import ShellCommand, ToolCall


class Kind(Enum):
    """What a call is, as far as evidence cares."""

    OTHER = auto()
    TEAM = auto()
    SHELL = auto()
    EDIT = auto()
    SUBAGENT = auto()
    """Another agent works for this one; its calls may be out of our sight."""


class Fate(Enum):
    """What became of a call."""

    UNKNOWN = auto()
    DONE = auto()
    FAILED = auto()
    REFUSED = auto()
    """It never left: the agent program itself said no."""


@dataclass(slots=True)
class Call:
    """One call, while the stream is being read."""

    kind: Kind = Kind.OTHER
    tool: str = ""
    """The unprefixed name of a team tool."""
    fate: Fate = Fate.UNKNOWN
    reason: str = ""
    exit: int | None = None
    is_watched: bool = False
    """A subagent whose own calls are in the stream."""

    def settle(self, fate: Fate, reason: str = "") -> None:
        """Take a result; what is done stays done, and a refusal isn't undone by its error."""
        if self.fate is Fate.DONE or (self.fate is Fate.REFUSED and fate is not Fate.DONE):
            return
        self.fate = fate
        self.reason = "" if fate is Fate.DONE else reason

    @property
    def ok(self) -> bool | None:
        """Whether it had its effect; None: nobody knows."""
        match self.fate:
            case Fate.DONE:
                return True
            case Fate.REFUSED:
                return False
            case Fate.FAILED:
                return False if is_read(self.tool) else None
            case Fate.UNKNOWN:
                return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the calls come to, field for field as in `StreamObservation`."""

    calls: tuple[ToolCall, ...]
    commands: tuple[ShellCommand, ...]
    edits: int | None
    posts: int | None
    ticket_read: bool | None
    ticket_updated: bool | None


class Ledger:
    """The calls of one run in the order of their first sight."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}
        self.has_hidden_calls = False
        """Calls were made that the stream doesn't show."""

    def call(self, key: str) -> Call:
        """Return the call with this id, new at its first sight; one without an id is its own."""
        key = key or f"\0{len(self._calls)}"
        return self._calls.setdefault(key, Call())

    def find(self, key: str) -> Call | None:
        """Return the call with this id, or None."""
        return self._calls.get(key)

    def evidence(self, *, is_cut: bool = False) -> Evidence:
        """Say what the calls prove.

        Args:
            is_cut: The stream ended so that one more call may have been under way, unseen.
        """
        is_hidden = self.has_hidden_calls or any(
            call.fate is not Fate.REFUSED and not call.is_watched
            for call in self._of(Kind.SUBAGENT)
        )
        team = list(self._of(Kind.TEAM))
        return Evidence(
            calls=tuple(
                ToolCall(
                    tool=call.tool,
                    ok=call.ok,
                    reason="no result was seen" if call.fate is Fate.UNKNOWN else call.reason,
                )
                for call in team
            ),
            commands=tuple(
                ShellCommand(exit=call.exit)
                for call in self._of(Kind.SHELL)
                if call.fate is not Fate.REFUSED
            ),
            edits=self._edits(is_hidden=is_hidden, is_cut=is_cut),
            posts=_posts(team, is_open=is_hidden or is_cut),
            ticket_read=_any(
                (call.ok for call in team if call.tool in TASK_READS), is_open=is_hidden or is_cut
            ),
            ticket_updated=_any(
                (call.ok for call in team if call.tool == UPDATE), is_open=is_hidden or is_cut
            ),
        )

    def _of(self, kind: Kind) -> Iterator[Call]:
        return (call for call in self._calls.values() if call.kind is kind)

    def _edits(self, *, is_hidden: bool, is_cut: bool) -> int | None:
        if is_hidden:
            return None
        fates = [call.fate for call in self._of(Kind.EDIT)]
        done = fates.count(Fate.DONE)
        # One more may have been made at the very end; that doesn't take back what was shown.
        return done if done or not (is_cut or Fate.UNKNOWN in fates) else None


def _posts(team: list[Call], *, is_open: bool) -> int | None:
    posts = [call.ok for call in team if call.tool == POST]
    return None if is_open or None in posts else posts.count(True)


def _any(oks: Iterable[bool | None], *, is_open: bool) -> bool | None:
    seen = set(oks)
    if True in seen:
        return True
    return None if is_open or None in seen else False
