"""MCP over a pair of byte streams, one message on a line, as the SDK's server wants to have it."""

import asyncio
from typing import TYPE_CHECKING, Any

from ov_es_adapters.runtimes.jsonl import LineSplitter

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

MESSAGE_BYTES_MAX = 16 * 1024 * 1024
READ_BYTES = 64 * 1024


async def serve_lines(
    server: "Server[dict[str, Any]]",
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Serve one connection until its other side is done.

    A message longer than `MESSAGE_BYTES_MAX` is dropped: nobody would read it to the end.
    """
    import anyio  # noqa: PLC0415  - heavy, and only where something is served
    from mcp.shared.message import SessionMessage  # noqa: PLC0415  - likewise
    from mcp_types import jsonrpc_message_adapter  # noqa: PLC0415  - likewise

    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, answered = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        splitter = LineSplitter(line_bytes_max=MESSAGE_BYTES_MAX)
        async with incoming:
            while chunk := await reader.read(READ_BYTES):
                for line in splitter.feed(chunk):
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError as error:
                        await incoming.send(error)
                        continue
                    await incoming.send(SessionMessage(message))

    async def write() -> None:
        async with answered:
            async for each in answered:
                written = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(written.encode() + b"\n")
                await writer.drain()

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        await server.run(received, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()
