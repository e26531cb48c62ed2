"""codex's code mode: one tool that runs JavaScript, which reaches all the others."""

import re
from collections.abc import Iterable

import orjson

from ov_es_adapters.scripted_model.answering import ChosenCall, Offer, OfferedTool

_TOOL_NAMES = ("exec", "functions.exec")
_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_$]")


def script_tool(offer: Offer, *, shells: Iterable[str]) -> OfferedTool | None:
    """Return the JavaScript tool, if it's the only way to a shell."""
    if {tool.name for tool in offer.tools} & set(shells):
        return None
    return next(
        (tool for tool in offer.tools if tool.takes_text and tool.name in _TOOL_NAMES), None
    )


def one_script(calls: Iterable[ChosenCall]) -> str:
    """Return the script that makes all calls at once, and prints each result.

    >>> print(one_script([ChosenCall(name="exec_command", arguments={"cmd": "ls"})]))
    const results = await Promise.allSettled([
      tools.exec_command({"cmd":"ls"}),
    ]);
    results.forEach((result) => text(result));
    """
    # JSON is JavaScript, so the arguments need no writing of their own.
    asked = [
        f"  tools.{_NO_IDENTIFIER.sub('_', call.name)}({orjson.dumps(call.arguments).decode()}),"
        for call in calls
    ]
    return "\n".join(
        (
            "const results = await Promise.allSettled([",
            *asked,
            "]);",
            "results.forEach((result) => text(result));",
        )
    )
