"""OpenAI's Responses, as codex speaks them: functions, free-text tools, a search for tools."""

from collections.abc import Iterator

import orjson

from ov_es_adapters.scripted_model.answering import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    Answer,
    ChosenCall,
    Ending,
    Json,
    Offer,
    OfferedTool,
    Protocol,
    Spelling,
    deltas,
    objects,
    openai_refusal,
    properties,
    typed_event,
)
from ov_es_adapters.websocket.fields import record


def _offer(body: Json) -> Offer:
    """Read the tools of a request, with those that came into the conversation later."""
    items = objects(body.get("input"))
    later = [item for item in items if item.get("type") in _ITEMS_WITH_TOOLS]
    entries = [tool for holder in (body, *later) for tool in objects(holder.get("tools"))]
    return Offer(
        tools=tuple(tool for entry in entries for tool in _offered(entry, None)),
        can_search=any(entry.get("type") == "tool_search" for entry in entries),
        searched=frozenset(
            query
            for item in items
            if item.get("type") == "tool_search_call" and (query := _query(item.get("arguments")))
        ),
    )


def _offered(entry: Json, namespace: str | None) -> Iterator[OfferedTool]:
    name = entry.get("name")
    if not isinstance(name, str):
        return  # the service's own, such as the search of the web
    if entry.get("type") == "namespace":
        for inner in objects(entry.get("tools")):
            yield from _offered(inner, name)
        return
    yield OfferedTool(
        name=name,
        namespace=namespace,
        properties=properties(entry.get("parameters")),
        takes_text=entry.get("type") == "custom",
    )


def _query(arguments: object) -> str:
    """Return what a search looked for: its arguments come back as an object or as JSON text."""
    if isinstance(arguments, str):
        try:
            arguments = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            return ""
    query = record(arguments).get("query")
    return query if isinstance(query, str) else ""


def _stream(answer: Answer) -> Iterator[bytes]:
    yield typed_event("response.created", {"response": _response(answer, "in_progress", [])})
    items = _items(answer)
    for at, item in enumerate(items):
        begun = {**item, "status": "in_progress"}
        if item["type"] != "message":
            yield typed_event("response.output_item.added", {"output_index": at, "item": begun})
        else:
            begun["content"] = []
            yield typed_event("response.output_item.added", {"output_index": at, "item": begun})
            place = {"item_id": item["id"], "output_index": at, "content_index": 0}
            for part in deltas(answer.text):
                yield typed_event(f"response.{_part(answer)}.delta", {**place, "delta": part})
            if answer.ending is Ending.OPEN:
                return
        yield typed_event("response.output_item.done", {"output_index": at, "item": item})
    yield typed_event(f"response.{_status(answer)}", {"response": _whole(answer)})


def _whole(answer: Answer) -> Json:
    status = _status(answer)
    response = {**_response(answer, status, _items(answer)), "usage": _USAGE}
    if status == "incomplete":
        response["incomplete_details"] = {"reason": "max_output_tokens"}
    return response


def _response(answer: Answer, status: str, output: list[Json]) -> Json:
    return {
        "id": f"resp_{answer.number}",
        "object": "response",
        "created_at": 0,
        "model": answer.model,
        "status": status,
        "output": output,
    }


def _status(answer: Answer) -> str:
    return "incomplete" if answer.ending is Ending.CUT_SHORT else "completed"


def _part(answer: Answer) -> str:
    return "refusal" if answer.ending is Ending.DECLINED else "output_text"


def _items(answer: Answer) -> list[Json]:
    items: list[Json] = []
    if answer.search is not None:
        items.append(
            {
                "type": "tool_search_call",
                "id": f"tsc_{answer.number}",
                "call_id": f"search_{answer.number}",
                "execution": "client",
                "arguments": {"query": answer.search.query, "limit": 8},
                "status": "completed",
            }
        )
    if answer.has_text:
        is_declined = answer.ending is Ending.DECLINED
        content: Json = (
            {"type": "refusal", "refusal": answer.text}
            if is_declined
            else {"type": "output_text", "text": answer.text, "annotations": []}
        )
        items.append(
            {
                "type": "message",
                "id": f"msg_{answer.number}",
                "role": "assistant",
                "status": "completed",
                "content": [content],
            }
        )
    return items + [_call(answer, at, call) for at, call in enumerate(answer.calls)]


def _call(answer: Answer, at: int, call: ChosenCall) -> Json:
    is_free_text = isinstance(call.arguments, str)
    item: dict[str, object] = {
        "type": "custom_tool_call" if is_free_text else "function_call",
        "id": f"{'ctc' if is_free_text else 'fc'}_{answer.number}_{at}",
        "call_id": answer.call_id(at),
        "name": call.name,
        "input" if is_free_text else "arguments": call.arguments_text(),
        "status": "completed",
    }
    if call.namespace is not None:
        item["namespace"] = call.namespace
    return item


def _failure(number: int, code: str, message: str) -> bytes:
    error = {"code": code, "message": message}
    response = {"id": f"resp_{number}", "object": "response", "status": "failed", "error": error}
    return typed_event("response.failed", {"response": response})


_ITEMS_WITH_TOOLS = frozenset({"additional_tools", "tool_search_output"})
_USAGE: Json = {
    "input_tokens": INPUT_TOKENS,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": OUTPUT_TOKENS,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
}

RESPONSES = Protocol(
    path="/responses",
    spelling=Spelling(of_shell="shell", of_mcp="mcp__{}__{}".format),
    offer=_offer,
    stream=_stream,
    whole=_whole,
    failure=_failure,
    refusal=openai_refusal,
)
