"""What is the same in all protocols: an answer, how it ends, and events of a stream."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import TypeAlias, cast

import orjson

from ov_es_adapters.websocket.fields import record

DELTA_CHARACTERS = 2000
"""How much of a text one event of a stream carries."""
INPUT_TOKENS = 100
OUTPUT_TOKENS = 20

Json: TypeAlias = Mapping[str, object]


class Ending(StrEnum):
    """How an answer ends."""

    WHOLE = auto()
    DECLINED = auto()
    CUT_SHORT = auto()
    OPEN = auto()
    """Not at all: the stream stops in the middle of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenCall:
    """A call of a tool, as the program that asks knows the tool."""

    name: str
    arguments: Json | str
    """A text for tools that take free text."""
    namespace: str | None = None

    def arguments_text(self) -> str:
        """Return the arguments as a stream carries them."""
        if isinstance(self.arguments, str):
            return self.arguments
        return orjson.dumps(self.arguments).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A look for tools that the program keeps out of its requests."""

    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model answers to one request."""

    number: int
    """The request's own, so that all ids are different."""
    model: str
    text: str = ""
    calls: tuple[ChosenCall, ...] = ()
    ending: Ending = Ending.WHOLE
    search: Search | None = None

    @property
    def has_text(self) -> bool:
        """Tell whether a text belongs in it: an answer has some content in any case."""
        return bool(self.text) or not (self.calls or self.search)

    def call_id(self, at: int) -> str:
        """Return the id that links a call and its result."""
        return f"call_{self.number}_{at}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool that a request offers."""

    name: str
    namespace: str | None = None
    properties: frozenset[str] = frozenset()
    takes_text: bool = False
    """It takes free text in place of an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """All tools that a request offers."""

    tools: tuple[OfferedTool, ...] = ()
    can_search: bool = False
    """There are more, which a search brings."""
    searched: frozenset[str] = frozenset()
    """What was searched for in this conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How a program calls its tools; it's asked for those even where it doesn't offer them."""

    of_shell: str
    of_mcp: Callable[[str, str], str]
    """From the names of server and tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One of the protocols that agent programs speak with a model."""

    path: str
    """How the path of its requests ends."""
    spelling: Spelling
    offer: Callable[[Json], Offer]
    stream: Callable[[Answer], Iterator[bytes]]
    whole: Callable[[Answer], Json]
    """The same answer for a request that wants no stream."""
    failure: Callable[[int, str, str], bytes]
    """The event of an error with its code and message, for the request of that number."""
    refusal: Callable[[str, str], Json]
    """The body of an error status, of its kind and message."""


def event(data: Json, name: str | None = None) -> bytes:
    r"""Return a server-sent event.

    >>> event({"type": "ping"}, "ping")
    b'event: ping\ndata: {"type":"ping"}\n\n'
    """
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + orjson.dumps(data) + b"\n\n"


def typed_event(kind: str, data: Json) -> bytes:
    """Return an event whose name is its data's type as well."""
    return event({"type": kind, **data}, kind)


def deltas(text: str) -> list[str]:
    """Cut a text for a stream.

    >>> [len(part) for part in deltas("x" * 4500)], deltas("")
    ([2000, 2000, 500], [])
    """
    return [text[at : at + DELTA_CHARACTERS] for at in range(0, len(text), DELTA_CHARACTERS)]


def objects(value: object) -> list[Json]:
    """Return the objects in a list; anything else holds none.

    >>> objects([{"id": 1}, "noise"]), objects("noise")
    ([{'id': 1}], [])
    """
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        return []
    return [record(each) for each in cast("Sequence[object]", value) if record(each)]


def openai_refusal(kind: str, message: str) -> Json:
    """Return the body of an error status in both of OpenAI's protocols."""
    return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


def properties(schema: object) -> frozenset[str]:
    """Return the names of the arguments that a JSON schema knows."""
    return frozenset(record(record(schema).get("properties")))
