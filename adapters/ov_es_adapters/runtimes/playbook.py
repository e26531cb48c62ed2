"""What a scripted agent does for a source: the `runs` of a scenario file, read strictly.

Pure: the simulator plays these values in a virtual world, `scripted_agent` plays them for real.
An unknown field is an error that names it, so that a slip can't make a check pass.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeAlias, cast

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.strict_fields import Fields, is_object
from ov_es_domain.identity import identifier

DIALECTS = ("claude", "codex", "opencode")


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """It says something; the last text is its answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """It calls a team tool."""

    tool: str
    args: Mapping[str, object]
    error: bool = False
    """The call fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """It changes a file below its directory."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """It runs a shell command."""

    command: str
    exit: int | None = None
    """The exit status that it reports; None: the real one, in a virtual world 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """It commits all that it changed."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyBlock:
    """It says that a push needs an authorization."""

    root: str
    """The repository's root; "" where it doesn't say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """It prints a line as it is."""

    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Flood:
    """It prints one very long line."""

    megabytes: float


Step: TypeAlias = Text | Tool | Edit | Shell | Commit | PolicyBlock | Raw | Flood


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedRun:
    """One run of a scripted agent."""

    source: str
    takes: float = 0.0
    """Seconds in all, spread over the steps."""
    does: tuple[Step, ...] = ()
    exit: int = 0
    hangs: bool = False
    """It never ends by itself."""
    ignores_term: bool = False
    """Only force ends it."""
    children: int = 0
    """How many processes it leaves behind."""
    plays: str | None = None
    """A file with a recorded stream to play byte for byte, in place of `does`."""
    dialect: str = "claude"
    """Whose stream that is."""


def parse_run(value: object, where: str) -> ScriptedRun:
    """Read one run.

    Raises: BadInputError that says where, what, and what would be right.

    >>> parse_run({"source": "ticket:1:5", "does": [{"text": "Done."}]}, "runs[0]").does
    (Text(text='Done.'),)
    """
    fields = Fields(value, where, _RUN_FIELDS, "a run")
    if "plays" in fields and "does" in fields:
        raise BadInputError(f"{where}: `plays` and `does` exclude each other; keep one of them")
    dialect = fields.text("dialect", default="claude")
    if dialect not in DIALECTS:
        raise BadInputError(f"{where}.dialect: {dialect!r} is none of {', '.join(DIALECTS)}")
    return ScriptedRun(
        source=fields.text("source"),
        takes=fields.number("takes", default=0.0),
        does=tuple(
            parse_step(step, f"{where}.does[{at}]") for at, step in enumerate(fields.list("does"))
        ),
        exit=fields.integer("exit", default=0),
        hangs=fields.truth("hangs"),
        ignores_term=fields.truth("ignores_term"),
        children=fields.integer("children", default=0, least=0),
        plays=fields.text("plays") if "plays" in fields else None,
        dialect=dialect,
    )


def parse_step(value: object, where: str) -> Step:  # noqa: PLR0911 - one for each action
    """Read one step of `does`: an object with exactly one of the actions.

    Raises: BadInputError.
    """
    if not is_object(value):
        raise BadInputError(f"{where}: a step is an object with one of {_ACTION_NAMES}")
    actions = [name for name in _ACTIONS if name in value]
    if len(actions) != 1:
        unknown = [name for name in value if name not in _ACTIONS]
        found = ", ".join(actions or unknown) or "none"
        raise BadInputError(f"{where}: a step has exactly one of {_ACTION_NAMES}; found: {found}")
    action = actions[0]
    fields = Fields(value, where, (action, *_ACTIONS[action]), f"a {action} step")
    match action:
        case "text":
            return Text(text=fields.text("text", may_be_empty=True))
        case "tool":
            return Tool(
                tool=fields.text("tool"), args=fields.object("args"), error=fields.truth("error")
            )
        case "edit":
            return Edit(path=_inside(fields.text("edit"), f"{where}.edit"))
        case "shell":
            given = fields.integer("exit", default=0) if "exit" in fields else None
            return Shell(command=fields.text("shell"), exit=given)
        case "commit":
            return Commit(message=fields.text_or_true("commit", default="Work"))
        case "policy_block":
            return PolicyBlock(root=fields.text_or_true("policy_block", default=""))
        case "raw":
            return Raw(line=fields.text("raw", may_be_empty=True))
        case _:
            return Flood(megabytes=fields.number("flood"))


def parse_playbook(value: object, where: str = "runs") -> "Playbook":
    """Read the list of runs.

    Raises: BadInputError.
    """
    if not isinstance(value, list):
        raise BadInputError(f"{where}: must be a list of runs")
    runs = cast("list[object]", value)
    return Playbook(parse_run(run, f"{where}[{at}]") for at, run in enumerate(runs))


class Playbook:
    """The runs of all sources."""

    def __init__(self, runs: Iterable[ScriptedRun] = ()) -> None:
        self._runs: dict[str, list[ScriptedRun]] = {}
        for run in runs:
            self._runs.setdefault(run.source, []).append(run)

    def run(self, source: str, attempt: int) -> ScriptedRun:
        """Return what is done for the source's n-th launch, counted from 1.

        Later launches than there are runs repeat the last one: a crash may cost an attempt, and
        what the agent has to say doesn't change by it. A source without a run just says ok.
        """
        runs = self._runs.get(source)
        if not runs:
            return ScriptedRun(source=source, does=(Text(text="ok"),))
        return runs[min(max(attempt, 1), len(runs)) - 1]


def write_run(run: ScriptedRun) -> dict[str, object]:
    """Return the run as `parse_run` reads it."""
    written: dict[str, object] = {
        "source": run.source,
        "takes": run.takes,
        "exit": run.exit,
        "hangs": run.hangs,
        "ignores_term": run.ignores_term,
        "children": run.children,
        "dialect": run.dialect,
    }
    if run.plays is not None:
        return {**written, "plays": run.plays}
    return {**written, "does": [_write_step(step) for step in run.does]}


def arguments_for(source: str, tool: str, args: Mapping[str, object]) -> dict[str, object]:
    """Return a tool's arguments with the ids that the source implies, unless they're given.

    >>> arguments_for("ticket:1:5", "update_ticket", {"status": "done"})
    {'project_id': 1, 'ticket_id': 5, 'status': 'done'}
    >>> arguments_for("mention:10:100", "post_message", {"content": "Hi"})
    {'channel_id': 10, 'parent_id': 100, 'content': 'Hi'}
    """
    kind, _, rest = source.partition(":")
    first, _, second = rest.partition(":")
    names = _IMPLIED.get((kind, tool), ())
    implied = dict(zip(names, (identifier(first), identifier(second)), strict=False))
    return {**implied, **args}


def _write_step(step: Step) -> dict[str, object]:  # noqa: PLR0911 - one for each action
    match step:
        case Text(text=text):
            return {"text": text}
        case Tool(tool=tool, args=args, error=error):
            return {"tool": tool, "args": dict(args), "error": error}
        case Edit(path=path):
            return {"edit": path}
        case Shell(command=command, exit=None):
            return {"shell": command}
        case Shell(command=command, exit=status):
            return {"shell": command, "exit": status}
        case Commit(message=message):
            return {"commit": message}
        case PolicyBlock(root=root):
            return {"policy_block": root or True}
        case Raw(line=line):
            return {"raw": line}
        case Flood(megabytes=megabytes):
            return {"flood": megabytes}


def _inside(path: str, where: str) -> str:
    """Refuse a path that leads out of the run's directory."""
    pure = PurePath(path)
    if pure.is_absolute() or ".." in pure.parts or ".git" in pure.parts:
        raise BadInputError(f"{where}: {path!r} must lead to a file below the run's directory")
    return path


_RUN_FIELDS = (
    "source",
    "takes",
    "does",
    "exit",
    "hangs",
    "ignores_term",
    "children",
    "plays",
    "dialect",
)
_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "text": (),
    "tool": ("args", "error"),
    "edit": (),
    "shell": ("exit",),
    "commit": (),
    "policy_block": (),
    "raw": (),
    "flood": (),
}
_ACTION_NAMES = ", ".join(_ACTIONS)
_IMPLIED: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("ticket", "get_ticket"): ("project_id", "ticket_id"),
    ("ticket", "update_ticket"): ("project_id", "ticket_id"),
    ("ticket", "comment_ticket"): ("project_id", "ticket_id"),
    ("mention", "post_message"): ("channel_id", "parent_id"),
    ("mention", "list_message_thread"): ("channel_id", "parent_id"),
}
