"""The body of a request: read, and whether it's a request of the program's own housekeeping."""

import gzip
import zlib
from collections.abc import Callable, Mapping

import orjson

from ov_es_adapters.runtimes.strict_fields import is_object
from ov_es_adapters.scripted_model.answering import Json
from ov_es_adapters.websocket.fields import record

TITLE = "Scripted title"
"""What those get that ask for a title or a topic."""
_PACKINGS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
}
_JSON_FORMATS = frozenset({"json_schema", "json_object"})


class UnreadableBodyError(Exception):
    """It's no JSON object, or packed in a way that isn't known here."""


def read_body(raw: bytes, encoding: str) -> Json:
    """Return the object in a body.

    Raises: UnreadableBodyError.

    >>> read_body(gzip.compress(b'{"model": "m"}'), "gzip")
    {'model': 'm'}
    """
    try:
        unpack = _PACKINGS.get(encoding.lower(), bytes)
        value: object = orjson.loads(unpack(raw))
    except (orjson.JSONDecodeError, OSError, EOFError, zlib.error) as error:
        raise UnreadableBodyError from error
    if not is_object(value):
        raise UnreadableBodyError
    return value


def wants_json(body: Json) -> bool:
    """Tell whether the answer has to be JSON, as title makers want it.

    >>> wants_json({"text": {"format": {"type": "json_schema"}}}), wants_json({"text": {}})
    (True, False)
    """
    inner = (record(body.get(name)).get("format") for name in ("text", "output_config"))
    formats = (*inner, body.get("response_format"), body.get("output_format"))
    return any(record(each).get("type") in _JSON_FORMATS for each in formats)


def short_answer(body: Json) -> str:
    """Return what a request gets that isn't part of the script."""
    return orjson.dumps({"title": TITLE}).decode() if wants_json(body) else TITLE


def model_of(body: Json) -> str:
    """Return the model that a request names."""
    name = body.get("model")
    return name if isinstance(name, str) else "scripted"
