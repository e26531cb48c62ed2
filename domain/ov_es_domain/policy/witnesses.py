"""Takes each fact from its best witness: git and the MCP gate first, the stream second (EV-17)."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ov_es_domain.observation import RunReport, ToolCall

READING_CALLS = ("get_ticket", "list_tasks")
"""The calls that show a run its ticket (EV-13)."""


def weighed(report: RunReport) -> RunReport:
    """Return the report with what the gate saw in place of what the stream tells (PX-10).

    What the two tell differently is kept in words. Git's word on the directory stands beside the
    stream's in any case, and `evidence` prefers it.
    """
    contradictions = (*_about_calls(report), *_about_changes(report))
    calls = report.witnessed
    if calls is None:
        return replace(report, contradictions=contradictions)
    stream = replace(
        report.stream,
        calls=calls,
        posts=_count(calls, "post_message"),
        ticket_read=_was_done(calls, *READING_CALLS),
        ticket_updated=_was_done(calls, "update_ticket"),
    )
    return replace(report, stream=stream, contradictions=contradictions)


def _about_calls(report: RunReport) -> Iterator[str]:
    if report.witnessed is None:
        return
    told, seen = _successes(report.stream.calls), _successes(report.witnessed)
    for tool in sorted(told | seen):
        if told[tool] != seen[tool]:
            yield (
                f"{tool} succeeded {_times(told[tool])} by the stream,"
                f" {_times(seen[tool])} at the gate"
            )


def _about_changes(report: RunReport) -> Iterator[str]:
    stream, changed = report.stream, report.workspace.changed
    if changed is False and stream.edits:
        yield "the stream tells of edits, git of no change"
    if changed and stream.edits == 0 and not stream.commands:
        yield "git tells of a change, the stream of nothing that made one"


def _successes(calls: Iterable[ToolCall]) -> Counter[str]:
    return Counter(call.tool for call in calls if call.ok)


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def _count(calls: Iterable[ToolCall], tool: str) -> int | None:
    """Count a tool's successes; None where one may have had its effect without an answer."""
    outcomes = [call.ok for call in calls if call.tool == tool]
    return None if None in outcomes else outcomes.count(True)


def _was_done(calls: Iterable[ToolCall], *tools: str) -> bool | None:
    outcomes = [call.ok for call in calls if call.tool in tools]
    if True in outcomes:
        return True
    return None if None in outcomes else False
