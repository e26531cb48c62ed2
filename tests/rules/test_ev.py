"""EV: what a run must show, and what its stream shows of it."""

import pytest
from tests.adapters.runtimes.streams.reading import read
from tests.adapters.runtimes.streams.test_codex import ENDED, STARTED, called, item

from ov_es_adapters.daemon.redacting import redacted_report
from ov_es_adapters.redaction import REDACTED, Redactor
from ov_es_domain.observation import (
    RunEnding,
    RunReport,
    StreamObservation,
    StreamOutcome,
    ToolCall,
    WorkspaceChange,
)
from ov_es_domain.policy.evidence import (
    CODE_CALLS,
    MISSING_CHANGE,
    changed_repository,
    combine,
    judge,
)
from ov_es_domain.turn.kinds import Lane, Verdict

READ = ToolCall(tool="get_ticket", ok=True)
UPDATE = ToolCall(tool="update_ticket", ok=True)


def _report(
    *calls: ToolCall,
    changed: bool | None = None,
    edits: int | None = 0,
    posts: int | None = 0,
    is_read: bool = False,
    is_updated: bool = False,
) -> RunReport:
    return RunReport(
        ending=RunEnding.EXITED,
        exit_status=0,
        stream=StreamObservation(
            outcome=StreamOutcome.OK,
            text="Done.",
            calls=calls,
            edits=edits,
            posts=posts,
            ticket_read=is_read,
            ticket_updated=is_updated,
        ),
        workspace=WorkspaceChange(changed=changed),
    )


def _opencode(status: str | None, tool: str = "openvisio-team_update_ticket") -> StreamObservation:
    state = {} if status is None else {"status": status}
    part = {"type": "tool", "tool": tool, "callID": "c1", "state": state}
    return read("opencode", {"type": "tool_use", "part": part})


# --- what a stream shows -------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["completed", "success", "succeeded", "ok", "OK", "Completed"])
def test_ev_3_an_item_is_completed_by_its_event_or_by_exactly_these_words(status: str) -> None:
    by_status = read(
        "codex", *STARTED, called("update_ticket", on="updated", status=status), ENDED
    )
    by_event = read("codex", *STARTED, called("update_ticket"), ENDED)

    assert [call.ok for call in (*by_status.calls, *by_event.calls)] == [True, True]


@pytest.mark.parametrize("status", ["in_progress", "okay", "not ok", "uncompleted", ""])
def test_ev_3_any_other_word_is_no_completion(status: str) -> None:
    seen = read("codex", *STARTED, called("update_ticket", on="updated", status=status), ENDED)

    assert True not in [call.ok for call in seen.calls]
    assert not seen.ticket_updated


@pytest.mark.parametrize("tool", sorted(CODE_CALLS))
def test_ev_6_a_code_base_tool_that_succeeded_is_work_on_the_repository(tool: str) -> None:
    assert changed_repository(_report(ToolCall(tool=tool, ok=True)))
    assert changed_repository(_report(ToolCall(tool=tool, ok=True), changed=False))
    for ok in (False, None):
        assert not changed_repository(_report(ToolCall(tool=tool, ok=ok)))


def test_ev_9_opencodes_edits_count_and_its_commands_are_left_to_git() -> None:
    edited = _opencode("completed", "edit")
    commanded = _opencode("completed", "bash")

    assert edited.edits == 1
    assert (commanded.edits, len(commanded.commands)) == (0, 1)
    assert not changed_repository(RunReport(ending=RunEnding.EXITED, stream=commanded))
    assert changed_repository(
        RunReport(
            ending=RunEnding.EXITED, stream=commanded, workspace=WorkspaceChange(changed=True)
        )
    )


def test_ev_10_the_reason_of_a_failed_tool_is_kept_and_holds_no_key() -> None:
    state = {"status": "error", "error": "401: x-agent-api-key=key-of-ada  is\nwrong"}
    part = {"type": "tool", "tool": "openvisio-team_update_ticket", "callID": "c", "state": state}
    report = RunReport(
        ending=RunEnding.EXITED, stream=read("opencode", {"type": "tool_use", "part": part})
    )

    (call,) = redacted_report(report, Redactor(["key-of-ada"])).stream.calls

    assert call.tool == "update_ticket"
    assert "key-of-ada" not in call.reason
    assert REDACTED in call.reason
    assert "\n" not in call.reason


@pytest.mark.parametrize(
    ("tool", "is_update", "posts"),
    [("update_ticket", True, 0), ("comment_ticket", False, 0), ("post_message", False, 1)],
)
def test_ev_14_only_update_ticket_updates_and_only_post_message_posts(
    tool: str, *, is_update: bool, posts: int
) -> None:
    seen = read("codex", *STARTED, called(tool), ENDED)
    failed = read("codex", *STARTED, called(tool, on="failed"), ENDED)

    assert (seen.ticket_updated, seen.posts) == (is_update, posts)
    assert not failed.ticket_updated


# --- what is asked for ---------------------------------------------------------------------------


@pytest.mark.parametrize("posts", [0, 1, None])
def test_ev_15_ev_24_a_post_by_the_run_is_neither_asked_for_nor_evidence(
    posts: int | None,
) -> None:
    """The watcher posts, so a run owes no result message."""
    worked = _report(READ, UPDATE, changed=True, posts=posts, is_read=True, is_updated=True)
    talked = _report(READ, UPDATE, posts=posts, is_read=True, is_updated=True)

    assert judge(worked, lane=Lane.WORK, is_ticket=True).verdict is Verdict.SUCCEEDED
    assert judge(talked, lane=Lane.WORK, is_ticket=True).missing == (MISSING_CHANGE,)


def test_ev_18_what_either_run_showed_counts() -> None:
    first = _report(READ, is_read=True, edits=2)
    second = _report(UPDATE, is_updated=True, changed=True)

    whole = combine(first, second)

    assert (whole.stream.ticket_read, whole.stream.ticket_updated) == (True, True)
    assert whole.stream.edits == 2
    assert whole.workspace.changed
    assert whole.stream.calls == (READ, UPDATE)


@pytest.mark.parametrize("is_ticket", [True, False])
def test_ev_21_only_a_ticket_has_to_be_read_and_updated(*, is_ticket: bool) -> None:
    bare = _report(changed=True)

    found = judge(bare, lane=Lane.WORK, is_ticket=is_ticket)

    assert len(found.missing) == (2 if is_ticket else 0)


def test_ev_25_a_failed_call_stands_behind_the_rest_in_a_fixed_order() -> None:
    failed = ToolCall(tool="create_task", ok=False, reason="no permission")

    found = judge(_report(failed, READ), lane=Lane.WORK, is_ticket=True)

    assert found.missing[0] == MISSING_CHANGE
    assert found.missing[-1] == "create_task, which failed (no permission)"


def test_ev_25_an_item_of_another_server_is_not_among_the_teams_failures() -> None:
    other = item("mcp_tool_call", "c9", on="failed", server="github", tool="create_issue")

    assert read("codex", *STARTED, other, ENDED).calls == ()
