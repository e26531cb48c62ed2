"""What the tests of the tool client share: a server, a clock, and callers that get closed."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.adapters.mcp.scripted_server import ScriptedServer

from ov_es_adapters.mcp.tool_caller import McpToolCaller


class SteppedClock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def now(self) -> float:
        return self.seconds

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as scripted:
        yield scripted


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


MakeCaller = Callable[..., McpToolCaller]


@pytest.fixture
async def make(server: ScriptedServer, clock: SteppedClock) -> AsyncIterator[MakeCaller]:
    made: list[McpToolCaller] = []

    def _make(url: str | None = None, *, key: str = "key-of-ada", **options: Any) -> McpToolCaller:
        caller = McpToolCaller(url or server.url, key, "ada", clock=clock, **options)
        made.append(caller)
        return caller

    yield _make
    for caller in made:
        await caller.aclose()
