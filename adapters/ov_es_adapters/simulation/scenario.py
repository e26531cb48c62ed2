"""A scenario file, read strictly into one frozen value.

The format is a contract: an unknown field anywhere is an error that names it, so that a slip
can't make a check pass.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.playbook import Playbook, parse_run
from ov_es_adapters.runtimes.strict_fields import Fields, is_object
from ov_es_adapters.simulation.expected_fields import check_expectation
from ov_es_adapters.simulation.steps import Step, TeamStep, parse_step
from ov_es_adapters.team.faults import FaultPlan, parse_faults
from ov_es_adapters.team.world import TeamWorld
from ov_es_domain.identity import Identifier, identifier

RUNTIMES = ("claude", "codex", "opencode", "scripted")
_QUIET_SECONDS = 60.0
"""How long a scenario that doesn't say goes on after its last step."""
_FIELDS = ("name", "agent", "watch", "team", "runs", "faults", "steps", "until", "expect")
_PLAYED_FOR_REAL_ONLY = ("plays", "dialect")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPlan:
    """How the watcher is started."""

    runtime: str = "scripted"
    has_workspace: bool = False
    concurrency: int = 3
    model: str | None = None
    chat_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A story that can be run again."""

    name: str
    agent: AgentIdentity
    watch: WatchPlan
    team: Mapping[str, object]
    """The team at the start, with everything that people had written by then."""
    playbook: Playbook
    faults: FaultPlan
    steps: tuple[Step, ...]
    """In the order of their times; those of one time in the order of the file."""
    until: float
    expect: Mapping[str, object] | None
    """What the result has to match; None: nothing."""


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file.

    Raises: BadInputError that names the file, the place in it, and what would be right.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInputError(f"{path}: can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: must be UTF-8 (byte {error.start} isn't)") from error
    try:
        return parse_scenario(_parse_json(text), default_name=path.stem)
    except BadInputError as error:
        raise BadInputError(f"{path}: {error}") from error


def _parse_json(text: str) -> object:
    try:
        value: object = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse_constant
        )
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise BadInputError(
            f"line {error.lineno}, column {error.colno}: no valid JSON: {error.msg}"
        ) from error
    except UnicodeEncodeError as error:
        raise BadInputError(
            "a text in it holds half a character (\\ud800 to \\udfff); "
            "such bytes can only be said in `frame_text`, with the backslash doubled"
        ) from error
    except RecursionError as error:
        raise BadInputError("it is nested too deeply to be a scenario") from error
    except ValueError as error:
        raise BadInputError(f"no valid JSON: {error}") from error
    return value


def _object(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Refuse a name that is there twice: the first one would be lost without a word."""
    made: dict[str, object] = {}
    for name, value in pairs:
        if name in made:
            raise BadInputError(f"the field {name!r} is there twice in one object")
        made[name] = value
    return made


def _refuse_constant(name: str) -> object:
    raise BadInputError(f"{name} is no number that JSON has")


def parse_scenario(value: object, *, default_name: str = "") -> Scenario:
    """Read a scenario from what its JSON says.

    Raises: BadInputError.
    """
    fields = Fields(value, "the file", _FIELDS, "a scenario")
    steps = tuple(parse_step(step, f"steps[{at}]") for at, step in enumerate(fields.list("steps")))
    last = max((step.at for step in steps), default=0.0)
    until = fields.number("until", default=last + _QUIET_SECONDS)
    for at, step in enumerate(steps):
        if step.at > until:
            raise BadInputError(
                f"steps[{at}].at: {step.at:g} is after `until` ({until:g}), so it'd never happen"
            )
    agent = _agent(fields)
    team = fields.object("team")
    _check_team(team, agent, steps)
    return Scenario(
        name=fields.text("name", default=default_name, may_be_empty=True),
        agent=agent,
        watch=_watch(fields),
        team=team,
        playbook=_playbook(fields.list("runs")),
        faults=parse_faults(fields.list("faults")),
        steps=tuple(sorted(steps, key=lambda step: step.at)),
        until=until,
        expect=_expect(fields),
    )


def _agent(fields: Fields) -> AgentIdentity:
    value = fields.object("agent")
    inner = Fields(value, "agent", ("id", "identifier", "name"), "the agent")
    return AgentIdentity(
        id=_identifier(value, "agent"),
        identifier=inner.text("identifier"),
        name=inner.text("name", default="", may_be_empty=True),
    )


def _identifier(value: Mapping[str, object], where: str) -> Identifier | None:
    given = value.get("id")
    found = identifier(given)
    if given is not None and found is None:
        raise BadInputError(f"{where}.id: must be a number, as the backend has it")
    return found


def _watch(fields: Fields) -> WatchPlan:
    known = ("runtime", "workdir", "concurrency", "model", "chat_model")
    inner = Fields(fields.object("watch"), "watch", known, "watch")
    runtime = inner.text("runtime", default="scripted")
    if runtime not in RUNTIMES:
        raise BadInputError(f"watch.runtime: {runtime!r} is none of {', '.join(RUNTIMES)}")
    return WatchPlan(
        runtime=runtime,
        has_workspace=inner.truth("workdir"),
        concurrency=inner.integer("concurrency", default=3, least=1),
        model=inner.text("model") if "model" in inner else None,
        chat_model=inner.text("chat_model") if "chat_model" in inner else None,
    )


def _check_team(team: Mapping[str, object], agent: AgentIdentity, steps: Sequence[Step]) -> None:
    """Make the team once, and change it as the steps do, so that a slip is told at once."""
    world = TeamWorld(team, agent)
    for at, step in sorted(enumerate(steps), key=lambda pair: pair[1].at):
        if isinstance(step, TeamStep):
            try:
                world.merge(step.change)
            except BadInputError as error:
                raise BadInputError(f"steps[{at}].{error}") from error


def _playbook(values: Sequence[object]) -> Playbook:
    for at, value in enumerate(values):
        for name in _PLAYED_FOR_REAL_ONLY:
            if is_object(value) and name in value:
                raise BadInputError(
                    f"runs[{at}].{name}: unknown field; what a program prints goes into `does`"
                )
    return Playbook(parse_run(value, f"runs[{at}]") for at, value in enumerate(values))


def _expect(fields: Fields) -> Mapping[str, object] | None:
    if "expect" not in fields:
        return None
    expected = fields.object("expect")
    check_expectation(expected, "expect")
    return expected
