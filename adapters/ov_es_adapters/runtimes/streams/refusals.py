"""Failures that prove the call never left the agent program, by that program's own words.

A failed call may have had its effect all the same: its answer was lost, or came too late. Only
where the program says that it refused to make the call is it sure that nothing happened.
"""

import re

_OWN_WORDS = (
    # claude: before the call, in a tag of its own, or for want of a permission
    "<tool_use_error>Error: No such tool available",
    "<tool_use_error>InputValidationError",
    "Claude requested permissions to use ",
    "User refused permission to run tool",
    # codex: its own approval
    "MCP tool call requires approval",
    "user rejected MCP tool call",
    "user cancelled MCP tool call",
    # opencode: a tool that isn't there, arguments that can't be read, a rule, a person
    "Model tried to call unavailable tool",
    "The user rejected permission to use this specific tool call",
    "The user has specified a rule which prevents you from using this specific tool call",
)
_UNKNOWN_TOOL = re.compile(r"unknown tool:?\s+['\"`]?([\w.-]+)['\"`]?\.?", re.IGNORECASE)


def never_left(why: str, tool: str = "") -> bool:
    """Tell whether a failure's text proves that there was no call.

    >>> never_left("MCP tool call requires approval, but approval policy is never")
    True
    >>> never_left("post_message failed: channel is archived", "post_message")
    False
    """
    return why.strip().startswith(_OWN_WORDS) or is_unknown_to_server(why, tool)


def is_unknown_to_server(why: str, tool: str) -> bool:
    """Tell whether the server's answer is that it has no such tool.

    >>> is_unknown_to_server("Unknown tool: post_message", "post_message")
    True
    """
    unknown = _UNKNOWN_TOOL.fullmatch(why.strip())
    return unknown is not None and unknown[1].replace("-", "_") == tool
