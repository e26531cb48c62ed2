"""What a run did is taken from who saw it best, and what's told otherwise is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_domain.observation import (
    RunEnding,
    RunReport,
    ShellCommand,
    StreamObservation,
    ToolCall,
    WorkspaceChange,
)
from ov_es_domain.policy.evidence import combine
from ov_es_domain.policy.witnesses import weighed

READ = ToolCall(tool="get_ticket", ok=True)
UPDATE = ToolCall(tool="update_ticket", ok=True)
POST = ToolCall(tool="post_message", ok=True)


def _report(
    *told: ToolCall,
    seen: tuple[ToolCall, ...] | None,
    changed: bool | None = None,
    edits: int | None = 0,
    commands: tuple[ShellCommand, ...] = (),
) -> RunReport:
    return RunReport(
        ending=RunEnding.EXITED,
        stream=StreamObservation(calls=told, edits=edits, commands=commands),
        workspace=WorkspaceChange(changed=changed),
        witnessed=seen,
    )


def test_px_10_what_went_through_the_gate_counts_and_not_what_the_stream_tells() -> None:
    claimed = weighed(_report(READ, UPDATE, POST, seen=(READ,)))

    assert claimed.stream.calls == (READ,)
    assert (claimed.stream.ticket_read, claimed.stream.ticket_updated) == (True, False)
    assert claimed.stream.posts == 0
    assert claimed.contradictions == (
        "post_message succeeded once by the stream, never at the gate",
        "update_ticket succeeded once by the stream, never at the gate",
    )


def test_px_10_what_the_stream_leaves_out_is_known_all_the_same() -> None:
    quiet = weighed(_report(seen=(READ, UPDATE, UPDATE)))

    assert quiet.stream.ticket_updated
    assert "update_ticket succeeded never by the stream, twice at the gate" in quiet.contradictions


@pytest.mark.parametrize(("ok", "known"), [(True, True), (False, False), (None, None)])
def test_px_10_a_call_whose_answer_was_lost_is_unknown(*, ok: bool | None, known: object) -> None:
    seen = (ToolCall(tool="update_ticket", ok=ok), ToolCall(tool="post_message", ok=ok))

    stream = weighed(_report(seen=seen)).stream

    assert stream.ticket_updated is known
    assert stream.posts == (None if ok is None else int(ok))


def test_without_a_gate_the_stream_is_all_there_is() -> None:
    told = _report(READ, UPDATE, seen=None)

    assert weighed(told) == told


def test_ev_17_edits_that_git_does_not_see_are_a_contradiction() -> None:
    gone = weighed(_report(seen=None, edits=2, changed=False))
    unseen = weighed(_report(seen=None, changed=True))
    shell = weighed(_report(seen=None, changed=True, commands=(ShellCommand(exit=0),)))

    assert gone.contradictions == ("the stream tells of edits, git of no change",)
    assert unseen.contradictions == ("git tells of a change, the stream of nothing that made one",)
    assert shell.contradictions == ()


def test_a_recovery_keeps_what_was_contradicted_before() -> None:
    first = weighed(_report(seen=None, edits=1, changed=False))

    assert combine(first, weighed(_report(seen=(READ,)))).contradictions == (
        *first.contradictions,
        "get_ticket succeeded never by the stream, once at the gate",
    )


CALLS = st.lists(
    st.builds(ToolCall, tool=st.sampled_from(["get_ticket", "post_message"]), ok=st.booleans())
).map(tuple)


@given(told=CALLS, seen=CALLS)
def test_weighing_again_finds_no_more_to_contradict(
    told: tuple[ToolCall, ...], seen: tuple[ToolCall, ...]
) -> None:
    once = weighed(_report(*told, seen=seen))

    assert once.stream.calls == seen
    assert weighed(once).contradictions == ()
