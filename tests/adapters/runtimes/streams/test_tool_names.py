"""The team's tools in every program's spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.runtimes.streams.tool_names import (
    TEAM_TOOLS,
    prefixed_team_tool,
    team_tool,
    team_tool_of,
)

SERVERS = st.sampled_from(["openvisio-team", "openvisio_team", "OpenVisio-Team"])
PREFIXES = st.sampled_from(["", "mcp__", "MCP__"])
BETWEEN = st.sampled_from(["__", "_", ".", ":", "/", "-"])


@given(PREFIXES, SERVERS, BETWEEN, st.sampled_from(sorted(TEAM_TOOLS)))
def test_ev_2_every_prefix_is_taken_off(start: str, server: str, between: str, tool: str) -> None:
    assert team_tool(f"{start}{server}{between}{tool}") == tool
    assert team_tool(f"{start}{server}{between}{tool.replace('_', '-')}") == tool


@pytest.mark.parametrize(
    "name", ["", "openvisio-team", "openvisio-team_", "mcp__other__post_message", "Bash", "posts"]
)
def test_ev_2_other_names_are_not_the_teams(name: str) -> None:
    assert team_tool(name) is None


def test_ev_2_a_tool_of_the_team_that_is_not_known_yet_is_the_teams_all_the_same() -> None:
    assert team_tool("mcp__openvisio-team__new.tool") == "new_tool"
    assert team_tool("new_tool") is None


def test_a_title_has_to_name_the_server() -> None:
    assert prefixed_team_tool("openvisio-team_post_message") == "post_message"
    assert prefixed_team_tool("post_message") is None
    assert prefixed_team_tool("run openvisio-team_post_message now") is None


def test_a_server_that_is_told_apart_decides() -> None:
    assert team_tool_of("openvisio_team", "new-tool") == "new_tool"
    assert team_tool_of("openvisio-team-2", "post_message") is None
    assert team_tool_of("", "post_message") == "post_message"
    assert team_tool_of("openvisio-team", "") is None


@given(st.text())
def test_any_name_is_taken(name: str) -> None:
    assert team_tool(name) is None or team_tool(name)
