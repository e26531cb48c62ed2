"""The model's answers over HTTP: whole, streamed, refused, or broken in the middle."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ov_es_adapters.scripted_model.answering import Answer, Ending, Json, Offer, Protocol
from ov_es_adapters.scripted_model.request_body import model_of
from ov_es_adapters.scripted_model.script import (
    Call,
    CutShort,
    Decline,
    Drop,
    Fail,
    Garble,
    Refuse,
    Say,
    Stall,
    Step,
)
from ov_es_adapters.scripted_model.tool_choice import choose_calls
from ov_es_adapters.team.transports import transport_of

EVENT_STREAM = "text/event-stream"
_REFUSALS = {
    400: ("invalid_request_error", "This request can't be understood."),
    401: ("authentication_error", "This key isn't known."),
    403: ("permission_error", "This key may not do that."),
    404: ("not_found_error", "There's nothing here."),
    429: ("rate_limit_error", "Too many requests; try again later."),
    503: ("overloaded_error", "There's too much to do."),
    529: ("overloaded_error", "There's too much to do."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request for an answer of the model."""

    request: Request
    protocol: Protocol
    body: Json
    offer: Offer
    number: int
    stopping: asyncio.Event
    """Set when the server stops, which ends every stall."""

    def answer(self, text: str, ending: Ending = Ending.WHOLE) -> Answer:
        """Return an answer that is but a text."""
        return Answer(number=self.number, model=model_of(self.body), text=text, ending=ending)

    def respond(self, answer: Answer) -> Response:
        """Send an answer as the request wants it."""
        if self.body.get("stream") is not True:
            return json_answer(self.protocol.whole(answer))
        return Response(b"".join(self.protocol.stream(answer)), media_type=EVENT_STREAM)

    def play(self, step: Step) -> Response:  # noqa: PLR0911 - one for each kind of step
        """Do what a step says."""
        match step:
            case Say(text):
                return self.respond(self.answer(text))
            case Call(tools, say):
                calls = choose_calls(tools, self.offer, self.protocol.spelling)
                model = model_of(self.body)
                return self.respond(Answer(number=self.number, model=model, text=say, calls=calls))
            case Decline(text):
                return self.respond(self.answer(text, Ending.DECLINED))
            case CutShort(text):
                return self.respond(self.answer(text, Ending.CUT_SHORT))
            case Refuse(status):
                return refusal_answer(self.protocol, status)
            case Stall(seconds, say):
                return StreamingResponse(self._broken(say, seconds), media_type=EVENT_STREAM)
            case Drop(say):
                return StreamingResponse(self._broken(say, 0), media_type=EVENT_STREAM)
            case Fail(code, message):
                failure = self.protocol.failure(self.number, code, message)
                return Response(failure, media_type=EVENT_STREAM)
            case Garble(raw):
                return Response(raw, media_type=EVENT_STREAM)

    async def _broken(self, say: str, seconds: float) -> AsyncIterator[bytes]:
        """Begin, wait, and cut the connection; Starlette ends the wait when the peer leaves."""
        for part in self.protocol.stream(self.answer(say, Ending.OPEN)):
            yield part
        stopping = asyncio.create_task(self.stopping.wait(), name="stall")
        await asyncio.wait({stopping}, timeout=seconds)
        stopping.cancel()
        transport = transport_of(self.request.scope)
        # Closing sends what was said already, and the end of the body may not follow it: the
        # server ends this when the connection is gone.
        transport.close()
        await self.stopping.wait()


def json_answer(value: Json, status: int = 200) -> Response:
    """Return an answer of JSON."""
    return Response(orjson.dumps(value), status_code=status, media_type="application/json")


def refusal_answer(protocol: Protocol, status: int) -> Response:
    """Return a refusal, worded as the protocol's services do."""
    kind, message = _REFUSALS.get(status, ("api_error", f"The service answers {status}."))
    return json_answer(protocol.refusal(kind, message), status)
