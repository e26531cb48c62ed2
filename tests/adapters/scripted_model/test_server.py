"""The scripted model over HTTP, asked as the agent programs ask it."""

import gzip
import json
from collections.abc import Iterator, Mapping

import httpx
import pytest

from ov_es_adapters.scripted_model.script import (
    Call,
    CutShort,
    Decline,
    Drop,
    Fail,
    Garble,
    McpTool,
    Refuse,
    Say,
    Shell,
    Stall,
    Step,
)
from ov_es_adapters.scripted_model.server import ModelRequest, ScriptedModel

Body = dict[str, object]
CODEX_TOOLS: list[Body] = [
    {"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {}}}},
    {"type": "custom", "name": "apply_patch"},
    {"type": "web_search"},
]
REQUESTS: Mapping[str, Body] = {
    "/v1/messages": {"tools": [{"name": "Bash", "input_schema": {}}]},
    "/v1/chat/completions": {
        "tools": [{"type": "function", "function": {"name": "bash", "parameters": {}}}]
    },
    "/v1/responses": {"tools": CODEX_TOOLS},
}
PATHS = tuple(REQUESTS)


def ask(model: ScriptedModel, path: str, *, stream: bool = True, **more: object) -> httpx.Response:
    body = {"model": "m", "stream": stream, **REQUESTS[path], **more}
    return httpx.post(model.base_url + path, json=body, headers={"x-api-key": "secret"})


def events(answer: httpx.Response) -> Iterator[Body]:
    assert answer.headers["content-type"].startswith("text/event-stream")
    for line in answer.text.split("\n"):
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


def kinds(answer: httpx.Response) -> list[object]:
    return [each["type"] for each in events(answer)]


def test_messages_are_streamed_block_by_block() -> None:
    steps = [Call((Shell("ls"), Shell("pwd")), "Let me see."), Say("Done.")]
    with ScriptedModel(steps) as model:
        called, said = ask(model, "/v1/messages"), ask(model, "/v1/messages")

    assert kinds(called)[:4] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    ]
    *_, last_event = (each for each in events(called) if each["type"] == "message_delta")
    assert last_event["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    uses = [each["content_block"] for each in events(called) if "content_block" in each]
    assert [use["type"] for use in uses] == ["text", "tool_use", "tool_use"]  # type: ignore[index]
    inputs = [each["delta"]["partial_json"] for each in events(called) if _is_input(each)]  # type: ignore[index]
    assert [json.loads(each) for each in inputs] == [{"command": "ls"}, {"command": "pwd"}]
    assert "Done." in said.text
    assert "end_turn" in said.text


def _is_input(each: Body) -> bool:
    delta = each.get("delta")
    return isinstance(delta, dict) and delta.get("type") == "input_json_delta"


def test_chat_completions_are_streamed_in_chunks_until_done() -> None:
    with ScriptedModel([Call((Shell("ls"),)), Say("Done.")]) as model:
        called, said = ask(model, PATHS[1]), ask(model, PATHS[1])

    chunks = [each["choices"] for each in events(called)]
    deltas = [chunk[0]["delta"] for chunk in chunks if chunk]  # type: ignore[index]
    assert deltas[1]["tool_calls"][0]["function"] == {"name": "bash", "arguments": ""}
    assert deltas[2]["tool_calls"][0]["function"] == {"arguments": '{"command":"ls"}'}
    assert '"finish_reason":"tool_calls"' in called.text
    assert said.text.endswith("data: [DONE]\n\n")
    assert '"finish_reason":"stop"' in said.text


def test_responses_are_streamed_item_by_item() -> None:
    with ScriptedModel([Call((Shell("ls"),)), Say("Done.")]) as model:
        called, said = ask(model, PATHS[2]), ask(model, PATHS[2])

    assert kinds(called) == [
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
    ]
    *_, last_event = events(called)
    (item,) = last_event["response"]["output"]  # type: ignore[index]
    assert (item["type"], item["name"]) == ("function_call", "exec_command")
    assert json.loads(item["arguments"])["cmd"] == "ls"
    assert "response.output_text.delta" in kinds(said)


def test_codex_searches_for_hidden_tools_and_then_calls_them() -> None:
    """A search uses up no step; what it found is called in its namespace."""
    use = McpTool("get_ticket", {"ticket_id": 5})
    tools = [*CODEX_TOOLS, {"type": "tool_search", "execution": "client"}]
    found = {
        "type": "namespace",
        "name": "mcp__openvisio_team__",
        "tools": [{"name": "get_ticket"}],
    }
    with ScriptedModel([Call((use,))]) as model:
        *_, searched = events(ask(model, PATHS[2], tools=tools))
        left = model.left
        (search,) = searched["response"]["output"]  # type: ignore[index]
        conversation = [search, {"type": "tool_search_output", "tools": [found]}]
        *_, called = events(ask(model, PATHS[2], tools=tools, input=conversation))

    assert search["arguments"]["query"] == "get ticket"
    assert left == 1
    (call,) = called["response"]["output"]  # type: ignore[index]
    assert (call["namespace"], call["name"]) == ("mcp__openvisio_team__", "get_ticket")


@pytest.mark.parametrize("path", PATHS)
def test_every_protocol_has_whole_answers_as_well(path: str) -> None:
    with ScriptedModel([Call((Shell("ls"),), "First."), Say("Done.")]) as model:
        called, said = ask(model, path, stream=False), ask(model, path, stream=False)

    assert called.headers["content-type"] == "application/json"
    assert "First." in json.dumps(called.json())
    assert "ls" in json.dumps(called.json())
    assert "Done." in json.dumps(said.json())


@pytest.mark.parametrize("path", PATHS)
def test_a_request_without_tools_uses_up_no_step(path: str) -> None:
    with ScriptedModel([Say("Done.")]) as model:
        title = ask(model, path, tools=[])
        wanted = ask(model, path, response_format={"type": "json_schema"})
        left = model.left
        said = ask(model, path)

    assert "Scripted title" in title.text
    assert r"{\"title\":\"Scripted title\"}" in wanted.text
    assert left == 1
    assert "Done." in said.text


@pytest.mark.parametrize("path", PATHS)
def test_after_the_last_step_there_is_only_text(path: str) -> None:
    with ScriptedModel([]) as model:
        answers = [ask(model, path) for _ in range(2)]

    assert all("The script is over." in answer.text for answer in answers)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("status", [400, 401, 418, 429, 500])
def test_a_refusal_has_its_status_as_often_as_the_script_says(path: str, status: int) -> None:
    with ScriptedModel([Refuse(status, 2), Say("Done.")]) as model:
        answers = [ask(model, path) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [status, status, 200]
    assert answers[0].json()["error"]["message"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("step", [Drop("Well"), Stall(0.01, "Well")])
def test_a_broken_answer_begins_and_never_ends(path: str, step: Step) -> None:
    arrived: list[bytes] = []
    with ScriptedModel([step]) as model, httpx.Client() as client:
        body = {"stream": True, **REQUESTS[path]}
        with client.stream("POST", model.base_url + path, json=body) as answer:
            assert answer.status_code == 200
            with pytest.raises(httpx.RemoteProtocolError):
                arrived.extend(answer.iter_raw())

    assert b"Well" in b"".join(arrived)


def test_a_peer_may_leave_a_stall_and_the_server_may_stop_in_one() -> None:
    with ScriptedModel([Stall(3600), Stall(3600)]) as model, httpx.Client() as client:
        for path in PATHS[:2]:
            body = {"stream": True, **REQUESTS[path]}
            with client.stream("POST", model.base_url + path, json=body) as answer:
                assert answer.status_code == 200
        assert model.left == 0


@pytest.mark.parametrize(
    ("path", "word"),
    [(PATHS[0], "refusal"), (PATHS[1], "content_filter"), (PATHS[2], "response.refusal.delta")],
)
def test_a_model_may_decline(path: str, word: str) -> None:
    with ScriptedModel([Decline("No.")]) as model:
        assert f'"{word}"' in ask(model, path).text


@pytest.mark.parametrize(
    ("path", "word"),
    [(PATHS[0], "max_tokens"), (PATHS[1], "length"), (PATHS[2], "response.incomplete")],
)
def test_an_answer_may_be_cut_short(path: str, word: str) -> None:
    with ScriptedModel([CutShort("And then")]) as model:
        assert f'"{word}"' in ask(model, path).text


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_may_fail_or_be_none(path: str) -> None:
    with ScriptedModel([Fail("overloaded", "It broke."), Garble("<html>")]) as model:
        failed, garbled = ask(model, path), ask(model, path)

    assert (failed.status_code, garbled.text) == (200, "<html>")
    assert "It broke." in next(events(failed)).__repr__()


def test_helpers_are_answered_and_the_unknown_is_refused() -> None:
    with ScriptedModel([]) as model:
        counted = httpx.post(model.base_url + "/v1/messages/count_tokens?beta=true", json={})
        models = httpx.get(model.base_url + "/v1/models")
        unknown = [httpx.get(model.base_url + "/"), httpx.post(model.base_url + "/v1/embeddings")]
        broken = httpx.post(model.base_url + "/v1/messages", content=b"{")

    assert counted.json() == {"input_tokens": 100}
    assert [each["id"] for each in models.json()["data"]] == ["scripted"]
    assert [answer.status_code for answer in (*unknown, broken)] == [404, 404, 400]


def test_a_packed_request_is_read() -> None:
    body = gzip.compress(json.dumps(REQUESTS["/v1/messages"]).encode())
    with ScriptedModel([Say("Done.")]) as model:
        answer = httpx.post(
            model.base_url + "/v1/messages", content=body, headers={"content-encoding": "gzip"}
        )

    assert answer.json()["content"] == [{"type": "text", "text": "Done."}]


def test_what_was_asked_is_kept_without_headers() -> None:
    with ScriptedModel([]) as model:
        ask(model, "/v1/messages")
        ask(model, "/v1/messages", tools=[])
        requests = model.requests

    assert requests == (
        ModelRequest(path="/v1/messages", offers_tools=True),
        ModelRequest(path="/v1/messages", offers_tools=False),
    )
    assert "secret" not in repr(requests)


def test_a_long_text_arrives_whole() -> None:
    text = "añ🦊\u2028" * 50_000
    with ScriptedModel([Say(text)]) as model:
        answer = ask(model, "/v1/chat/completions")

    chunks = [each["choices"] for each in events(answer)]
    deltas = [chunk[0]["delta"] for chunk in chunks if chunk]  # type: ignore[index]
    assert "".join(delta.get("content", "") for delta in deltas) == text
