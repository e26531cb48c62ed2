"""Which tools the server has: all pages, once for all who ask, until something changes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

from ov_es_adapters.mcp.failures import (
    NoToolListError,
    PaginationLoopError,
    RequestFailedError,
)

CORE_TOOLS = frozenset(
    {"list_agents", "list_projects", "list_tasks", "get_ticket", "update_ticket", "post_message"}
)
"""What a watcher can't do its work without (MCP-117)."""
PAGES_MAX = 100

Outcome = TypeVar("Outcome")
ToolDefinition: TypeAlias = Mapping[str, object]
AskForPage: TypeAlias = Callable[[str | None], Awaitable[Mapping[str, object]]]


async def read_pages(ask: AskForPage) -> tuple[ToolDefinition, ...]:
    """Follow the cursors to the last page (MCP-112 to MCP-115).

    Returns: the definitions, unique by name: the last one, at the place of the first.
    Raises: PaginationLoopError, NoToolListError, and whatever `ask` raises.
    """
    found: dict[str, ToolDefinition] = {}
    seen: set[str] = set()
    cursor: str | None = None
    for page in range(1, PAGES_MAX + 1):
        result = await ask(cursor)
        for tool in _tools(result, page):
            found[str(tool["name"])] = tool
        following = result.get("nextCursor")
        if not isinstance(following, str) or not following:
            return tuple(found.values())
        if following in seen:
            raise PaginationLoopError(page)
        seen.add(following)
        cursor = following
    raise PaginationLoopError(PAGES_MAX)


def _tools(result: Mapping[str, object], page: int) -> list[ToolDefinition]:
    tools = result.get("tools")
    if not isinstance(tools, Sequence) or isinstance(tools, str):
        raise NoToolListError(page)
    definitions = cast("Sequence[object]", tools)
    return [
        cast("ToolDefinition", tool)
        for tool in definitions
        if isinstance(tool, Mapping) and isinstance(tool.get("name"), str)
    ]


class Discovery:
    """The list of tools, read once and kept until it's asked for again or forgotten."""

    def __init__(self, read: Callable[[], Awaitable[tuple[ToolDefinition, ...]]]) -> None:
        """`read` gets the whole list from the server."""
        self._read = read
        self._known: tuple[ToolDefinition, ...] | None = None
        self._reading: asyncio.Task[tuple[ToolDefinition, ...]] | None = None

    async def definitions(self, *, refresh: bool) -> tuple[ToolDefinition, ...]:
        """Return the definitions; who needs them while they're being read shares that reading.

        Raises: RequestFailedError, and nothing is kept then.
        """
        if self._known is not None and not refresh:
            return self._known
        if self._reading is None:
            self._reading = asyncio.create_task(self._keep(), name="tools/list")
            self._reading.add_done_callback(look_at)
        return await asyncio.shield(self._reading)

    async def _keep(self) -> tuple[ToolDefinition, ...]:
        reading = asyncio.current_task()
        try:
            found = await self._read()
        finally:
            if self._reading is reading:
                self._reading = None
        self._known = found
        return found

    def forget(self) -> None:
        """Know nothing any more; a reading that is under way goes on and counts (MCP-109)."""
        self._known = None

    async def close(self) -> None:
        """Stop reading."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})


def look_at(task: asyncio.Task[Outcome]) -> None:
    """Look at the outcome of a task whose askers may all be gone, so that nobody complains."""
    if not task.cancelled():
        task.exception()


def page_failed(failure: RequestFailedError, page: int) -> RequestFailedError:
    """Say that the list is incomplete, where only a later page failed (MCP-07)."""
    if page > 1:
        failure.context = f"the tool list is incomplete: page {page} failed: "
    return failure
