"""A push that needs an authorization, in what commands printed and nowhere else (BL-11)."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.adapters.runtimes.streams.reading import Event, read

from ov_es_adapters.runtimes.streams.policy_block import find_block

OUTPUT = "pushing...\nOPENVISIO_PR_PUSH_AUTH_REQUIRED: /home/a/my app\nstopped\n"


def in_claude(output: str) -> list[Event]:
    use = {"type": "tool_use", "id": "c1", "name": "Bash"}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": output, "is_error": True}
    return [
        {"type": "assistant", "message": {"content": [use]}},
        {"type": "user", "message": {"content": [result]}},
    ]


def in_codex(output: str) -> list[Event]:
    item = {"type": "command_execution", "aggregated_output": output, "exit_code": 3}
    return [{"type": "item.completed", "item": item}]


def in_opencode(output: str) -> list[Event]:
    state = {"status": "completed", "output": output, "metadata": {"exit": 3}}
    return [{"type": "tool_use", "part": {"tool": "bash", "callID": "c1", "state": state}}]


def in_acp(output: str) -> list[Event]:
    update = {"sessionUpdate": "tool_call", "toolCallId": "c1", "kind": "execute"}
    update |= {"status": "failed", "rawOutput": output}
    return [{"jsonrpc": "2.0", "method": "session/update", "params": {"update": update}}]


DIALECTS = [
    pytest.param("claude", in_claude, id="claude"),
    pytest.param("codex", in_codex, id="codex"),
    pytest.param("opencode", in_opencode, id="opencode"),
    pytest.param("acp", in_acp, id="acp"),
]


@pytest.mark.parametrize(("dialect", "printed"), DIALECTS)
def test_bl_11_a_command_that_asks_for_an_authorization_blocks(
    dialect: str, printed: Callable[[str], list[Event]]
) -> None:
    assert read(dialect, *printed(OUTPUT)).policy_block == "/home/a/my app"


@pytest.mark.parametrize(("dialect", "printed"), DIALECTS)
def test_bl_11_without_the_marker_nothing_blocks(
    dialect: str, printed: Callable[[str], list[Event]]
) -> None:
    assert read(dialect, *printed("pushed")).policy_block is None


@pytest.mark.parametrize(
    ("output", "root"),
    [
        ("OV_ES_PR_PUSH_AUTH_REQUIRED", ""),
        ("OV_ES_PR_PUSH_AUTH_REQUIRED /srv/app", "/srv/app"),
        ("error: OV_ES_PR_PUSH_AUTH_REQUIRED: /srv/app", "/srv/app"),
        ("OPENVISIO_PR_PUSH_AUTH_REQUIRED root=/srv/app", "/srv/app"),
        ('OPENVISIO_PR_PUSH_AUTH_REQUIRED {"root": "/srv/app"}', "/srv/app"),
        ("OV_ES_PR_PUSH_AUTH_REQUIRED: ask a person", ""),
        ("OV_ES_PR_PUSH_AUTH_REQUIRED\nOV_ES_PR_PUSH_AUTH_REQUIRED: /srv/app", "/srv/app"),
        ("OV_ES_PR_PUSH_AUTH_REQUIRED_TOO: /srv/app", None),
        ('MARKER = "OV_ES_PR_PUSH_AUTH_REQUIRED"', None),
        ("docs.md:12: on `OV_ES_PR_PUSH_AUTH_REQUIRED` stop", None),
        ("# OV_ES_PR_PUSH_AUTH_REQUIRED: /srv/app", None),
    ],
)
def test_bl_11_the_marker_stands_free_and_may_name_the_root(output: str, root: str | None) -> None:
    assert find_block(output) == root


def test_bl_11_words_of_the_agent_and_files_that_it_reads_do_not_block() -> None:
    said: dict[str, Any] = {"type": "text", "text": OUTPUT}
    use = {"type": "tool_use", "id": "c1", "name": "Read"}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": OUTPUT}

    seen = read(
        "claude",
        {"type": "assistant", "message": {"content": [use]}},
        {"type": "user", "message": {"content": [result]}},
        {"type": "assistant", "message": {"id": "a", "content": [said]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": OUTPUT},
    )

    assert seen.policy_block is None
