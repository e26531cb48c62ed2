"""Anthropic's Messages protocol, as claude speaks it."""

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
    objects,
    properties,
    typed_event,
)


def _offer(body: Json) -> Offer:
    return Offer(
        tools=tuple(
            OfferedTool(name=name, properties=properties(tool.get("input_schema")))
            for tool in objects(body.get("tools"))
            if isinstance(name := tool.get("name"), str)
        )
    )


def _stream(answer: Answer) -> Iterator[bytes]:
    begun: dict[str, object] = {"content": [], "stop_reason": None, "usage": _usage(1)}
    message = {**_message(answer), **begun}
    yield typed_event("message_start", {"message": message})
    for at, block in enumerate(_content(answer)):
        is_text = block["type"] == "text"
        nothing: dict[str, object] = {"text": ""} if is_text else {"input": {}}
        empty = {**block, **nothing}
        yield typed_event("content_block_start", {"index": at, "content_block": empty})
        for delta in _text_deltas(answer) if is_text else _input_deltas(answer, block):
            yield typed_event("content_block_delta", {"index": at, "delta": delta})
        if answer.ending is Ending.OPEN:
            return
        yield typed_event("content_block_stop", {"index": at})
    end = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
    yield typed_event("message_delta", {"delta": end, "usage": {"output_tokens": OUTPUT_TOKENS}})
    yield typed_event("message_stop", {})


def _text_deltas(answer: Answer) -> Iterator[Json]:
    for part in deltas(answer.text):
        yield {"type": "text_delta", "text": part}


def _input_deltas(answer: Answer, block: Json) -> Iterator[Json]:
    call = next(
        call for at, call in enumerate(answer.calls) if block["id"] == _tool_use_id(answer, at)
    )
    for part in deltas(call.arguments_text()):
        yield {"type": "input_json_delta", "partial_json": part}


def _whole(answer: Answer) -> Json:
    return {**_message(answer), "content": _content(answer)}


def _message(answer: Answer) -> Json:
    return {
        "id": f"msg_{answer.number}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "stop_reason": _stop_reason(answer),
        "stop_sequence": None,
        "usage": _usage(OUTPUT_TOKENS),
    }


def _content(answer: Answer) -> list[Json]:
    text: list[Json] = [{"type": "text", "text": answer.text}] if answer.has_text else []
    uses: list[Json] = [
        {
            "type": "tool_use",
            "id": _tool_use_id(answer, at),
            "name": call.name,
            "input": call.arguments,
        }
        for at, call in enumerate(answer.calls)
    ]
    return text + uses


def _tool_use_id(answer: Answer, at: int) -> str:
    return f"toolu_{answer.call_id(at)}"


def _stop_reason(answer: Answer) -> str:
    match answer.ending:
        case Ending.DECLINED:
            return "refusal"
        case Ending.CUT_SHORT:
            return "max_tokens"
        case Ending.WHOLE | Ending.OPEN:
            return "tool_use" if answer.calls else "end_turn"


def _usage(output_tokens: int) -> Json:
    return {
        "input_tokens": INPUT_TOKENS,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output_tokens,
    }


def _failure(number: int, code: str, message: str) -> bytes:
    del number
    return typed_event("error", {"error": {"type": code, "message": message}})


def _refusal(kind: str, message: str) -> Json:
    return {"type": "error", "error": {"type": kind, "message": message}}


MESSAGES = Protocol(
    path="/messages",
    spelling=Spelling(of_shell="Bash", of_mcp="mcp__{}__{}".format),
    offer=_offer,
    stream=_stream,
    whole=_whole,
    failure=_failure,
    refusal=_refusal,
)
