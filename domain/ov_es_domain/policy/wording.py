"""What the watcher itself says to people: in the first person, by slugs, never more than it knows.

Source: BL-1 to BL-16, DL-19, TK-29, CY-25.
"""

from collections.abc import Sequence

from ov_es_domain.policy.evidence import Judgement
from ov_es_domain.turn.kinds import Lane

_ENDINGS = {
    "time-limit": "it ran into its time limit",
    "stalled": "it stopped saying anything",
    "could-not-start": "my coding program couldn't be started",
    "empty-answer": "it came back without an answer",
    "run-error": "it ended with an error",
    "run-refused": "the model declined the request",
    "run-cut_off": "the answer was cut off",
    "run-quota": "my usage limit is reached",
    "run-no_answer": "it came back without an answer",
    "run-interrupted": "it was interrupted",
    "run-unknown": "it ended without saying how",
    "crashed-too-often": "it kept crashing my process",
    "internal-error": "something on my side failed",
}


def describe(reason: str) -> str:
    """Return how a run ended, in words for people.

    >>> describe("time-limit")
    'it ran into its time limit'
    """
    return _ENDINGS.get(reason, f"it ended as {reason}")


def failure_notice(judgement: Judgement, *, lane: Lane, label: str | None, recovered: bool) -> str:
    """Return the blocker for a turn that failed; `label` is the ticket's slug or title, if any."""
    what = f"{label}" if label else "this request"
    after = f" I've left {label} as it is until somebody changes it." if label else ""
    if judgement.reason == "evidence-missing":
        tried = " I tried once more to complete it." if recovered else ""
        lacks = "; ".join(judgement.missing)
        return (
            f"I couldn't complete {what}: I can't show {lacks}.{tried}"
            f" I don't claim that it's done.{after}"
        )
    if judgement.reason == "failed-actions":
        tools = ", ".join(judgement.missing)
        return (
            f"I couldn't complete {what}: these actions failed: {tools}. I don't claim that"
            f" it's done. Please ask me again, or help me with them.{after}"
        )
    kind = "My work on" if lane is Lane.WORK else "My reply to"
    return (
        f"{kind} {what} didn't come to an end: {describe(judgement.reason)}."
        f" I don't claim that it's done.{after}"
    )


def push_notice(label: str | None, root: str | None) -> str:
    """Return the blocker for a push that needs a person's authorization (BL-12)."""
    where = f"in {root}" if root else "in the repository"
    what = label or "this request"
    return (
        f"I'm blocked on {what}: publishing my branch needs your authorization, once for this"
        f" repository. Please run `ov-es authorize-pr-push` {where}. It permits nothing but"
        " pushing the agent/* branch I'm on: no main or master, no force, no other remote, no"
        " merge."
        " I've paused until then."
    )


def no_workspace_notice(label: str) -> str:
    """Return the blocker for a coding ticket of an agent that has no workspace (TK-28)."""
    return (
        f"I'm blocked on {label}: it asks for a change in code, and I have no workspace to work"
        " in. Please give me one (`ov-es watch --workdir DIR`), or give it to somebody else."
    )


def completion_report(label: str, title: str, status: str, answer: str) -> str:
    """Return the report of a ticket whose work is done and shown.

    >>> completion_report("COR-5", "Fix the login form", "in_review", "Fixed in PR 12.")
    "I've finished COR-5 (Fix the login form), now in review. Fixed in PR 12."
    """
    named = f"{label} ({title})" if title and title != label else label
    words = status.replace("_", " ").replace("-", " ").strip()
    now = f", now {words}" if words else ""
    rest = f" {answer.strip()}" if answer.strip() else ""
    return f"I've finished {named}{now}.{rest}"


def joined(parts: Sequence[str]) -> str:
    """Return phrases as one, for logs."""
    return "; ".join(parts)
