"""A session of the Agent Client Protocol: frames of both sides, or the agent's alone."""

from typing import Any

import pytest
from tests.adapters.runtimes.streams.reading import oks, only_call, read

from ov_es_adapters.runtimes.streams import acp
from ov_es_domain.observation import StreamOutcome, Usage


def ours(**message: Any) -> dict[str, Any]:
    return {"t_ms": 0, "dir": "out", "msg": {"jsonrpc": "2.0", **message}}


def its(**message: Any) -> dict[str, Any]:
    return {"t_ms": 0, "dir": "in", "msg": {"jsonrpc": "2.0", **message}}


def update(kind: str, session: str = "s1", /, **fields: Any) -> dict[str, Any]:
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **fields}}
    return its(method="session/update", params=params)


def chunk(text: str, message: str | None = "m1", **more: Any) -> dict[str, Any]:
    identified = {} if message is None else {"messageId": message}
    content = {"type": "text", "text": text}
    return update("agent_message_chunk", content=content, **identified, **more)


def call(identifier: str = "c1", **fields: Any) -> dict[str, Any]:
    return update("tool_call", toolCallId=identifier, **fields)


def more(identifier: str = "c1", **fields: Any) -> dict[str, Any]:
    return update("tool_call_update", toolCallId=identifier, **fields)


OPENED = [
    ours(id=0, method="initialize"),
    its(id=0, result={"agentInfo": {"name": "agent"}}),
    ours(id=1, method="session/new"),
    its(id=1, result={"sessionId": "s1"}),
]
PROMPT = ours(id=2, method="session/prompt", params={"sessionId": "s1"})
END = its(id=2, result={"stopReason": "end_turn"})
POST = {"title": "mcp__openvisio-team__post_message", "kind": "other"}


def test_acp_01_pieces_that_come_after_the_answer_belong_to_it() -> None:
    late = [chunk(text, None) for text in ("one, ", "two, ", "three")]

    seen = read("acp", *OPENED, PROMPT, END, *late)

    assert (seen.outcome, seen.text) == (StreamOutcome.OK, "one, two, three")


@pytest.mark.parametrize("is_late", [False, True])
def test_acp_03_a_loaded_sessions_old_messages_and_calls_are_not_this_runs(
    is_late: bool,  # noqa: FBT001 - a case
) -> None:
    replay = [chunk(f"old {number}") for number in range(12)]
    replay.append(call("c0", **POST, status="completed"))
    loaded = its(id=1, result={})

    seen = read(
        "acp",
        ours(id=1, method="session/load", params={"sessionId": "s1"}),
        *([loaded, *replay] if is_late else [*replay, loaded]),
        PROMPT,
        more("c0", status="completed"),
        chunk("A"),
        END,
    )

    assert (seen.text, seen.calls, seen.posts) == ("A", (), 0)


def test_acp_03_replayed_pieces_are_counted_apart() -> None:
    parser = acp.Parser()

    for _ in range(12):
        parser.feed(
            b'{"dir":"in","msg":{"method":"session/update","params":{"update":'
            b'{"sessionUpdate":"agent_message_chunk","content":{"text":"old"}}}}}'
        )

    assert parser.replayed_chunks == 12


def test_str_17_words_before_a_call_are_not_the_answer() -> None:
    seen = read(
        "acp",
        *OPENED,
        PROMPT,
        chunk("Looking...", None),
        call(kind="read", title="read", status="completed"),
        chunk("There is ", None),
        chunk("one file.\n", None),
        END,
    )

    assert seen.text == "There is one file."


@pytest.mark.parametrize(
    ("stop", "outcome"),
    [
        ("end_turn", StreamOutcome.OK),
        ("cancelled", StreamOutcome.INTERRUPTED),
        ("refusal", StreamOutcome.REFUSED),
        ("max_tokens", StreamOutcome.CUT_OFF),
        ("max_turn_requests", StreamOutcome.CUT_OFF),
        ("novelty", StreamOutcome.UNKNOWN),
    ],
)
def test_acp_113_the_prompts_answer_says_how_it_ended(stop: str, outcome: StreamOutcome) -> None:
    seen = read("acp", *OPENED, PROMPT, chunk("A"), its(id=2, result={"stopReason": stop}))

    assert seen.outcome is outcome


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ({"code": -32000, "message": "Authentication required"}, StreamOutcome.ERROR),
        ({"message": "x", "data": {"errorKind": "max_output_tokens"}}, StreamOutcome.CUT_OFF),
        ({"message": "Internal error: usage limit reached"}, StreamOutcome.QUOTA),
    ],
)
def test_acp_113_an_error_is_no_answer_and_its_text_neither(
    error: dict[str, Any], outcome: StreamOutcome
) -> None:
    seen = read("acp", *OPENED, PROMPT, chunk("API Error: 500"), its(id=2, error=error))

    assert (seen.outcome, seen.text) == (outcome, "")


def test_a_turn_without_text_is_no_answer() -> None:
    assert read("acp", *OPENED, PROMPT, END).outcome is StreamOutcome.NO_ANSWER


@pytest.mark.parametrize(
    ("exit_status", "outcome"),
    [
        (None, StreamOutcome.UNKNOWN),
        (0, StreamOutcome.ERROR),
        (-15, StreamOutcome.INTERRUPTED),
    ],
)
def test_a_prompt_that_was_never_answered_is_not_good(
    exit_status: int | None, outcome: StreamOutcome
) -> None:
    seen = read("acp", *OPENED, PROMPT, chunk("Done."), exit_status=exit_status)

    assert seen.outcome is outcome


def test_acp_114_a_prompt_that_was_cancelled_is_interrupted() -> None:
    cancel = ours(method="session/cancel", params={"sessionId": "s1"})

    assert read("acp", *OPENED, PROMPT, cancel).outcome is StreamOutcome.INTERRUPTED


def test_str_05_what_codex_agent_says_in_its_own_name_ends_the_turn_badly() -> None:
    codex = its(id=0, result={"agentInfo": {"name": "codex-acp"}})
    warning = chunk("Config warning: no bubblewrap", None)
    failure = chunk("We're experiencing high demand.", None)

    failed = read("acp", codex, PROMPT, warning, chunk("So far"), failure, END)
    good = read("acp", codex, PROMPT, warning, failure, chunk("A"), END)

    assert (failed.outcome, failed.text) == (StreamOutcome.ERROR, "So far")
    assert (good.outcome, good.text) == (StreamOutcome.OK, "A")


def test_a_state_of_the_program_is_not_the_answer() -> None:
    status = {"claudeCode": {"kind": "mcpServerStatus"}}

    seen = read("acp", *OPENED, PROMPT, chunk("server failed", None, _meta=status), END)

    assert (seen.outcome, seen.text) == (StreamOutcome.NO_ANSWER, "")


def test_acp_109_updates_are_laid_over_what_was_known() -> None:
    seen = read(
        "acp",
        *OPENED,
        PROMPT,
        call(**POST, status="pending"),
        more(rawInput={"content": "hello"}),
        more(status="completed"),
        chunk("Posted."),
        END,
    )

    assert (oks(seen), seen.posts) == ([("post_message", True)], 1)


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "mcp__openvisio-team__post_message"},
        {"title": "openvisio-team_post_message"},
        {
            "title": "Post",
            "_meta": {"claudeCode": {"toolName": "mcp__openvisio-team__post_message"}},
        },
        {
            "title": "mcp.openvisio-team.post_message",
            "kind": "execute",
            "rawInput": {"server": "openvisio-team", "tool": "post_message"},
        },
    ],
)
def test_acp_110_each_agents_spelling_of_a_tool_is_known(fields: dict[str, Any]) -> None:
    seen = read("acp", *OPENED, PROMPT, call(**fields, status="completed"), chunk("A"), END)

    assert oks(seen) == [("post_message", True)]


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "grep -r post_message", "kind": "execute"},
        {"title": "Search for post_message", "kind": "search"},
        {"title": "read", "rawInput": {"path": "post_message.py", "tool": "post_message"}},
        {
            "title": "mcp.other.post_message",
            "kind": "execute",
            "rawInput": {"server": "other", "tool": "post_message"},
        },
    ],
)
def test_acp_110_a_name_inside_of_words_is_no_call(fields: dict[str, Any]) -> None:
    seen = read("acp", *OPENED, PROMPT, call(**fields, status="completed"), chunk("A"), END)

    assert (seen.calls, seen.posts) == ((), 0)


def test_acp_111_only_what_completed_counts() -> None:
    seen = read(
        "acp",
        *OPENED,
        PROMPT,
        call("c1", **POST, status="failed", rawOutput="channel is archived"),
        call("c2", title="openvisio-team_update_ticket", status="in_progress"),
        call("c3", kind="edit", title="Edit a.py", status="failed"),
        chunk("Done."),
        END,
    )

    assert oks(seen) == [("post_message", None), ("update_ticket", None)]
    assert (seen.posts, seen.ticket_updated, seen.edits) == (None, None, 0)
    assert seen.calls[0].reason == "channel is archived"


@pytest.mark.parametrize(
    "answer",
    [{"outcome": "selected", "optionId": "no"}, {"outcome": "cancelled"}],
)
def test_acp_105_a_permission_that_was_refused_kept_the_call_from_leaving(
    answer: dict[str, str],
) -> None:
    options = [
        {"optionId": "yes", "kind": "allow_once"},
        {"optionId": "no", "kind": "reject_once"},
    ]
    asked = its(
        id=0,
        method="session/request_permission",
        params={"toolCall": {"toolCallId": "c1"}, "options": options},
    )

    seen = read(
        "acp",
        *OPENED,
        PROMPT,
        call(**POST, status="pending"),
        asked,
        ours(id=0, result={"outcome": answer}),
        more(status="failed", rawOutput="refused"),
        END,
    )

    assert (only_call(seen).ok, seen.posts) == (False, 0)


def test_a_call_that_opencode_could_not_make_never_left() -> None:
    given = {"tool": "openvisio-team_post_message", "error": "unavailable tool"}

    seen = read(
        "acp",
        *OPENED,
        PROMPT,
        call(title="openvisio-team_post_message", status="pending"),
        more(title="invalid", status="in_progress", rawInput=given),
        more(title="Invalid Tool", status="completed", rawOutput={"output": "unavailable"}),
        chunk("Posted."),
        END,
    )

    assert (oks(seen), seen.posts) == ([("post_message", False)], 0)


def test_acp_112_commands_and_edits_are_told_by_kind() -> None:
    seen = read(
        "acp",
        *OPENED,
        PROMPT,
        call("c1", kind="execute", status="completed", rawOutput={"metadata": {"exit": 3}}),
        call("c2", kind="execute", status="failed", rawOutput="Exit code 2\nboom"),
        call("c3", kind="read", name="exec_command", status="completed"),
        more("c3", rawOutput={"exit_code": 0}),
        call("c4", kind="execute", status="in_progress"),
        more("c4", status="failed", _meta={"terminal_exit": {"exit_code": 5}}),
        call("c5", kind="edit", status="completed"),
        chunk("Done."),
        END,
    )

    assert [command.exit for command in seen.commands] == [3, 2, 0, 5]
    assert seen.edits == 1


def test_a_subagent_makes_posts_and_edits_unknown() -> None:
    seen = read("acp", *OPENED, PROMPT, call(title="task", status="completed"), chunk("A"), END)

    assert (seen.posts, seen.edits) == (None, None)


def test_calls_of_another_session_are_seen_in_part_at_best() -> None:
    elsewhere = update("tool_call", "s2", toolCallId="x1", **POST, status="completed")

    seen = read("acp", *OPENED, PROMPT, elsewhere, chunk("A"), END)

    assert (seen.calls, seen.posts, seen.conversation) == ((), None, "s1")


def test_the_agents_side_alone_is_read_as_well() -> None:
    frames = [its(id=0, result={"agentInfo": {"name": "agent"}})]
    frames += [chunk("old"), its(id=1, result={"sessionId": "s1"})]
    frames += [call(**POST, status="completed"), chunk("A"), END]

    seen = read("acp", *(frame["msg"] for frame in frames))

    assert (seen.outcome, seen.text, seen.conversation) == (StreamOutcome.OK, "A", "s1")
    assert seen.posts == 1


def test_acp_115_methods_outside_of_the_standard_are_ignored_and_others_counted() -> None:
    seen = read(
        "acp",
        *OPENED,
        its(method="_auth/status_update"),
        PROMPT,
        its(method="novelty/do"),
        update("novelty"),
        {"neither": "side"},
        chunk("A"),
        END,
    )

    assert seen.unknown_events == 3


def test_tokens_come_with_the_answer() -> None:
    used = {"inputTokens": 5, "outputTokens": 2, "cachedReadTokens": 1}
    cost = update("usage_update", cost={"amount": 0.5, "currency": "USD"})

    seen = read(
        "acp",
        *OPENED,
        PROMPT,
        chunk("A"),
        cost,
        its(id=2, result={"stopReason": "", "usage": used}),
    )

    assert seen.usage == Usage(
        input_tokens=5, output_tokens=2, cached_input_tokens=1, cost_usd=0.5
    )
