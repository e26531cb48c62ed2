"""What a scripted model does: steps, one for each request, read strictly from plain values.

A step names what the model wants, never a program's own tool for it, so that one script drives
every agent program.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.strict_fields import Fields, is_object
from ov_es_adapters.runtimes.team_server import SERVER

SECONDS_MAX = 3600.0
STATUSES = range(400, 600)


# --- what the model uses -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool of an MCP server."""

    name: str
    arguments: Mapping[str, object]
    server: str = SERVER


@dataclass(frozen=True, slots=True)
class Shell:
    """A shell command."""

    command: str


@dataclass(frozen=True, slots=True)
class Write:
    """A file with a new content; where a program only has patches, it ends with a line feed."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of a file, replaced; where a program only has patches, by whole lines."""

    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Read:
    """A look into a file."""

    path: str


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool by its exact name, whether or not the program has it."""

    name: str
    arguments: Mapping[str, object]


ToolUse: TypeAlias = McpTool | Shell | Write | Edit | Read | NamedTool


# --- what the model does with a request --------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Say:
    """It says something, which ends the turn."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """It calls tools, all in one answer, and may say something before."""

    tools: tuple[ToolUse, ...]
    say: str = ""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The service refuses the request with an HTTP status."""

    status: int
    times: int | None = 1
    """How many requests; None: all that come."""


@dataclass(frozen=True, slots=True)
class Stall:
    """It starts an answer, and says nothing more until the time is over or the peer leaves."""

    seconds: float
    say: str = ""


@dataclass(frozen=True, slots=True)
class Drop:
    """It starts an answer, and the connection breaks."""

    say: str = ""


@dataclass(frozen=True, slots=True)
class Fail:
    """The service reports an error inside of a stream that began well."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Decline:
    """It won't do what it's asked for."""

    text: str


@dataclass(frozen=True, slots=True)
class CutShort:
    """Its answer reaches the limit of tokens."""

    text: str


@dataclass(frozen=True, slots=True)
class Garble:
    """The service sends a stream that isn't one."""

    raw: str


Step: TypeAlias = Say | Call | Refuse | Stall | Drop | Fail | Decline | CutShort | Garble


# --- reading -----------------------------------------------------------------------------------


def parse_steps(value: object) -> tuple[Step, ...]:
    """Read a list of steps, or an object that has it in its field `steps`.

    Raises: BadInputError that says where, what, and what would be right.

    >>> parse_steps([{"call": [{"shell": "ls"}]}, {"say": "Done."}])
    (Call(tools=(Shell(command='ls'),), say=''), Say(text='Done.'))
    >>> parse_steps([{"say": "Hi", "loud": True}])
    Traceback (most recent call last):
    ov_es_adapters.errors.BadInputError: steps[0]: unknown field 'loud'; a say step has say
    """
    steps: object = (
        Fields(value, "script", ("steps",), "a script").list("steps")
        if (is_object(value))
        else value
    )
    if not isinstance(steps, list):
        raise BadInputError("steps: must be a list of steps")
    return tuple(
        _step(each, f"steps[{at}]") for at, each in enumerate(cast("list[object]", steps))
    )


def _step(value: object, where: str) -> Step:  # noqa: PLR0911 - one for each action
    action, fields = _action(value, where, _STEPS, "step")
    match action:
        case "say":
            return Say(fields.text("say", may_be_empty=True))
        case "call":
            return Call(_tools(fields, where), _said(fields))
        case "refuse":
            return Refuse(_status(fields, where), _times(fields, where, value))
        case "stall":
            return Stall(_seconds(fields, where), _said(fields))
        case "drop":
            if not fields.truth("drop"):
                raise BadInputError(f"{where}.drop: must be true")
            return Drop(_said(fields))
        case "fail":
            return Fail(fields.text("code", default="server_error"), fields.text("fail"))
        case "decline":
            return Decline(fields.text("decline", may_be_empty=True))
        case "cut_short":
            return CutShort(fields.text("cut_short", may_be_empty=True))
        case _:
            return Garble(fields.text("garble", may_be_empty=True))


def _tools(fields: Fields, where: str) -> tuple[ToolUse, ...]:
    tools = tuple(
        _tool(each, f"{where}.call[{at}]") for at, each in enumerate(fields.list("call"))
    )
    if not tools:
        raise BadInputError(f"{where}.call: must be a list of at least one tool use")
    return tools


def _tool(value: object, where: str) -> ToolUse:
    action, fields = _action(value, where, _TOOLS, "tool use")
    match action:
        case "mcp":
            server = fields.text("server", default=SERVER)
            return McpTool(fields.text("mcp"), fields.object("arguments"), server)
        case "shell":
            return Shell(fields.text("shell"))
        case "write":
            return Write(fields.text("write"), fields.text("content", may_be_empty=True))
        case "edit":
            new = fields.text("new", may_be_empty=True)
            return Edit(fields.text("edit"), fields.text("old"), new)
        case "read":
            return Read(fields.text("read"))
        case _:
            return NamedTool(fields.text("tool"), fields.object("arguments"))


def _action(
    value: object, where: str, actions: Mapping[str, tuple[str, ...]], what: str
) -> tuple[str, Fields]:
    """Return the one action that an object names, and its fields."""
    names = ", ".join(actions)
    if not is_object(value):
        raise BadInputError(f"{where}: a {what} is an object with one of {names}")
    # A field of one action may be the name of another: `say` goes with several.
    found = [
        name
        for name in actions
        if name in value and not any(name in actions[other] for other in actions if other in value)
    ]
    if len(found) != 1:
        shown = ", ".join(found or map(str, value)) or "none"
        raise BadInputError(f"{where}: a {what} has exactly one of {names}; found: {shown}")
    action = found[0]
    return action, Fields(value, where, (action, *actions[action]), f"a {action} {what}")


def _said(fields: Fields) -> str:
    return fields.text("say", default="", may_be_empty=True)


def _status(fields: Fields, where: str) -> int:
    status = fields.integer("refuse", default=0)
    if status not in STATUSES:
        raise BadInputError(
            f"{where}.refuse: must be an HTTP status from {STATUSES.start} to {STATUSES.stop - 1}"
        )
    return status


def _times(fields: Fields, where: str, value: object) -> int | None:
    given = value.get("times", 1) if is_object(value) else 1
    if given == "forever":
        return None
    if isinstance(given, str):
        raise BadInputError(f"{where}.times: must be a whole number of at least 1, or 'forever'")
    return fields.integer("times", default=1, least=1)


def _seconds(fields: Fields, where: str) -> float:
    seconds = fields.number("stall")
    if seconds > SECONDS_MAX:
        raise BadInputError(f"{where}.stall: must be {SECONDS_MAX:.0f} seconds at most")
    return seconds


_STEPS: Mapping[str, tuple[str, ...]] = {
    "say": (),
    "call": ("say",),
    "refuse": ("times",),
    "stall": ("say",),
    "drop": ("say",),
    "fail": ("code",),
    "decline": (),
    "cut_short": (),
    "garble": (),
}
_TOOLS: Mapping[str, tuple[str, ...]] = {
    "mcp": ("arguments", "server"),
    "shell": (),
    "write": ("content",),
    "edit": ("old", "new"),
    "read": (),
    "tool": ("arguments",),
}
