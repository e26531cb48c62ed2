"""The tool client over a scripted transport, held against what the replaced program did.

The suite's bodies are abbreviated: the script makes whole JSON-RPC of them. Two things of today's
client are outside of what the suite knows: the notices and farewells of the protocol, which
aren't compared, and the pause after a 429, for which enough time passes between two operations.
"""

import asyncio
import selectors
from dataclasses import dataclass, field
from typing import Any

import httpx2
import orjson
import pytest
from tests.vectors.suites import Case, load

from ov_es_adapters.errors import PeerRefusedError, ToolCallError
from ov_es_adapters.mcp.failures import (
    FailureKind,
    NoToolListError,
    PaginationLoopError,
    RequestFailedError,
)
from ov_es_adapters.mcp.tool_caller import McpToolCaller


class IdleSelector(selectors.SelectSelector):
    """Ends the loop's turn instead of waiting: then everything possible has happened."""

    loop: asyncio.AbstractEventLoop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None or timeout > 0:
            self.loop.stop()
        return []


class StillLoop(asyncio.SelectorEventLoop):
    """An event loop in which no time passes."""

    def __init__(self) -> None:
        selector = IdleSelector()
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        return 0.0


class Patience:
    """A clock on which a day passes whenever somebody looks."""

    days = 0

    def now(self) -> float:
        return self.monotonic()

    def monotonic(self) -> float:
        self.days += 1
        return self.days * 86400.0


@dataclass
class Outstanding:
    """A request that waits for its answer."""

    method: str
    id: object
    answer: asyncio.Future[httpx2.Response]


@dataclass
class Script(httpx2.AsyncBaseTransport):
    """Holds requests until the case answers them."""

    outstanding: list[Outstanding] = field(default_factory=list[Outstanding])
    issued: list[dict[str, object]] = field(default_factory=list[dict[str, object]])

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        message: dict[str, Any] = orjson.loads(request.content or b"{}")
        if "id" not in message:
            return httpx2.Response(202)
        params: dict[str, Any] = message.get("params", {})
        self.issued.append(
            {
                "method": message["method"],
                "tool": params.get("name"),
                "cursor": params.get("cursor"),
                "session": request.headers.get("mcp-session-id"),
            }
        )
        future: asyncio.Future[httpx2.Response] = asyncio.get_running_loop().create_future()
        waiting = Outstanding(message["method"], message["id"], future)
        self.outstanding.append(waiting)
        return await future

    def respond(self, op: dict[str, Any]) -> None:
        waiting = self.outstanding.pop(op["index"])
        if op.get("network_error"):
            waiting.answer.set_exception(httpx2.ReadError("cut"))
            return
        headers = {"mcp-session-id": op["session"]} if op.get("session") else {}
        if op["status"] != 200:
            waiting.answer.set_result(httpx2.Response(op["status"], json=op["body"]))
            return
        message = {"jsonrpc": "2.0", "id": waiting.id, **op["body"]}
        if waiting.method == "initialize":
            message["result"] = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "serverInfo": {"name": "script", "version": "1"},
            }
        whole = orjson.dumps(message).decode()
        body = f"event: message\ndata: {whole}\n\n" if op.get("sse") else whole
        headers["content-type"] = "text/event-stream" if op.get("sse") else "application/json"
        waiting.answer.set_result(httpx2.Response(200, headers=headers, text=body))

    def time_out(self, index: int) -> None:
        self.outstanding.pop(index).answer.set_exception(httpx2.ReadTimeout("late"))


class Player:
    """Plays one case, step by step."""

    def __init__(self, case: Case, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._script = Script()
        self._results: dict[str, object] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._caller = McpToolCaller(
            "http://127.0.0.1/mcp",
            "key-of-the-suite",
            "ada",
            deadline_seconds=case["request_timeout_ms"] / 1000,
            clock=Patience(),
            transport=self._script,
        )

    def step(self, op: dict[str, Any]) -> dict[str, object]:
        self._script.issued.clear()
        match op["op"]:
            case "call" | "list":
                asking = self._ask(str(len(self._tasks)), op)
                self._tasks.append(self._loop.create_task(asking))
            case "respond":
                self._script.respond(op)
            case _:
                self._script.time_out(op["index"])
        self._loop.run_forever()
        return {
            "requests": list(self._script.issued),
            "outstanding": len(self._script.outstanding),
            "results": dict(self._results),
        }

    @property
    def outstanding_methods(self) -> list[str]:
        return [waiting.method for waiting in self._script.outstanding]

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._loop.run_forever()
        closing = self._loop.create_task(self._caller.aclose())
        self._loop.run_forever()
        closing.result()

    async def _ask(self, number: str, op: dict[str, Any]) -> None:
        try:
            if op["op"] == "call":
                result: object = await self._caller.call(op["tool"], op["args"])
            else:
                tools = await self._caller.definitions(refresh=op["refresh"])
                result = [f"{tool['name']}@{tool['v']}" for tool in tools]
        except (ToolCallError, PeerRefusedError) as error:
            self._results[number] = {"error": _as_the_suite_says(error, op)}
        else:
            self._results[number] = {"ok": result}


def _as_the_suite_says(error: Exception, op: dict[str, Any]) -> dict[str, object]:
    failure = error.__cause__
    assert isinstance(failure, RequestFailedError)
    subject = op["tool"] if failure.method == "tools/call" else failure.method
    match failure:
        case PaginationLoopError():
            return {"code": "pagination_loop"}
        case NoToolListError():
            return {"code": "no_tool_list"}
        case _ if failure.kind is FailureKind.HTTP:
            return {"code": "http", "subject": subject, "status": failure.status}
        case _ if failure.kind is FailureKind.TIMEOUT:
            assert failure.seconds is not None
            ms = round(failure.seconds * 1000)
            return {"code": "timeout", "subject": failure.method, "ms": ms}
        case _ if failure.kind is FailureKind.PROTOCOL:
            return {"code": "protocol", "subject": subject, "message": failure.message}
        case _:
            return {"code": "network"}


@pytest.mark.parametrize("case", load("mcp_client"))
def test_mc_1_to_8_the_client_asks_and_answers_as_the_old_one(case: Case) -> None:
    with asyncio.Runner(loop_factory=StillLoop) as runner:
        loop = runner.get_loop()
        asyncio.set_event_loop(loop)
        player = Player(case, loop)

        steps = [player.step(op) for op in case["ops"]]
        methods = player.outstanding_methods
        player.close()

    assert steps == case["expect"]["steps"]
    assert methods == case["expect"]["outstanding_methods"]
