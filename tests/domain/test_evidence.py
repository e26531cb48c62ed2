"""What a run must show: exit status and prose prove nothing, failures are cleared by successes."""

import pytest

from ov_es_domain.observation import (
    RunEnding,
    RunReport,
    StreamObservation,
    StreamOutcome,
    ToolCall,
    WorkspaceChange,
)
from ov_es_domain.policy.evidence import (
    MISSING_CHANGE,
    MISSING_READ,
    MISSING_REVERTED,
    MISSING_UPDATE,
    combine,
    failed_calls,
    judge,
)
from ov_es_domain.turn.kinds import Lane, Verdict


def _report(
    *,
    calls: tuple[ToolCall, ...] = (),
    text: str = "Done.",
    changed: bool | None = None,
    edits: int | None = 0,
    outcome: StreamOutcome = StreamOutcome.OK,
    ending: RunEnding = RunEnding.EXITED,
    commits: int = 0,
) -> RunReport:
    good = {call.tool for call in calls if call.ok}
    return RunReport(
        ending=ending,
        exit_status=0,
        stream=StreamObservation(
            outcome=outcome,
            text=text,
            calls=calls,
            edits=edits,
            ticket_read=bool(good & {"get_ticket", "list_tasks"}),
            ticket_updated="update_ticket" in good,
        ),
        workspace=WorkspaceChange(changed=changed, commits=commits),
    )


READ = ToolCall(tool="get_ticket", ok=True)
UPDATE = ToolCall(tool="update_ticket", ok=True)
FAILED_UPDATE = ToolCall(tool="update_ticket", ok=False, reason="no permission")


def test_ev_1_exit_status_0_and_a_claim_prove_nothing() -> None:
    claimed = _report(text="Implemented, tested and committed.", changed=False)

    found = judge(claimed, lane=Lane.WORK, is_ticket=True)

    assert found.verdict is Verdict.FAILED
    assert found.lacks_evidence
    assert found.missing == (MISSING_CHANGE, MISSING_READ, MISSING_UPDATE)


def test_ev_22_ev_23_a_change_a_read_and_an_update_are_enough() -> None:
    shown = _report(calls=(READ, UPDATE), changed=True)

    assert judge(shown, lane=Lane.WORK, is_ticket=True).verdict is Verdict.SUCCEEDED


def test_ev_17_git_is_the_first_witness_and_a_stream_that_contradicts_it_the_second() -> None:
    talk_of_edits = _report(calls=(READ, UPDATE), changed=False, edits=3)
    unseen_edits = _report(calls=(READ, UPDATE), changed=True, edits=0)
    git_is_mute = _report(calls=(READ, UPDATE), changed=None, edits=3)

    assert judge(talk_of_edits, lane=Lane.WORK, is_ticket=True).missing == (MISSING_REVERTED,)
    assert judge(unseen_edits, lane=Lane.WORK, is_ticket=True).verdict is Verdict.SUCCEEDED
    assert judge(git_is_mute, lane=Lane.WORK, is_ticket=True).verdict is Verdict.SUCCEEDED


def test_tru_01_a_claim_of_work_without_a_change_has_a_name_of_its_own() -> None:
    claimed = _report(text="Implemented and tested.", calls=(READ, UPDATE), changed=False)
    unseen = _report(text="Implemented and tested.", calls=(READ, UPDATE), changed=None)

    assert judge(claimed, lane=Lane.WORK, is_ticket=True).reason == "no-change"
    assert judge(unseen, lane=Lane.WORK, is_ticket=True).reason == "evidence-missing"


def test_tru_04_edits_that_were_taken_back_are_said_to_be_so() -> None:
    reverted = _report(calls=(READ, UPDATE), changed=False, edits=2)

    found = judge(reverted, lane=Lane.WORK, is_ticket=True)

    assert found.reason == "no-change"
    assert found.missing == (MISSING_REVERTED,)


def test_out_07_a_run_that_tried_to_post_by_itself_still_has_its_answer_posted() -> None:
    tried = _report(
        text="Fixed in branch b.",
        calls=(ToolCall(tool="post_message", ok=False, reason="disabled"),),
    )

    assert judge(tried, lane=Lane.REPLY, is_ticket=False).verdict is Verdict.SUCCEEDED


def test_tru_04_committed_work_counts_although_the_tree_is_clean() -> None:
    committed = _report(calls=(READ, UPDATE), changed=True, commits=2)

    assert judge(committed, lane=Lane.WORK, is_ticket=True).verdict is Verdict.SUCCEEDED


def test_ev_16_only_a_later_success_of_the_same_tool_clears_a_failure() -> None:
    other = ToolCall(tool="comment_ticket", ok=True)

    cleared = _report(calls=(FAILED_UPDATE, UPDATE))
    kept = _report(calls=(FAILED_UPDATE, other))
    again = _report(calls=(UPDATE, FAILED_UPDATE))

    assert failed_calls(cleared.stream) == ()
    assert failed_calls(kept.stream) == (FAILED_UPDATE,)
    assert failed_calls(again.stream) == (FAILED_UPDATE,)


def test_ev_19_a_recovery_forgets_only_failures_of_the_tools_that_it_called() -> None:
    first = _report(calls=(READ, FAILED_UPDATE), changed=True)

    quiet = combine(first, _report(calls=(READ,)))
    mended = combine(first, _report(calls=(UPDATE,)))

    assert failed_calls(quiet.stream) == (FAILED_UPDATE,)
    assert failed_calls(mended.stream) == ()
    assert judge(mended, lane=Lane.WORK, is_ticket=True).verdict is Verdict.SUCCEEDED


def test_ev_20_the_text_is_the_seconds_unless_it_is_empty() -> None:
    first = _report(text="I'll do it.")

    assert combine(first, _report(text="Done.")).stream.text == "Done."
    assert combine(first, _report(text="")).stream.text == "I'll do it."


def test_cy_14_a_reply_with_a_failed_action_is_no_success() -> None:
    found = judge(_report(calls=(FAILED_UPDATE,)), lane=Lane.REPLY, is_ticket=False)

    assert (found.verdict, found.reason) == (Verdict.FAILED, "failed-actions")
    assert found.missing == ("update_ticket",)


def test_tru_06_an_empty_answer_is_no_answer() -> None:
    found = judge(_report(text="  \n"), lane=Lane.REPLY, is_ticket=False)

    assert (found.verdict, found.reason) == (Verdict.FAILED, "empty-answer")


@pytest.mark.parametrize("outcome", [o for o in StreamOutcome if o is not StreamOutcome.OK])
@pytest.mark.parametrize("lane", list(Lane))
def test_cy_9_only_a_good_end_succeeds(outcome: StreamOutcome, lane: Lane) -> None:
    report = _report(calls=(READ, UPDATE), changed=True, outcome=outcome)

    assert judge(report, lane=lane, is_ticket=True).verdict is Verdict.FAILED


@pytest.mark.parametrize(
    ("ending", "verdict"),
    [
        (RunEnding.TIMED_OUT, Verdict.TIMED_OUT),
        (RunEnding.STALLED, Verdict.FAILED),
        (RunEnding.NOT_STARTED, Verdict.FAILED),
        (RunEnding.STOPPED, Verdict.FAILED),
    ],
)
def test_rn_6_what_ended_a_run_first_is_its_outcome(ending: RunEnding, verdict: Verdict) -> None:
    report = _report(calls=(READ, UPDATE), changed=True, ending=ending)

    assert judge(report, lane=Lane.WORK, is_ticket=True).verdict is verdict
