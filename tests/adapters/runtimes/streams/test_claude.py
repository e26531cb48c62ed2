"""claude's stream: `result` decides, and tool uses are joined with their results."""

from typing import Any

import pytest
from tests.adapters.runtimes.streams.reading import oks, only_call, read

from ov_es_adapters.runtimes.cli_run import SaysWhenFinished
from ov_es_adapters.runtimes.streams import parser_for
from ov_es_domain.observation import StreamOutcome, Usage

TEAM = "mcp__openvisio-team__"


def init(session: str = "s1") -> dict[str, Any]:
    return {"type": "system", "subtype": "init", "session_id": session}


def said(text: str, message: str = "a", **more: Any) -> dict[str, Any]:
    return assistant({"type": "text", "text": text}, message, **more)


def assistant(block: dict[str, Any], message: str = "a", **more: Any) -> dict[str, Any]:
    content = {"id": message, "content": [block]}
    return {"type": "assistant", "message": content, "parent_tool_use_id": None, **more}


def uses(call: str, name: str, parent: str | None = None, **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call, "name": name, "input": given}
    return assistant(block, f"m-{call}", parent_tool_use_id=parent)


def answers(call: str, content: Any, *, is_error: bool = False, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}, **more}


def result(text: str | None = "Done.", **more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "result": text, **more}


def test_str_05_a_provider_that_refuses_is_no_answer_even_with_exit_0() -> None:
    refusal = "access for this account is switched off"

    seen = read(
        "claude", init(), said(refusal), result(refusal, is_error=True, api_error_status=403)
    )

    assert seen.outcome is StreamOutcome.REFUSED
    assert seen.text == ""


@pytest.mark.parametrize("told", ["", "first half, ", "second half"])
def test_str_07_a_message_in_pieces_is_told_whole(told: str) -> None:
    seen = read("claude", init(), said("first half, "), said("second half"), result(told))

    assert (seen.outcome, seen.text) == (StreamOutcome.OK, "first half, second half")


def test_str_17_words_before_a_call_are_not_the_answer() -> None:
    seen = read(
        "claude",
        said("Looking...", "a"),
        uses("c1", "Bash", command="ls"),
        answers("c1", "greet.py"),
        said("There is one file.", "b"),
        result("There is one file."),
    )

    assert seen.text == "There is one file."


def test_str_18_the_newest_session_id_is_the_one_to_resume() -> None:
    seen = read("claude", init("s1"), init("s2"), said("Hi."), result("Hi.", session_id="s2"))

    assert seen.conversation == "s2"


@pytest.mark.parametrize("exit_status", [0, 1])
def test_str_21_a_limit_told_in_plain_text_is_the_quota(exit_status: int) -> None:
    seen = read("claude", "limit reached, resets 18:00", exit_status=exit_status)

    assert (seen.outcome, seen.text) == (StreamOutcome.QUOTA, "")
    assert seen.unreadable_lines == 1


@pytest.mark.parametrize(
    "failed",
    [
        [said("You've hit your limit", error="rate_limit"), result("x", is_error=True)],
        [result("API Error: Too Many Requests", is_error=True, api_error_status=429)],
        [
            {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}},
            result("Not now.", is_error=True),
        ],
    ],
)
def test_str_21_a_limit_told_by_an_event_is_the_quota(failed: list[dict[str, Any]]) -> None:
    seen = read("claude", init(), *failed, exit_status=1)

    assert (seen.outcome, seen.text) == (StreamOutcome.QUOTA, "")


def test_rn_14_a_subtype_of_success_with_an_error_flag_is_no_success() -> None:
    seen = read("claude", init(), result("API Error: 500", is_error=True))

    assert seen.outcome is StreamOutcome.ERROR


def test_a_turn_that_ran_out_of_turns_is_cut_off_even_without_an_error_flag() -> None:
    seen = read("claude", init(), said("So far"), result(None, subtype="error_max_turns"))

    assert (seen.outcome, seen.text) == (StreamOutcome.CUT_OFF, "So far")


@pytest.mark.parametrize(
    ("exit_status", "outcome"),
    [
        (None, StreamOutcome.UNKNOWN),
        (0, StreamOutcome.ERROR),
        (1, StreamOutcome.ERROR),
        (143, StreamOutcome.INTERRUPTED),
        (-9, StreamOutcome.INTERRUPTED),
    ],
)
def test_rn_16_a_run_without_a_result_is_never_good(
    exit_status: int | None, outcome: StreamOutcome
) -> None:
    seen = read("claude", init(), said("All done!"), exit_status=exit_status)

    assert seen.outcome is outcome


def test_rn_13_a_good_result_stays_good_when_the_process_is_stopped_after_it() -> None:
    seen = read("claude", init(), said("Hi."), result("Hi."), exit_status=143)

    assert seen.outcome is StreamOutcome.OK


def test_rn_13_the_result_finishes_the_turn_until_another_one_begins() -> None:
    parser = parser_for("claude")
    assert isinstance(parser, SaysWhenFinished)
    finished: list[bool] = []

    for line in (b'{"type":"assistant"}', b'{"type":"result"}', b'{"type":"assistant"}'):
        parser.feed(line)
        finished.append(parser.is_finished)

    assert finished == [False, True, False]


def test_a_second_prompt_without_its_own_result_is_not_good() -> None:
    seen = read("claude", init(), said("One."), result("One."), init(), said("Two", "b"))

    assert seen.outcome is StreamOutcome.ERROR


def test_an_empty_answer_is_no_answer() -> None:
    assert read("claude", init(), result("")).outcome is StreamOutcome.NO_ANSWER


def test_ev_12_results_are_joined_by_id_whatever_their_order() -> None:
    seen = read(
        "claude",
        answers("c2", "not now", is_error=True),
        uses("c1", f"{TEAM}get_ticket"),
        uses("c2", f"{TEAM}post_message"),
        answers("c1", "the ticket"),
        result(),
    )

    assert sorted(oks(seen)) == [("get_ticket", True), ("post_message", None)]


def test_ev_13_only_reads_of_the_task_read_the_task() -> None:
    seen = read(
        "claude", uses("c1", f"{TEAM}list_task_types"), answers("c1", "[]"), result("Read.")
    )

    assert (seen.ticket_read, seen.ticket_updated) == (False, False)


def test_a_post_that_failed_may_have_been_made() -> None:
    seen = read(
        "claude",
        uses("c1", f"{TEAM}post_message"),
        answers("c1", "timed out", is_error=True),
        result("I posted it."),
    )

    assert seen.posts is None
    assert (only_call(seen).ok, only_call(seen).reason) == (None, "timed out")


def test_a_post_whose_answer_never_came_may_have_been_made() -> None:
    seen = read("claude", init(), uses("c1", f"{TEAM}post_message"), exit_status=-15)

    assert (seen.posts, only_call(seen).ok) == (None, None)


def test_a_failed_read_had_no_effect() -> None:
    seen = read(
        "claude", uses("c1", f"{TEAM}get_ticket"), answers("c1", "gone", is_error=True), result()
    )

    assert (only_call(seen).ok, seen.ticket_read) == (False, False)


@pytest.mark.parametrize(
    "refused",
    [
        [
            {"type": "system", "subtype": "permission_denied", "tool_use_id": "c1"},
            answers("c1", "not granted", is_error=True),
            result("Posted."),
        ],
        [
            answers("c1", "not granted", is_error=True),
            result("Posted.", permission_denials=[{"tool_use_id": "c1"}]),
        ],
        [
            answers(
                "c1",
                "needs approval",
                is_error=True,
                tool_result_meta=[{"id": "c1", "permission_decision": {"decision": "reject"}}],
            ),
            result("Posted."),
        ],
        [
            answers(
                "c1",
                "<tool_use_error>Error: No such tool available: it</tool_use_error>",
                is_error=True,
            ),
            result("Posted."),
        ],
        [answers("c1", "Unknown tool: post_message", is_error=True), result("Posted.")],
    ],
)
def test_a_post_that_was_refused_before_it_left_is_no_post(refused: list[dict[str, Any]]) -> None:
    seen = read("claude", uses("c1", f"{TEAM}post_message"), *refused)

    assert (seen.posts, only_call(seen).ok) == (0, False)
    assert only_call(seen).reason


def test_a_call_that_was_allowed_did_leave_whatever_its_error_says() -> None:
    seen = read(
        "claude",
        uses("c1", f"{TEAM}post_message"),
        answers(
            "c1",
            "<tool_use_error>Error: No such tool available: x</tool_use_error>",
            is_error=True,
            tool_result_meta=[{"id": "c1", "permission_decision": {"decision": "accept"}}],
        ),
        result("Posted."),
    )

    assert seen.posts is None


def test_a_tool_of_another_server_is_not_the_teams() -> None:
    seen = read("claude", uses("c1", "mcp__other__post_message"), answers("c1", "ok"), result())

    assert (seen.calls, seen.posts) == ((), 0)


def test_exit_statuses_are_told_in_words_and_only_the_bad_ones() -> None:
    seen = read(
        "claude",
        uses("c1", "Bash"),
        answers("c1", "Exit code 0 is what I print"),
        uses("c2", "Bash"),
        answers("c2", "Exit code 3\nboom", is_error=True),
        uses("c3", "Bash"),
        answers("c3", "Command timed out", is_error=True),
        uses("c4", "Bash", run_in_background=True),
        answers("c4", "running", tool_use_result={"backgroundTaskId": "b1"}),
        result(),
    )

    assert [command.exit for command in seen.commands] == [0, 3, None, None]


def test_edits_that_failed_or_never_answered_are_not_counted_as_done() -> None:
    seen = read(
        "claude",
        uses("c1", "Edit"),
        answers(
            "c1", "<tool_use_error>String to replace not found</tool_use_error>", is_error=True
        ),
        result(),
    )
    cut = read("claude", uses("c1", "Write"), exit_status=-9)

    assert (seen.edits, cut.edits) == (0, None)


def test_a_subagent_whose_calls_are_shown_is_counted() -> None:
    seen = read(
        "claude",
        uses("t1", "Task"),
        uses("c1", f"{TEAM}post_message", parent="t1"),
        answers("c1", "posted", parent_tool_use_id="t1"),
        answers("t1", "Done.", tool_use_result={"totalToolUseCount": 1}),
        said("Posted.", "b"),
        result("Posted."),
    )

    assert (seen.posts, seen.edits, seen.text) == (1, 0, "Posted.")


@pytest.mark.parametrize(
    "hidden",
    [
        [uses("t1", "Task"), answers("t1", "Done.")],
        [
            uses("t1", "Agent"),
            answers("t1", "Started.", tool_use_result={"status": "async_launched"}),
        ],
        [
            uses("t1", "Task"),
            uses("c1", "Read", parent="t1"),
            answers("c1", "text", parent_tool_use_id="t1"),
            answers("t1", "Done.", tool_use_result={"totalToolUseCount": 2}),
        ],
    ],
)
def test_a_subagent_out_of_sight_makes_posts_and_edits_unknown(
    hidden: list[dict[str, Any]],
) -> None:
    seen = read("claude", *hidden, result())

    assert (seen.posts, seen.edits) == (None, None)
    assert (seen.ticket_read, seen.ticket_updated) == (None, None)


def test_a_subagents_words_are_not_the_answer() -> None:
    seen = read(
        "claude", said("Mine.", "a"), said("Its own.", "b", parent_tool_use_id="t1"), result("")
    )

    assert seen.text == "Mine."


def test_str_13_events_inside_of_outputs_are_text() -> None:
    seen = read(
        "claude",
        uses("c1", "Bash"),
        answers("c1", '{"type":"result","subtype":"success","is_error":true}\n{"type":"error"}'),
        said("Fine.", "b"),
        result("Fine."),
    )

    assert (seen.outcome, seen.unknown_events) == (StreamOutcome.OK, 0)


def test_str_23_half_a_character_never_gets_into_a_text() -> None:
    line = '{"type":"result","subtype":"success","is_error":false,"result":"so \\ud83d far"}'

    seen = read("claude", line)

    assert seen.text == "so \N{REPLACEMENT CHARACTER} far"


def test_tokens_of_all_models_are_added() -> None:
    used = {"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 1}

    seen = read("claude", result(modelUsage={"big": used, "small": used}, total_cost_usd=0.25))

    assert seen.usage == Usage(
        input_tokens=10, output_tokens=4, cached_input_tokens=2, cost_usd=0.25
    )


def test_what_nobody_knows_is_counted() -> None:
    seen = read("claude", init(), {"type": "novelty"}, {"no": "type"}, "not json", "[]", result())

    assert (seen.unknown_events, seen.unreadable_lines) == (2, 2)
