"""What the watcher itself says to people: in the first person, by slugs, never more than it knows.

Source: BL-1 to BL-16, DL-19, TK-29, CY-25.
"""

from collections.abc import Sequence

from ov_es_domain.observation import RunReport
from ov_es_domain.policy.evidence import Judgement
from ov_es_domain.turn.kinds import Lane

_FILES_MAX = 10
"""More names than these aren't read by anybody in a chat."""
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
    if judgement.lacks_evidence:
        tried = " I tried once more to complete it." if recovered else ""
        lacks = "; ".join(judgement.missing)
        fact = (
            " There are no changes in the repository." if judgement.reason == "no-change" else ""
        )
        return (
            f"I couldn't complete {what}: I can't show {lacks}.{fact}{tried}"
            f" I don't claim that it's done.{after}"
        )
    if judgement.reason == "failed-actions":
        tools = ", ".join(judgement.missing)
        return (
            f"I couldn't complete {what}: these actions failed: {tools}. I don't claim that"
            f" it's done. Please ask me again, or help me with them.{after}"
        )
    kind = "My work on" if lane is Lane.WORK else "My reply to"
    tried = " That was my second try." if recovered else ""
    return (
        f"{kind} {what} didn't come to an end: {describe(judgement.reason)}.{tried}"
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


def push_note() -> str:
    """Return what the ticket itself gets of that: it mustn't hold words that authorize (BL-13)."""
    return (
        "I've paused here: before I can go on, a person has to confirm something in the project's"
        " channel. I don't try again by myself until then."
    )


def loop_notice() -> str:
    """Return what people are told when agents have had their turns in a thread (LUP-02)."""
    return (
        "I've answered other agents here several times in a row, without a word from a person, so"
        " I stop now. Write to me in this thread, and I'll go on."
    )


def no_workspace_notice(label: str) -> str:
    """Return the blocker for a coding ticket of an agent that has no workspace (TK-28)."""
    return (
        f"I'm blocked on {label}: it asks for a change in code, and I have no workspace to work"
        " in. Please give me one (`ov-es watch --workdir DIR`), or give it to somebody else."
    )


def completion_report(label: str, title: str, status: str, answer: str, *, facts: str = "") -> str:
    """Return the report of a ticket whose work is done and shown; `facts` are what was seen of it.

    >>> completion_report("COR-5", "Fix the login form", "in_review", "Fixed in PR 12.")
    "I've finished COR-5 (Fix the login form), now in review. Fixed in PR 12."
    """
    words = _status_words(status)
    now = f", now {words}" if words else ""
    rest = "".join(f" {said.strip()}" for said in (answer, facts) if said.strip())
    return f"I've finished {_named(label, title)}{now}.{rest}"


def unchecked_report(label: str, title: str, status: str) -> str:
    """Return the report of a ticket that is done, whose run nobody saw the end of.

    >>> unchecked_report("COR-5", "Fix the login form", "in_review")[:45]
    'COR-5 (Fix the login form) is now in review. '
    """
    return (
        f"{_named(label, title)} is now {_status_words(status) or 'done'}. I worked on it, but I"
        " was cut short before I could check what came of that."
    )


def _named(label: str, title: str) -> str:
    return f"{label} ({title})" if title and title != label else label


def _status_words(status: str) -> str:
    return status.replace("_", " ").replace("-", " ").strip()


def work_facts(report: RunReport) -> str:
    """Return what the directory showed of a run's work, beside the run's own words (TRU-04).

    What nobody has looked at is said to be so (TRU-08); "" where nothing is known.
    """
    work = report.workspace
    if not work.files:
        return ""
    names = ", ".join(work.files[:_FILES_MAX])
    more = len(work.files) - _FILES_MAX
    said = f"Changed: {names}" + (f" and {more} more." if more > 0 else ".")
    if not work.commits:
        return f"{said} Nothing of that is committed."
    count = "1 commit" if work.commits == 1 else f"{work.commits} commits"
    if any(call.ok and call.tool == "create_pull_request" for call in report.stream.calls):
        return f"{said} {count}."
    return f"{said} {count}; I haven't checked whether an open pull request holds them."


def joined(parts: Sequence[str]) -> str:
    """Return phrases as one, for logs."""
    return "; ".join(parts)
