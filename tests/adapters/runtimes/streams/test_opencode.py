"""opencode's stream: steps, tools told at their end, and no event for the end of the run."""

from typing import Any

import pytest
from tests.adapters.runtimes.streams.reading import Event, oks, only_call, read

from ov_es_domain.observation import StreamObservation, StreamOutcome, Usage

START = {"type": "step_start", "sessionID": "s1", "part": {"messageID": "m1"}}


def finish(reason: str = "stop", **more: Any) -> dict[str, Any]:
    return {"type": "step_finish", "sessionID": "s1", "part": {"reason": reason, **more}}


def said(text: str, message: str = "m1") -> dict[str, Any]:
    return {"type": "text", "sessionID": "s1", "part": {"messageID": message, "text": text}}


def tool(name: str, call: str = "c1", **state: Any) -> dict[str, Any]:
    part = {"type": "tool", "tool": name, "callID": call, "state": state}
    return {"type": "tool_use", "sessionID": "s1", "part": part}


def error(name: str, **data: Any) -> dict[str, Any]:
    return {"type": "error", "sessionID": "s1", "error": {"name": name, "data": data}}


def after(*events: Event) -> StreamObservation:
    return read(
        "opencode", START, *events, finish("tool-calls"), START, said("Done.", "m2"), finish()
    )


def test_str_15_no_line_and_exit_0_is_no_answer() -> None:
    assert read("opencode").outcome is StreamOutcome.NO_ANSWER


def test_str_15_a_run_that_stops_after_a_refused_permission_is_no_answer() -> None:
    refusal = "The user rejected permission to use this specific tool call."

    seen = read(
        "opencode", START, tool("bash", status="error", error=refusal), finish("tool-calls")
    )

    assert (seen.outcome, seen.commands, seen.posts) == (StreamOutcome.NO_ANSWER, (), 0)


@pytest.mark.parametrize("exit_status", [0, 1])
def test_str_21_a_limit_told_in_plain_text_is_the_quota(exit_status: int) -> None:
    seen = read("opencode", "Usage limit reached, resets 18:00", exit_status=exit_status)

    assert (seen.outcome, seen.text) == (StreamOutcome.QUOTA, "")


@pytest.mark.parametrize(
    ("last", "exit_status", "outcome"),
    [
        ([said("A"), finish("stop")], 0, StreamOutcome.OK),
        ([said("A"), finish("stop")], None, StreamOutcome.OK),
        ([said("A"), finish("stop")], 1, StreamOutcome.ERROR),
        ([said("A"), finish("stop")], -15, StreamOutcome.INTERRUPTED),
        ([finish("stop")], 0, StreamOutcome.NO_ANSWER),
        ([said("A"), finish("length")], 0, StreamOutcome.CUT_OFF),
        ([finish("content-filter")], 1, StreamOutcome.REFUSED),
        ([said("A"), finish("unknown")], 0, StreamOutcome.ERROR),
        ([finish("tool-calls"), START], 0, StreamOutcome.ERROR),
        ([finish("tool-calls"), START], None, StreamOutcome.UNKNOWN),
        ([], -9, StreamOutcome.INTERRUPTED),
    ],
)
def test_rn_23_the_last_step_and_the_exit_decide_together(
    last: list[dict[str, Any]], exit_status: int | None, outcome: StreamOutcome
) -> None:
    assert read("opencode", START, *last, exit_status=exit_status).outcome is outcome


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [
        (error("APIError", message="Rate limit reached.", statusCode=429), StreamOutcome.QUOTA),
        (error("APIError", message="No access.", statusCode=403), StreamOutcome.REFUSED),
        (error("APIError", message="Wrong key.", statusCode=401), StreamOutcome.ERROR),
        (error("ContentFilterError", message="blocked"), StreamOutcome.REFUSED),
        (error("MessageAbortedError", message="aborted"), StreamOutcome.INTERRUPTED),
        (error("UnknownError"), StreamOutcome.ERROR),
    ],
)
def test_ev_11_an_error_event_decides_whatever_the_exit(
    failure: dict[str, Any], outcome: StreamOutcome
) -> None:
    seen = read("opencode", START, said("A"), finish("stop"), failure)

    assert seen.outcome is outcome


def test_str_17_words_of_earlier_steps_are_not_the_answer() -> None:
    seen = after(said("Looking..."), tool("read", status="completed"))

    assert (seen.outcome, seen.text) == (StreamOutcome.OK, "Done.")


def test_ev_8_completed_is_a_status_not_its_absence() -> None:
    seen = after(
        tool("openvisio-team_get_ticket", "c1", status="completed", output="{}"),
        tool("openvisio-team_update_ticket", "c2"),
        tool("openvisio-team_list_tasks", "c3", status="not ok"),
    )

    assert oks(seen) == [("get_ticket", True), ("update_ticket", None), ("list_tasks", None)]
    assert (seen.ticket_read, seen.ticket_updated) == (True, None)


def test_ev_8_an_error_beats_a_completion() -> None:
    seen = after(tool("openvisio-team_post_message", status="completed", error="archived"))

    assert (only_call(seen).ok, only_call(seen).reason, seen.posts) == (None, "archived", None)


def test_a_call_that_was_invalid_never_left() -> None:
    given = {"tool": "openvisio-team_post_message", "error": "Model tried to call it"}

    seen = after(tool("invalid", status="completed", input=given, output="invalid"))

    assert (oks(seen), seen.posts) == ([("post_message", False)], 0)
    assert only_call(seen).reason == "Model tried to call it"


@pytest.mark.parametrize("name", ["other_post_message", "invalid", "post_messages"])
def test_ev_2_only_the_teams_tools_are_the_teams(name: str) -> None:
    seen = after(tool(name, status="completed", input={"tool": "other_post_message"}))

    assert (seen.calls, seen.posts) == ((), 0)


def test_completed_commands_may_have_failed() -> None:
    seen = after(
        tool("bash", "c1", status="completed", metadata={"exit": 3}),
        tool("bash", "c2", status="completed", metadata={}),
    )

    assert [command.exit for command in seen.commands] == [3, None]


def test_edits_are_those_that_completed() -> None:
    seen = after(
        tool("edit", "c1", status="completed"),
        tool("write", "c2", status="completed"),
        tool("edit", "c3", status="error", error="Could not find oldString in the file."),
    )

    assert seen.edits == 2


def test_a_subagents_calls_are_out_of_sight() -> None:
    seen = after(tool("task", status="completed", metadata={"sessionId": "s2"}))

    assert (seen.posts, seen.edits, seen.ticket_read, seen.ticket_updated) == (None,) * 4


def test_a_killed_run_may_have_made_one_call_more_than_it_shows() -> None:
    seen = read(
        "opencode",
        START,
        tool("openvisio-team_get_ticket", "c1", status="completed"),
        tool("edit", "c2", status="completed"),
        finish("tool-calls"),
        START,
        exit_status=-9,
    )

    assert (seen.posts, seen.ticket_updated) == (None, None)
    assert (seen.edits, seen.ticket_read) == (1, True)


def test_str_13_texts_that_look_like_events_are_text() -> None:
    event = '{"type":"error","error":{"name":"APIError"}}'

    seen = after(tool("bash", status="completed", output=event, metadata={"exit": 0}))

    assert (seen.outcome, seen.unknown_events) == (StreamOutcome.OK, 0)


def test_tokens_and_costs_of_all_steps_are_added() -> None:
    tokens = {"input": 5, "output": 2, "cache": {"read": 1, "write": 0}}

    seen = read(
        "opencode",
        START,
        finish("tool-calls", tokens=tokens, cost=0.25),
        said("A", "m2"),
        finish("stop", tokens=tokens, cost=0.5),
    )

    assert seen.usage == Usage(
        input_tokens=10, output_tokens=4, cached_input_tokens=2, cost_usd=0.75
    )
    assert seen.conversation == "s1"


def test_what_nobody_knows_is_counted() -> None:
    assert after({"type": "novelty"}, "npm warn").unknown_events == 1
    assert after({"type": "novelty"}, "npm warn").unreadable_lines == 1
