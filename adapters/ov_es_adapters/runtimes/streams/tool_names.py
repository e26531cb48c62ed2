"""The team's tools among the many names of tools, in every program's own spelling (EV-2)."""

import re

TEAM_TOOLS = frozenset(
    {
        "list_agents",
        "list_projects",
        "list_tasks",
        "list_task_types",
        "get_ticket",
        "update_ticket",
        "comment_ticket",
        "list_channels",
        "list_message_thread",
        "list_activity",
        "post_message",
        "react_message",
        "list_codebases",
        "get_codebase",
        "codebase_tree",
        "create_codebase_branch",
        "create_codebase_commit",
        "write_codebase_file",
        "create_pull_request",
        "get_marching_orders",
        "poll_inbox",
    }
)

POST = "post_message"
UPDATE = "update_ticket"
TASK_READS = frozenset({"get_ticket", "list_tasks"})
"""What counts as reading the task; `list_task_types` doesn't (EV-13)."""

_SERVER = re.compile(r"openvisio[-_]team", re.IGNORECASE)
_PREFIXED = re.compile(
    r"(?:mcp(?:__|\.))?openvisio[-_]team(?:__|[_.:/-])(?P<tool>[\w.-]+)",
    re.IGNORECASE | re.ASCII,
)
_READS = ("get_", "list_", "read_", "find_", "search_")


def team_tool(name: str) -> str | None:
    """Return the unprefixed name of a team tool, or None where it's none of the team's.

    >>> team_tool("mcp__openvisio-team__post_message"), team_tool("openvisio-team_get-ticket")
    ('post_message', 'get_ticket')
    >>> team_tool("post_message"), team_tool("mcp__other__post_message"), team_tool("Bash")
    ('post_message', None, None)
    """
    prefixed = _PREFIXED.fullmatch(name)
    plain = _plain(prefixed["tool"] if prefixed else name)
    return plain if prefixed or plain in TEAM_TOOLS else None


def prefixed_team_tool(title: str) -> str | None:
    """Return the team tool that a title names in full; a bare word in a title proves nothing."""
    return team_tool(title) if _PREFIXED.fullmatch(title) else None


def team_tool_of(server: str, tool: str) -> str | None:
    """Return a tool's name where server and tool are told apart.

    >>> team_tool_of("openvisio-team", "post_message"), team_tool_of("other", "post_message")
    ('post_message', None)
    """
    if not tool:
        return None
    if not server:
        return team_tool(tool)
    return (team_tool(tool) or _plain(tool)) if _SERVER.fullmatch(server) else None


def is_read(tool: str) -> bool:
    """Tell whether a team tool only reads: then a failed call can't have had an effect."""
    return tool.startswith(_READS) or tool == "codebase_tree"


def _plain(name: str) -> str:
    return name.replace("-", "_").replace(".", "_")
