"""Each kind of fault, as a real caller meets it, and whether the call had an effect."""

import pytest
from tests.adapters.team.conftest import calling, serving

from ov_es_adapters.errors import (
    CallNotAppliedError,
    CallRefusedError,
    CallUnknownError,
    ToolCallError,
)
from ov_es_adapters.mcp.tool_caller import McpToolCaller
from ov_es_adapters.team.faults import parse_faults
from ov_es_adapters.team.local_server import LocalTeamServer

POST = {"channel_id": 10, "parent_id": 100, "content": "Hi"}
FAULTS: list[tuple[dict[str, object], type[ToolCallError], int]] = [
    ({"kind": "refused"}, CallUnknownError, 0),
    ({"kind": "timeout_before"}, CallUnknownError, 0),
    ({"kind": "timeout_after"}, CallUnknownError, 1),
    ({"kind": "http", "status": 404}, CallNotAppliedError, 0),
    ({"kind": "http", "status": 503}, CallUnknownError, 0),
    ({"kind": "error"}, CallRefusedError, 0),
    ({"kind": "garbage"}, CallUnknownError, 1),
    ({"kind": "crash_before"}, CallUnknownError, 0),
    ({"kind": "crash_after"}, CallUnknownError, 1),
]


def _strike(server: LocalTeamServer, **fault: object) -> None:
    server.team.faults = parse_faults([{"tool": "post_message", "call": 1, **fault}])


async def _post(caller: McpToolCaller) -> object:
    return await caller.call("post_message", POST)


@pytest.mark.parametrize("has_sessions", [False, True])
@pytest.mark.parametrize(
    ("fault", "error", "posts"), FAULTS, ids=["-".join(map(str, f[0].values())) for f in FAULTS]
)
async def test_a_call_goes_wrong_as_told_and_the_next_one_right(
    fault: dict[str, object],
    error: type[ToolCallError],
    posts: int,
    has_sessions: bool,  # noqa: FBT001 - pytest passes parameters by name
) -> None:
    async with (
        serving(has_sessions=has_sessions) as server,
        calling(server, deadline=1.0) as caller,
    ):
        await caller.call("list_agents", {})
        if fault == {"kind": "http", "status": 404} and has_sessions:
            # Such an answer means a lost session to a client, which asks once more with a new one.
            server.team.faults = parse_faults(
                [{"tool": "post_message", "call": n, **fault} for n in (1, 2)]
            )
        else:
            _strike(server, **fault)

        with pytest.raises(error):
            await _post(caller)

        assert len(server.team.world.posts) == posts
        await _post(caller)
        assert len(server.team.world.posts) == posts + 1


async def test_out_06_a_late_call_is_applied_though_nobody_waits_any_more(
    server: LocalTeamServer,
) -> None:
    _strike(server, kind="late", by=1.0)

    async with calling(server, deadline=0.5) as caller:
        with pytest.raises(CallUnknownError):
            await _post(caller)
    assert not server.team.world.posts
    await server.team.until(lambda: len(server.team.world.posts) == 1)


async def test_a_late_call_is_answered_if_somebody_still_waits(server: LocalTeamServer) -> None:
    _strike(server, kind="late", by=0.1)

    async with calling(server) as caller:
        await _post(caller)

    assert len(server.team.world.posts) == 1


async def test_whoever_can_end_the_caller_s_process_is_told_of_its_crash() -> None:
    crashes: list[str] = []
    async with (
        serving(on_crash=lambda: crashes.append("dead")) as server,
        calling(server) as caller,
    ):
        _strike(server, kind="crash_after")
        with pytest.raises(CallUnknownError):
            await _post(caller)

    assert crashes == ["dead"]


async def test_a_call_that_is_never_answered_does_not_keep_the_server_from_stopping() -> None:
    async with serving() as server:
        _strike(server, kind="timeout_before")
        async with calling(server, deadline=0.2) as caller:
            with pytest.raises(CallUnknownError):
                await _post(caller)
        server.team.faults = parse_faults(
            [{"tool": "post_message", "call": 1, "kind": "late", "by": 3600}]
        )
        async with calling(server, deadline=0.2) as caller:
            with pytest.raises(CallUnknownError):
                await _post(caller)

    assert not server.team.world.posts
