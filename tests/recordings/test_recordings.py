"""What real runs printed, read and held against what they really did."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from tests.recordings.comparison import contradictions, has_hidden_calls
from tests.recordings.folders import ROOT, Recording, recordings, root, streams_without_truth

from ov_es_adapters.runtimes.streams import parser_for
from ov_es_domain.observation import StreamObservation, StreamOutcome


def where(applies: Callable[[Recording], bool]) -> list[Any]:
    return [pytest.param(each, id=each.name) for each in recordings() if applies(each)]


def ended_by_itself(recording: Recording) -> bool:
    return recording.meta["ended_by"] in {"itself", "the client closed stdin after the turn"}


def last_words(recording: Recording) -> str | None:
    script = recording.meta["script"]
    last = script[-1] if isinstance(script, list) and script else {}
    said = last.get("say")
    return said if isinstance(said, str) else None


ALL = where(lambda _recording: True)
ours = pytest.mark.skipif(root() != ROOT, reason="other recordings have other cases")

OUTCOMES = {
    "cut_off": "cut_off",
    "http_401_few_retries": "error",
    "http_429_forever": "quota",
    "interrupt_by_control": "interrupted",
    "bad_config": "error",
    "mcp_required_down": "error",
    "resume_unknown_id": "error",
    "load_unknown": "error",
    "tool_asks_nobody": "no_answer",
    "cancel_in_tool": "interrupted",
    "kill_kill_group_detached": "interrupted",
    "kill_term_group": "interrupted",
    "kill_term_parent": "interrupted",
    "timeout_before_first_byte": "interrupted",
    "timeout_model_silent": "interrupted",
    "no_sandbox_kill_kill_group": "interrupted",
    "stdin_closed": "error",
}
OUTCOMES_OF_SOME = {
    # codex tells a model that declines by saying nothing at all.
    "claude-2.1.332/refusal": "refused",
    "opencode-1.18.33/refusal": "refused",
    "codex-0.171.0/refusal": "no_answer",
    # Over ACP, opencode tells an answer that was cut like any other; nobody could know.
    "opencode-acp-1.18.33/cut_off": "ok",
    "codex-0.171.0/http_401": "error",
    "codex-0.171.0/http_500_forever": "error",
    "codex-0.171.0/stream_error": "error",
    "codex-0.171.0/stream_garbage": "error",
    "claude-2.1.332/http_401": "interrupted",
    "claude-2.1.332/http_500_forever": "interrupted",
    "claude-2.1.332/stream_error": "error",
    "claude-2.1.332/stream_garbage": "error",
    "opencode-1.18.33/http_401": "error",
    "opencode-1.18.33/http_500_forever": "interrupted",
    "opencode-1.18.33/stream_error": "interrupted",
    "opencode-1.18.33/stream_garbage": "interrupted",
    "opencode-1.18.33/shell_not_found": "interrupted",
    "claude-agent-acp-0.101.0/http_401": "error",
    "claude-agent-acp-0.101.0/http_500_forever": "error",
    "codex-acp-2.6.0/http_401": "error",
    "codex-acp-2.6.0/http_500_forever": "error",
    "opencode-acp-1.18.33/http_401": "error",
    "opencode-acp-1.18.33/http_500_forever": "error",
    # A refused permission ends the turn of codex' agent, and leaves opencode's without words.
    "codex-acp-2.6.0/permission_rejected": "interrupted",
    "opencode-acp-1.18.33/permission_rejected": "no_answer",
}
EXITS = {
    "shell_nonzero": [3],
    "claude-2.1.332/shell_not_found": [127, 1],
    "codex-0.171.0/shell_not_found": [127, 137],
    "opencode-1.18.33/shell_not_found": [127],
    "codex-0.171.0/kill_term_parent": [0, None],
    "tool_denied": [],
}


def read(recording: Recording, *, exit_status: int | None) -> StreamObservation:
    parser = parser_for(recording.dialect)
    for line in recording.lines:
        parser.feed(line)
    return parser.conclude(exit_status)


def test_there_are_recordings_and_each_stream_comes_with_its_truth() -> None:
    assert recordings()
    assert streams_without_truth() == ()


@pytest.mark.parametrize("recording", ALL)
def test_ev_1_a_conclusion_never_contradicts_what_happened(recording: Recording) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    assert contradictions(seen, recording.meta) == []


@pytest.mark.parametrize("recording", ALL)
def test_a_conclusion_without_the_exit_status_contradicts_nothing(recording: Recording) -> None:
    seen = read(recording, exit_status=None)

    assert contradictions(seen, recording.meta) == []


@pytest.mark.parametrize("recording", ALL)
def test_every_line_of_a_real_stream_is_known(recording: Recording) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    assert (seen.unreadable_lines, seen.unknown_events) == (
        recording.meta["stdout"].get("lines_not_json", 0) if "stdout" in recording.meta else 0,
        0,
    )


@pytest.mark.parametrize("recording", where(ended_by_itself))
def test_unknown_is_said_only_where_a_call_failed(recording: Recording) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    unknown = {call.tool for call in seen.calls if call.ok is None}
    assert not has_hidden_calls(seen)
    assert seen.edits is not None
    assert seen.ticket_read is not None
    assert (seen.posts is None) == ("post_message" in unknown)
    assert (seen.ticket_updated is None) == ("update_ticket" in unknown)


@pytest.mark.parametrize("recording", ALL)
def test_ev_7_every_call_that_is_not_proven_has_a_reason(recording: Recording) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    assert all(bool(call.reason) != (call.ok is True) for call in seen.calls)


@pytest.mark.parametrize("recording", ALL)
def test_what_was_done_by_calls_that_answered_is_known(recording: Recording) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    calls = recording.meta["truth"]["mcp_calls"]
    answered = Counter(call["tool"] for call in calls if call["outcome"] in {"done", "weird"})
    assert Counter(call.tool for call in seen.calls if call.ok) == answered


@pytest.mark.parametrize("recording", where(lambda each: last_words(each) is not None))
def test_str_17_the_text_is_the_last_thing_that_the_model_was_made_to_say(
    recording: Recording,
) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    if seen.outcome is StreamOutcome.OK:
        assert seen.text.strip() == str(last_words(recording)).strip()


@pytest.mark.parametrize("recording", where(lambda each: bool(each.meta.get("session_id"))))
def test_str_18_a_conversation_has_the_id_that_the_run_was_given(recording: Recording) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    assert seen.conversation in {None, recording.meta["session_id"]}


@ours
@pytest.mark.parametrize("recording", ALL)
def test_rn_16_each_way_to_end_has_its_class(recording: Recording) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    by_case = OUTCOMES.get(recording.case, "ok")
    assert seen.outcome.value == OUTCOMES_OF_SOME.get(recording.name, by_case)


@ours
@pytest.mark.parametrize("recording", where(lambda each: each.name in EXITS or each.case in EXITS))
def test_exit_statuses_of_commands_are_those_of_the_script(recording: Recording) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    expected = EXITS.get(recording.name, EXITS.get(recording.case))
    assert [command.exit for command in seen.commands] == expected


@ours
@pytest.mark.parametrize(
    "recording",
    where(lambda each: each.case.startswith("success") or each.case == "uncommitted_new_file"),
)
def test_ev_12_the_edit_of_a_good_run_is_counted_once(recording: Recording) -> None:
    seen = read(recording, exit_status=recording.exit_status)

    assert seen.edits == 1
