"""codex' stream: items by id, errors that may pass, and a turn's own end."""

from typing import Any

import pytest
from tests.adapters.runtimes.streams.reading import oks, only_call, read

from ov_es_domain.observation import StreamOutcome, Usage

STARTED = [{"type": "thread.started", "thread_id": "t1"}, {"type": "turn.started"}]
ENDED = {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 3}}


def item(
    kind: str, identifier: str = "i1", on: str = "completed", **fields: Any
) -> dict[str, Any]:
    return {"type": f"item.{on}", "item": {"id": identifier, "type": kind, **fields}}


def said(text: str) -> dict[str, Any]:
    return item("agent_message", text=text)


def called(tool: str, identifier: str = "c1", **fields: Any) -> dict[str, Any]:
    return item("mcp_tool_call", identifier, server="openvisio-team", tool=tool, **fields)


def error(message: str) -> dict[str, Any]:
    return {"type": "error", "message": message}


def failed(message: str) -> dict[str, Any]:
    return {"type": "turn.failed", "error": {"message": message}}


def test_str_10_errors_that_pass_do_not_end_the_turn() -> None:
    retries = [error(f"connection lost, trying again {n} of 5") for n in (1, 2, 3)]

    seen = read("codex", *STARTED, *retries, said("A"), ENDED)

    assert (seen.outcome, seen.text) == (StreamOutcome.OK, "A")


@pytest.mark.parametrize("before", [[], [said("I will now")]])
def test_str_11_a_turn_that_failed_is_no_success_whatever_the_exit(
    before: list[dict[str, Any]],
) -> None:
    seen = read(
        "codex", *STARTED, *before, error("model at capacity"), failed("model at capacity")
    )

    assert seen.outcome is StreamOutcome.ERROR


def test_str_13_a_failure_inside_of_an_output_is_text() -> None:
    fixture = '{"type":"turn.failed","error":{"message":"from a fixture"}}'

    seen = read(
        "codex",
        *STARTED,
        error("from a fixture"),
        item("command_execution", aggregated_output=fixture, exit_code=0, status="completed"),
        said("A"),
        ENDED,
    )

    assert (seen.outcome, seen.text) == (StreamOutcome.OK, "A")


def test_str_17_only_the_last_message_is_the_answer() -> None:
    seen = read("codex", *STARTED, said("looking..."), said("running tests"), said("A"), ENDED)

    assert seen.text == "A"


@pytest.mark.parametrize(
    "message",
    [
        "You've hit your usage limit. Try again at 18:00.",
        "exceeded retry limit, last status: 429 Too Many Requests",
        "Quota exceeded. Check your plan and billing details.",
    ],
)
def test_str_21_a_limit_that_ends_the_turn_is_the_quota(message: str) -> None:
    seen = read("codex", *STARTED, error(message), failed(message), exit_status=1)

    assert (seen.outcome, seen.text) == (StreamOutcome.QUOTA, "")


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        ("Incomplete response returned, reason: max_output_tokens", StreamOutcome.CUT_OFF),
        ("Incomplete response returned, reason: content_filter", StreamOutcome.REFUSED),
        ("unexpected status 403 Forbidden: no access", StreamOutcome.REFUSED),
        ("unexpected status 401 Unauthorized", StreamOutcome.ERROR),
        ("exceeded retry limit, last status: 500 Internal Server Error", StreamOutcome.ERROR),
        ("", StreamOutcome.ERROR),
    ],
)
def test_a_failed_turn_says_why(message: str, outcome: StreamOutcome) -> None:
    assert read("codex", *STARTED, failed(message), exit_status=1).outcome is outcome


def test_rn_17_a_turn_without_an_end_is_not_good_with_exit_0() -> None:
    assert read("codex", *STARTED, said("Done.")).outcome is StreamOutcome.ERROR


@pytest.mark.parametrize(
    ("exit_status", "outcome"),
    [
        (0, StreamOutcome.OK),
        (None, StreamOutcome.OK),
        (-15, StreamOutcome.OK),
        (1, StreamOutcome.ERROR),
    ],
)
def test_rn_18_a_completed_turn_needs_an_exit_that_is_not_codex_own_failure(
    exit_status: int | None, outcome: StreamOutcome
) -> None:
    assert read("codex", *STARTED, said("A"), ENDED, exit_status=exit_status).outcome is outcome


def test_silence_is_no_answer() -> None:
    assert read("codex", *STARTED, ENDED).outcome is StreamOutcome.NO_ANSWER


def test_ev_1_words_are_no_evidence() -> None:
    seen = read("codex", *STARTED, said("I called post_message and updated the ticket."), ENDED)

    assert (seen.calls, seen.posts, seen.ticket_updated, seen.edits) == ((), 0, False, 0)


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "failed", "error": None, "result": {"content": [{"text": "archived"}]}},
        {"status": "completed", "error": {"message": "archived"}},
        {"status": "completed", "result": {"isError": True, "content": [{"text": "archived"}]}},
        {"on": "failed", "error": {"message": "archived"}},
    ],
)
def test_ev_4_failed_beats_completed(fields: dict[str, Any]) -> None:
    seen = read("codex", *STARTED, called("post_message", **fields), said("Posted."), ENDED)

    assert (only_call(seen).ok, only_call(seen).reason, seen.posts) == (None, "archived", None)


def test_ev_12_a_call_that_started_and_completed_is_one() -> None:
    seen = read(
        "codex",
        *STARTED,
        called("post_message", on="started", status="in_progress"),
        called("post_message", status="completed", result={"content": []}),
        called("update_ticket", "c2", status="completed"),
        said("Posted."),
        ENDED,
    )

    assert oks(seen) == [("post_message", True), ("update_ticket", True)]
    assert (seen.posts, seen.ticket_updated) == (1, True)


def test_ev_16_a_later_success_does_not_undo_what_a_failure_may_have_done() -> None:
    seen = read(
        "codex",
        *STARTED,
        called("post_message", status="failed"),
        called("post_message", "c2", status="completed"),
        said("Posted."),
        ENDED,
    )

    assert (oks(seen), seen.posts) == ([("post_message", None), ("post_message", True)], None)


def test_a_post_that_codex_did_not_approve_never_left() -> None:
    refusal = {"message": "MCP tool call requires approval, but approval policy is never"}

    seen = read("codex", called("post_message", status="failed", error=refusal), ENDED)

    assert (only_call(seen).ok, seen.posts) == (False, 0)


def test_a_server_that_uses_codex_words_proves_nothing() -> None:
    answer = {
        "content": [{"text": "MCP tool call requires approval, but approval policy is never"}]
    }

    seen = read("codex", called("post_message", status="failed", result=answer), ENDED)

    assert (only_call(seen).ok, seen.posts) == (None, None)


def test_a_server_that_has_no_such_tool_made_no_post() -> None:
    answer = {"content": [{"type": "text", "text": "Unknown tool: post_message"}]}

    seen = read("codex", called("post_message", status="failed", result=answer), ENDED)

    assert (only_call(seen).ok, seen.posts) == (False, 0)


def test_a_tool_of_another_server_is_not_the_teams() -> None:
    other = item("mcp_tool_call", server="other", tool="post_message", status="completed")

    seen = read("codex", *STARTED, other, said("Posted."), ENDED)

    assert (seen.calls, seen.posts) == ((), 0)


def test_ev_5_local_work_is_told_by_its_type() -> None:
    seen = read(
        "codex",
        *STARTED,
        item("file_change", "i1", status="completed"),
        item("apply_patch", "i2", status="completed"),
        item("command_execution", "i3", exit_code=-1, status="failed"),
        item("command_execution", "i4", on="started", exit_code=None, status="in_progress"),
        item("command_execution", "i5", exit_code=None, status="declined"),
        said("Done."),
        ENDED,
    )

    assert (seen.edits, [command.exit for command in seen.commands]) == (2, [-1, None])


@pytest.mark.parametrize("on", ["started", "failed"])
def test_a_change_that_stopped_half_way_is_unknown(on: str) -> None:
    seen = read("codex", *STARTED, item("file_change", on=on), exit_status=-9)

    assert seen.edits is None


def test_a_subagents_calls_are_out_of_sight() -> None:
    spawned = item("collab_tool_call", tool="spawn_agent", status="completed")

    seen = read("codex", *STARTED, spawned, said("Posted."), ENDED)

    assert (seen.posts, seen.edits, seen.ticket_read, seen.ticket_updated) == (None,) * 4


def test_a_warning_among_the_items_is_no_failure() -> None:
    seen = read("codex", *STARTED, item("error", message="unknown model"), said("A"), ENDED)

    assert (seen.outcome, seen.unknown_events) == (StreamOutcome.OK, 0)


def test_unknown_items_and_events_are_counted() -> None:
    seen = read("codex", *STARTED, item("novelty"), {"type": "turn.paused"}, said("A"), ENDED)

    assert seen.unknown_events == 2


def test_tokens_are_those_of_the_whole_thread() -> None:
    seen = read("codex", *STARTED, said("A"), ENDED)

    assert seen.usage == Usage(input_tokens=7, output_tokens=3)
