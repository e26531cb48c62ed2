"""What was seen of one run, as values: the stream's words, the workspace's change, the ending.

`None` always means unknown: a stream that can't tell says so, and nobody guesses.
"""

from dataclasses import dataclass, field
from enum import StrEnum


class StreamOutcome(StrEnum):
    """How a run ended, as far as its own stream tells."""

    OK = "ok"
    ERROR = "error"
    REFUSED = "refused"
    CUT_OFF = "cut_off"
    QUOTA = "quota"
    NO_ANSWER = "no_answer"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a team tool, by its unprefixed name (EV-2)."""

    tool: str
    ok: bool | None
    """None: it may have taken effect, nobody knows."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCommand:
    """One shell command of the run."""

    exit: int | None
    """Exit status; None: it never ended, or the stream doesn't say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the run spent, in tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamObservation:
    """What a run's stream proves. The fields are those of `ov-es observe --json`."""

    outcome: StreamOutcome = StreamOutcome.UNKNOWN
    text: str = ""
    """The final answer; never evidence of work (EV-1)."""
    conversation: str | None = None
    calls: tuple[ToolCall, ...] = ()
    commands: tuple[ShellCommand, ...] = ()
    edits: int | None = 0
    """File edits that the stream shows as done; None where it can't tell."""
    posts: int | None = 0
    """Messages that the run posted itself; None where a failed call may have taken effect."""
    ticket_read: bool | None = False
    ticket_updated: bool | None = False
    usage: Usage | None = None
    unreadable_lines: int = 0
    unknown_events: int = 0
    policy_block: str | None = None
    """The repository root, or "" where unknown, when a push needs an authorization (BL-11)."""


class RunEnding(StrEnum):
    """What ended a run; whoever ended it first decides (RN-6)."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    STALLED = "stalled"
    STOPPED = "stopped"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceChange:
    """What git says about a run's directory, before and after (EV-17)."""

    changed: bool | None = None
    """Any difference of status, HEAD or refs; None: not looked, or git failed."""
    commits: int = 0
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """All that is known when a run's process is gone."""

    ending: RunEnding
    exit_status: int | None = None
    """Exit status, negative for a signal; None: never known."""
    stream: StreamObservation = field(default_factory=StreamObservation)
    workspace: WorkspaceChange = field(default_factory=WorkspaceChange)
    witnessed: tuple[ToolCall, ...] | None = None
    """The calls that went through our own MCP gate; None: there was no gate (PX-10)."""
    contradictions: tuple[str, ...] = ()
    """Where the stream says otherwise than git or the gate, for people to read."""
    stderr_tail: str = ""
    error: str = ""
    """Why it couldn't start, or what our own side failed at; redacted."""
