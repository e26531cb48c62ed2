"""No secret in any error, log record or traceback of the tool client, whatever goes wrong."""

import asyncio
import base64
import logging
import traceback
from urllib.parse import quote

import pytest
from tests.adapters.mcp.conftest import MakeCaller
from tests.adapters.mcp.scripted_server import (
    Answer,
    Asked,
    Cut,
    ScriptedServer,
    error,
    http,
    result,
    stream,
)

from ov_es_adapters.errors import PeerRefusedError, ToolCallError

KEY = "SECRET-A/key+of=ada"
TOKEN = "SECRET-B-token"  # noqa: S105  - a made-up one
THEIRS = "SECRET-D-of-the-servers-own"
FORMS = (
    KEY,
    TOKEN,
    THEIRS,
    quote(KEY, safe=""),
    base64.b64encode(KEY.encode()).decode(),
    base64.b64encode(TOKEN.encode()).decode(),
)
ECHO = f"key {KEY} in {quote(KEY, safe='')} and {base64.b64encode(KEY.encode()).decode()} {TOKEN}"
BODY = f'{{"error": {{"code": 1, "message": "{ECHO}"}}, "access_token": "{THEIRS}"}}'.encode()


def echoing(asked: Asked) -> dict[str, Answer]:
    said = [{"type": "text", "text": f'{ECHO} "access_token": "{THEIRS}"'}]
    return {
        "401": http(401, BODY),
        "404": http(404, BODY),
        "418": http(418, BODY),
        "429": http(429, BODY, retry_after=KEY),
        "500": http(500, BODY),
        "protocol": error(asked, -32000, ECHO),
        "refused": result(asked, {"isError": True, "content": said}),
        "garbage": http(200, BODY + b"{"),
        "foreign": http(200, b'{"result": "' + ECHO.encode() + b'"}'),
        "kind": http(200, BODY, kind=f"text/{TOKEN}"),
        "stream": stream(b"data: " + BODY + b"{\n\n"),
        "cut": Cut(http(200, BODY)[:-3]),
        "redirect": http(302, location=f"/mcp?token={TOKEN}&key={quote(KEY, safe='')}"),
    }


@pytest.mark.parametrize("at", ["initialize", "tools/list", "tools/call"])
async def test_sec_01_no_failure_shows_a_secret_at_debug_level(
    at: str, server: ScriptedServer, make: MakeCaller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    shown: list[str] = []
    for name in ("401", "404", "418", "429", "500", "protocol", "refused", "garbage", "foreign",
                 "kind", "stream", "cut", "redirect"):  # fmt: skip

        async def handle(asked: Asked, name: str = name) -> Answer:
            return echoing(asked)[name]

        server.on = {at: handle}
        caller = make(f"{server.url}?token={TOKEN}", key=KEY, deadline_seconds=5.0)
        with pytest.raises((ToolCallError, PeerRefusedError)) as caught:
            await caller.advertised() if at == "tools/list" and name != "refused" else (
                await caller.call("post_message", {}) and await caller.advertised()
            )
        shown += [str(caught.value), repr(caught.value), *traceback.format_exception(caught.value)]

    everything = "\n".join([*shown, caplog.text])
    assert [form for form in FORMS if form in everything] == []


async def test_sec_01_a_success_shows_none_either(
    server: ScriptedServer, make: MakeCaller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def handle(asked: Asked) -> Answer:
        return result(asked, {"structuredContent": {"access_token": THEIRS}})

    server.on["tools/call"] = handle

    await make(f"{server.url}?token={TOKEN}", key=KEY).call("get_ticket", {})

    assert [form for form in FORMS if form in caplog.text] == []


async def test_sec_01_a_failed_handshake_of_tls_shows_none(
    make: MakeCaller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"this is no TLS\r\n")
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as plain:
        port = plain.sockets[0].getsockname()[1]
        caller = make(f"https://127.0.0.1:{port}/mcp?token={TOKEN}", key=KEY)

        with pytest.raises(ToolCallError) as caught:
            await caller.call("post_message", {})

    everything = "\n".join([*traceback.format_exception(caught.value), caplog.text])
    assert [form for form in FORMS if form in everything] == []
