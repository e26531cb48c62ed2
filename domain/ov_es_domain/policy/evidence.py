"""What a run must show before it counts as done: exit status 0 proves nothing (EV-1)."""

from dataclasses import dataclass, replace

from ov_es_domain.observation import (
    RunEnding,
    RunReport,
    StreamObservation,
    StreamOutcome,
    ToolCall,
    WorkspaceChange,
)
from ov_es_domain.turn.kinds import Lane, Verdict

CODE_CALLS = frozenset(
    {
        "create_codebase_branch",
        "create_codebase_commit",
        "write_codebase_file",
        "create_pull_request",
    }
)
"""Team tools whose success is work on a repository (EV-6)."""

WATCHER_CALLS = frozenset({"post_message"})
"""Tools that no run is given, since the watcher delivers (DL-13): that a run tried one in vain
says nothing about its work."""

_ENDINGS = {
    RunEnding.NOT_STARTED: "could-not-start",
    RunEnding.STALLED: "stalled",
    RunEnding.STOPPED: "stopped",
}
MISSING_CHANGE = "a change in the repository"
MISSING_REVERTED = "a change in the repository (there were edits, and they were taken back)"
MISSING_READ = "the ticket, read through get_ticket"
MISSING_UPDATE = "the ticket, updated through update_ticket"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a report comes to."""

    verdict: Verdict
    reason: str = ""
    """A code; "" for a success."""
    missing: tuple[str, ...] = ()
    """What it couldn't show, as phrases for people and for the recovery prompt (EV-25)."""

    @property
    def lacks_evidence(self) -> bool:
        """Whether the run itself was good, and only can't show what is asked for (CY-15)."""
        return self.reason in {"evidence-missing", "no-change"}


def failed_calls(stream: StreamObservation) -> tuple[ToolCall, ...]:
    """Return each tool's last failure, unless a later success took it out (EV-16)."""
    failures: dict[str, ToolCall] = {}
    for call in stream.calls:
        if call.tool in WATCHER_CALLS:
            continue
        if call.ok:
            failures.pop(call.tool, None)
        else:
            # Where nobody knows whether a write had its effect, it doesn't count as one that had.
            failures[call.tool] = call
    return tuple(failures.values())


def _has_call(stream: StreamObservation, *tools: str) -> bool:
    return any(call.ok and call.tool in tools for call in stream.calls)


def changed_repository(report: RunReport) -> bool:
    """Tell whether work was done: git is the first witness, the stream the second (EV-17)."""
    if report.workspace.changed is not None:
        return report.workspace.changed or _has_call(report.stream, *CODE_CALLS)
    return bool(report.stream.edits) or _has_call(report.stream, *CODE_CALLS)


def is_unchanged(report: RunReport) -> bool:
    """Tell whether it's known that nothing was changed: git looked, and saw no difference."""
    return report.workspace.changed is False and not changed_repository(report)


def reverted(report: RunReport) -> bool:
    """Tell whether a run edited files, and nothing of it is left (TRU-04)."""
    return is_unchanged(report) and bool(report.stream.edits)


def missing(report: RunReport, *, is_ticket: bool) -> tuple[str, ...]:
    """Return what a coding run can't show, in a fixed order (EV-22 to EV-25)."""
    lacks: list[str] = []
    if not changed_repository(report):
        lacks.append(MISSING_REVERTED if reverted(report) else MISSING_CHANGE)
    if is_ticket and not report.stream.ticket_read:
        lacks.append(MISSING_READ)
    if is_ticket and not report.stream.ticket_updated:
        lacks.append(MISSING_UPDATE)
    lacks.extend(
        f"{call.tool}, which failed" + (f" ({call.reason})" if call.reason else "")
        for call in failed_calls(report.stream)
    )
    return tuple(lacks)


def combine(first: RunReport, second: RunReport) -> RunReport:
    """Return what a run and its recovery show together (EV-18 to EV-20).

    A failure of the first is forgotten only where the second called the same tool.
    """
    called = {call.tool for call in second.stream.calls}
    kept = tuple(call for call in first.stream.calls if call.ok or call.tool not in called)
    stream = replace(
        second.stream,
        text=second.stream.text or first.stream.text,
        calls=(*kept, *second.stream.calls),
        edits=_sum(first.stream.edits, second.stream.edits),
        posts=_sum(first.stream.posts, second.stream.posts),
        ticket_read=first.stream.ticket_read or second.stream.ticket_read,
        ticket_updated=first.stream.ticket_updated or second.stream.ticket_updated,
    )
    workspace = WorkspaceChange(
        changed=_any_change(first.workspace, second.workspace),
        commits=first.workspace.commits + second.workspace.commits,
        files=tuple(dict.fromkeys((*first.workspace.files, *second.workspace.files))),
    )
    return replace(
        second,
        stream=stream,
        workspace=workspace,
        contradictions=(*first.contradictions, *second.contradictions),
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def _any_change(first: WorkspaceChange, second: WorkspaceChange) -> bool | None:
    if first.changed or second.changed:
        return True
    return None if first.changed is None or second.changed is None else False


def judge(report: RunReport, *, lane: Lane, is_ticket: bool) -> Judgement:
    """Return what a run's report comes to; `report` holds both runs after a recovery (CY-18)."""
    ended = _judge_ending(report)
    if ended is not None:
        return ended
    if lane is Lane.WORK:
        lacks = missing(report, is_ticket=is_ticket)
        if lacks:
            reason = "no-change" if is_unchanged(report) else "evidence-missing"
            return Judgement(verdict=Verdict.FAILED, reason=reason, missing=lacks)
        return Judgement(verdict=Verdict.SUCCEEDED)
    failures = failed_calls(report.stream)
    if failures:
        return Judgement(
            verdict=Verdict.FAILED,
            reason="failed-actions",
            missing=tuple(call.tool for call in failures),
        )
    if not report.stream.text.strip():
        return Judgement(verdict=Verdict.FAILED, reason="empty-answer")
    return Judgement(verdict=Verdict.SUCCEEDED)


def _judge_ending(report: RunReport) -> Judgement | None:
    if report.ending is RunEnding.TIMED_OUT:
        return Judgement(verdict=Verdict.TIMED_OUT, reason="time-limit")
    if report.stream.policy_block is not None:
        return Judgement(verdict=Verdict.BLOCKED, reason="push-needs-authorization")
    if report.ending is not RunEnding.EXITED:
        return Judgement(verdict=Verdict.FAILED, reason=_ENDINGS[report.ending])
    if report.stream.outcome is not StreamOutcome.OK:
        return Judgement(verdict=Verdict.FAILED, reason=f"run-{report.stream.outcome.value}")
    return None
