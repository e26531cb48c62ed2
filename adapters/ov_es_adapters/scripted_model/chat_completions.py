"""OpenAI's chat completions, as opencode speaks them with any compatible provider."""

from collections.abc import Iterator

from ov_es_adapters.scripted_model.answering import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    Answer,
    Ending,
    Json,
    Offer,
    OfferedTool,
    Protocol,
    Spelling,
    deltas,
    event,
    objects,
    openai_refusal,
    properties,
)
from ov_es_adapters.websocket.fields import record


def _offer(body: Json) -> Offer:
    functions = [record(tool.get("function")) for tool in objects(body.get("tools"))]
    return Offer(
        tools=tuple(
            OfferedTool(name=name, properties=properties(function.get("parameters")))
            for function in functions
            if isinstance(name := function.get("name"), str)
        )
    )


def _stream(answer: Answer) -> Iterator[bytes]:
    yield _chunk(answer, {"role": "assistant", "content": ""})
    field = "refusal" if answer.ending is Ending.DECLINED else "content"
    for part in deltas(answer.text):
        yield _chunk(answer, {field: part})
    if answer.ending is Ending.OPEN:
        return
    for at, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": ""}
        start = {"index": at, "id": answer.call_id(at), "type": "function", "function": function}
        yield _chunk(answer, {"tool_calls": [start]})
        for part in deltas(call.arguments_text()):
            more = {"index": at, "function": {"arguments": part}}
            yield _chunk(answer, {"tool_calls": [more]})
    yield _chunk(answer, {}, _finish_reason(answer))
    yield event({**_head(answer, "chat.completion.chunk"), "choices": [], "usage": _USAGE})
    yield b"data: [DONE]\n\n"


def _whole(answer: Answer) -> Json:
    message: dict[str, object] = {"role": "assistant", "content": answer.text}
    if answer.ending is Ending.DECLINED:
        message |= {"content": None, "refusal": answer.text}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": answer.call_id(at),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments_text()},
            }
            for at, call in enumerate(answer.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(answer)}
    return {**_head(answer, "chat.completion"), "choices": [choice], "usage": _USAGE}


def _chunk(answer: Answer, delta: Json, finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return event({**_head(answer, "chat.completion.chunk"), "choices": [choice]})


def _head(answer: Answer, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{answer.number}",
        "object": kind,
        "created": 0,
        "model": answer.model,
    }


def _finish_reason(answer: Answer) -> str:
    match answer.ending:
        case Ending.DECLINED:
            return "content_filter"
        case Ending.CUT_SHORT:
            return "length"
        case Ending.WHOLE | Ending.OPEN:
            return "tool_calls" if answer.calls else "stop"


def _failure(number: int, code: str, message: str) -> bytes:
    del number
    return event({"error": {"message": message, "type": code, "code": code}})


_USAGE: Json = {
    "prompt_tokens": INPUT_TOKENS,
    "completion_tokens": OUTPUT_TOKENS,
    "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
}

CHAT_COMPLETIONS = Protocol(
    path="/chat/completions",
    spelling=Spelling(of_shell="bash", of_mcp="{}_{}".format),
    offer=_offer,
    stream=_stream,
    whole=_whole,
    failure=_failure,
    refusal=openai_refusal,
)
