"""Events written by hand, read by the reader of their dialect."""

import json
from collections.abc import Mapping
from typing import Any

from ov_es_adapters.runtimes.streams import parser_for
from ov_es_domain.observation import StreamObservation, ToolCall

Event = Mapping[str, Any] | str


def read(dialect: str, *events: Event, exit_status: int | None = 0) -> StreamObservation:
    """Read events, a text being a line as it is."""
    parser = parser_for(dialect)
    for event in events:
        parser.feed((event if isinstance(event, str) else json.dumps(event)).encode())
    return parser.conclude(exit_status)


def oks(seen: StreamObservation) -> list[tuple[str, bool | None]]:
    return [(call.tool, call.ok) for call in seen.calls]


def only_call(seen: StreamObservation) -> ToolCall:
    (call,) = seen.calls
    return call
