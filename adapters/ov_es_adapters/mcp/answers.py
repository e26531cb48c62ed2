"""What a body of the team's server says: pure, and for JSON and event streams alike (MCP-111)."""

import re
from collections.abc import Iterable, Mapping
from typing import cast

import orjson

RequestId = int | str

_NO_MESSAGE = "protocol error"
_INTERNAL_ERROR = -32603
_NO_SUCH_TOOL = re.compile(
    r"(?i)\b(?:unknown|missing|unsupported)[\s_-]+tool\b|\btool\b.{0,200}?\bnot[\s_-]+found\b",
    re.DOTALL,
)


def parsed(body: bytes | str) -> object:
    """Return what a body holds, or None where it's no JSON."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def answer_in(body: object, request_id: RequestId) -> dict[str, object] | None:
    """Return the JSON-RPC answer to a request in a body, made whole, or None.

    Notices and answers to others are passed over. A missing id, an error without its code or
    message, and a cursor beside the result are put right, since servers of the old client had
    all three.

    >>> answer_in({"error": {}}, 1)["error"]
    {'code': -32603, 'message': 'protocol error'}
    >>> answer_in({"method": "notifications/progress"}, 1) is None
    True
    """
    bodies = cast("Iterable[object]", body) if isinstance(body, list) else (body,)
    for each in bodies:
        if isinstance(each, Mapping):
            found = _answer(cast("Mapping[str, object]", each), request_id)
            if found is not None:
                return found
    return None


def _answer(message: Mapping[str, object], request_id: RequestId) -> dict[str, object] | None:
    named = message.get("id")
    if "method" in message or (named is not None and str(named) != str(request_id)):
        return None
    whole: dict[str, object] = {"jsonrpc": "2.0", "id": request_id}
    if (error := message.get("error")) is not None:
        return whole | {"error": _error(error)}
    result = message.get("result")
    if not isinstance(result, Mapping):
        return None
    fields = dict(cast("Mapping[str, object]", result))
    if "nextCursor" in message:
        fields.setdefault("nextCursor", message["nextCursor"])
    return whole | {"result": fields}


def _error(error: object) -> dict[str, object]:
    match error:
        case {"message": str() as said} if said.strip():
            message = said
        case str() if error.strip():
            message = error
        case _:
            message = _NO_MESSAGE
    match error:
        case {"code": int() as code}:
            return {"code": code, "message": message}
        case _:
            return {"code": _INTERNAL_ERROR, "message": message}


def reason_in(body: bytes) -> str:
    """Return the server's own words in the body of a failed request, or "".

    >>> reason_in(b'{"error": {"message": "Session not found"}}'), reason_in(b"<html>")
    ('Session not found', '')
    """
    match parsed(body):
        case {"error": {"message": str() as said}}:
            return said
        case {"error": str() as said} | {"message": str() as said} | {"detail": str() as said}:
            return said
        case _:
            return ""


def unpacked(result: Mapping[str, object]) -> object:
    """Return a tool's result as data: structured content, else the texts as JSON, else as text.

    >>> unpacked({"content": [{"type": "text", "text": '{"id": 5}'}]})
    {'id': 5}
    >>> unpacked({"structuredContent": {"id": 5}, "content": []})
    {'id': 5}
    >>> unpacked({"id": 5})
    {'id': 5}
    """
    structured = result.get("structuredContent")
    if structured is not None:
        return _without_wrapping(structured)
    if "content" not in result:
        return {k: v for k, v in result.items() if k not in {"_meta", "isError"}}
    text = "\n".join(texts(result))
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _without_wrapping(structured: object) -> object:
    """Take the list or text out of the object that servers have to wrap it in."""
    if not isinstance(structured, Mapping):
        return structured
    fields = cast("Mapping[str, object]", structured)
    return fields["result"] if set(fields) == {"result"} else fields


def texts(result: Mapping[str, object]) -> list[str]:
    """Return the text parts of a tool's result."""
    content = result.get("content")
    if not isinstance(content, list):
        return []
    parts = cast("list[object]", content)
    return [text for part in parts for text in _text(part)]


def _text(part: object) -> list[str]:
    match part:
        case {"type": "text", "text": str() as text}:
            return [text]
        case _:
            return []


def refusal_in(result: Mapping[str, object]) -> str | None:
    """Return the reason of a result that is flagged as an error, or None (OUT-19).

    >>> refusal_in({"isError": True, "content": [{"type": "text", "text": "no permission"}]})
    'no permission'
    """
    if result.get("isError") is not True:
        return None
    said = "\n".join(texts(result)).strip()
    if not said and (structured := result.get("structuredContent")) is not None:
        said = orjson.dumps(structured).decode()
    return said or "the tool reported an error and no reason"


def says_no_such_tool(message: str) -> bool:
    """Tell whether an error means that the server doesn't have the tool (MCP-119).

    >>> says_no_such_tool("Unknown tool: react"), says_no_such_tool("Tool react not found")
    (True, True)
    >>> says_no_such_tool("Ticket not found"), says_no_such_tool("unknown ticket")
    (False, False)
    """
    return _NO_SUCH_TOOL.search(message) is not None
