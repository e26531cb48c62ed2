"""The words that policies look for: lists that a team can extend, conservative by default."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Lower-case words and phrases, each compared as whole words."""

    stand_down: tuple[str, ...] = (
        "stop",
        "stop please",
        "please stop",
        "stand down",
        "never mind",
        "nevermind",
        "cancel",
        "cancel that",
        "cancel this",
        "forget it",
        "drop it",
        "abort",
        "leave it",
    )
    """A message that is nothing but one of these, names and courtesies aside, stands a thread
    down: it has to be about the work as a whole."""
    courtesies: tuple[str, ...] = (
        "please", "thanks", "thank you", "now", "ok", "okay", "hey", "hi", "sorry", "pls",
        "working on this", "working on it", "work on this", "the work", "all work",
        "everything", "this", "that", "it", "here", "immediately", "and", "for now", "we",
    )  # fmt: skip
    """What may stand around a stand-down without changing what it means."""
    actions: tuple[str, ...] = (
        "implement", "fix", "change", "refactor", "rename", "add", "remove", "delete", "update",
        "write", "rewrite", "migrate", "upgrade", "build", "create", "patch", "revert", "edit",
    )  # fmt: skip
    """What coding work does (TH-13)."""
    targets: tuple[str, ...] = (
        "file", "files", "branch", "code", "pull request", "pr", "function", "class", "module",
        "test", "tests", "repository", "repo", "endpoint", "script", "commit", "method",
        "component", "migration", "config", "dockerfile", "readme", "bug",
    )  # fmt: skip
    """What coding work is done to (TH-13)."""
    coordination: tuple[str, ...] = (
        "ask", "tell", "remind", "notify", "announce", "summarise", "summarize", "coordinate",
        "schedule", "invite", "inform", "collect feedback", "follow up", "check in",
    )  # fmt: skip
    """What a ticket that only asks for coordination begins with (TK-26)."""


ENGLISH = Vocabulary()
