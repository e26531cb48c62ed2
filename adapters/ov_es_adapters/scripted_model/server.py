"""The scripted model as a server on loopback, in a thread of its own."""

import asyncio
import socket
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Self

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ov_es_adapters.scripted_model.answering import INPUT_TOKENS, Answer
from ov_es_adapters.scripted_model.chat_completions import CHAT_COMPLETIONS
from ov_es_adapters.scripted_model.http_answers import Exchange, json_answer, refusal_answer
from ov_es_adapters.scripted_model.messages import MESSAGES
from ov_es_adapters.scripted_model.playing import Playing
from ov_es_adapters.scripted_model.request_body import (
    UnreadableBodyError,
    model_of,
    read_body,
    short_answer,
    wants_json,
)
from ov_es_adapters.scripted_model.responses import RESPONSES
from ov_es_adapters.scripted_model.script import Call, Step
from ov_es_adapters.scripted_model.tool_choice import needed_search
from ov_es_adapters.team.transports import QuietServer, quiet_config

_HOST = "127.0.0.1"
_PROTOCOLS = (RESPONSES, CHAT_COMPLETIONS, MESSAGES)
_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What was asked; headers aren't kept, since they carry keys."""

    path: str
    offers_tools: bool


class ScriptedModel:
    """A running model; a context manager, and a new one is made for each run of a script."""

    def __init__(
        self, steps: Iterable[Step], *, variables: Mapping[str, str] = _NO_VARIABLES
    ) -> None:
        """Nothing is opened before it's entered.

        Args:
            steps: One for each request that offers tools.
            variables: What stands in the script's texts as `{{name}}`.
        """
        self._playing = Playing(steps, variables)
        self._requests: list[ModelRequest] = []
        self._stopping = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._port = 0

    def __enter__(self) -> Self:
        """Serve."""
        # It listens before the thread runs, so that nobody has to wait for it.
        listening = socket.create_server((_HOST, 0))
        listening.setblocking(False)  # noqa: FBT003 - the standard library's signature
        self._port = int(listening.getsockname()[1])
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._run, args=(self._loop, listening), name="scripted model"
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cut every connection, and stop."""
        del kind, error, trace
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join()
            self._loop.close()

    @property
    def base_url(self) -> str:
        """Return its address: for claude as it is, for the others with `/v1` behind it."""
        return f"http://{_HOST}:{self._port}"

    @property
    def left(self) -> int:
        """Return how many steps nobody asked for yet."""
        return self._playing.left

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """Return what was asked so far."""
        return tuple(self._requests)

    # --- the thread ---------------------------------------------------------------------------

    def _run(self, loop: asyncio.AbstractEventLoop, listening: socket.socket) -> None:
        with listening:
            loop.run_until_complete(self._serve(listening))

    async def _serve(self, listening: socket.socket) -> None:
        application = Starlette(
            routes=[
                Route("/{path:path}", self._answer_get, methods=["GET"]),
                Route("/{path:path}", self._answer_post, methods=["POST"]),
            ]
        )
        server = QuietServer(quiet_config(application))
        serving = asyncio.create_task(server.serve([listening]), name="uvicorn")
        stopping = asyncio.create_task(self._stopping.wait(), name="stopping")
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        server.should_exit = True
        while not serving.done():
            await asyncio.wait({serving}, timeout=0.1)
            server.cut_all()
        serving.result()

    # --- requests -----------------------------------------------------------------------------

    async def _answer_get(self, request: Request) -> Response:
        self._note(request)
        if not request.url.path.endswith("/models"):
            return refusal_answer(RESPONSES, 404)
        model = {"id": "scripted", "object": "model", "type": "model", "display_name": "Scripted"}
        # codex reads `models`: none there means that it keeps to those that it knows.
        return json_answer({"object": "list", "data": [model], "models": [], "has_more": False})

    async def _answer_post(self, request: Request) -> Response:
        path = request.url.path.rstrip("/")
        if path.endswith("/count_tokens"):
            self._note(request)
            return json_answer({"input_tokens": INPUT_TOKENS})
        protocol = next((each for each in _PROTOCOLS if path.endswith(each.path)), None)
        if protocol is None:
            self._note(request)
            return refusal_answer(RESPONSES, 404)
        try:
            body = read_body(await request.body(), request.headers.get("content-encoding", ""))
        except UnreadableBodyError:
            self._note(request)
            return refusal_answer(protocol, 400)
        offer = protocol.offer(body)
        self._note(request, offers_tools=bool(offer.tools))
        exchange = Exchange(
            request=request,
            protocol=protocol,
            body=body,
            offer=offer,
            number=len(self._requests),
            stopping=self._stopping,
        )
        return self._play(exchange)

    def _play(self, exchange: Exchange) -> Response:
        """Answer with the next step, unless the request isn't one for the script."""
        body, offer = exchange.body, exchange.offer
        if not offer.tools or wants_json(body):
            return exchange.respond(exchange.answer(short_answer(body)))
        step = self._playing.present()
        if isinstance(step, Call) and (search := needed_search(step.tools, offer)):
            answer = Answer(number=exchange.number, model=model_of(body), search=search)
            return exchange.respond(answer)
        return exchange.play(self._playing.take())

    def _note(self, request: Request, *, offers_tools: bool = False) -> None:
        self._requests.append(ModelRequest(path=request.url.path, offers_tools=offers_tools))
