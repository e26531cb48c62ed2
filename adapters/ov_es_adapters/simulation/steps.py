"""What happens to the world from outside, and when: the `steps` of a scenario file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import orjson

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.strict_fields import Fields, is_object


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameStep:
    """A frame comes over the socket, if one is open."""

    at: float
    text: str
    """As it comes; it may be no JSON at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamStep:
    """People change something; nobody is told."""

    at: float
    change: Mapping[str, object]
    """A partial object per list, merged by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisconnectStep:
    """The socket is gone for a while, and what's sent meanwhile is lost."""

    at: float
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashStep:
    """The process dies at once."""

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartStep:
    """The process is started again; one that still runs is stopped first."""

    at: float
    is_upgrade: bool
    """Whether the projections are thrown away before the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StopStep:
    """SIGTERM: an orderly stop."""

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptStep:
    """A person ends the turn of a source."""

    at: float
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockStep:
    """The wall clock jumps; the monotonic one doesn't."""

    at: float
    jump: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskStep:
    """The disk gets full, or free again."""

    at: float
    is_full: bool


Step: TypeAlias = (
    FrameStep
    | TeamStep
    | DisconnectStep
    | CrashStep
    | RestartStep
    | StopStep
    | InterruptStep
    | ClockStep
    | DiskStep
)

Reader: TypeAlias = Callable[[object, float, str], Step]


def parse_step(value: object, where: str) -> Step:
    """Read one step: an object with `at` and exactly one thing that happens.

    Raises: BadInputError.

    >>> parse_step({"at": 3, "disconnect": {"for": 20}}, "steps[0]")
    DisconnectStep(at=3.0, seconds=20.0)
    """
    if not is_object(value):
        raise BadInputError(f"{where}: a step is an object with `at` and one of {_NAMES}")
    for name in value:
        if name not in _READERS and name != "at":
            raise BadInputError(
                f"{where}.{name}: unknown field; a step has `at` and one of {_NAMES}"
            )
    names = [name for name in value if name in _READERS]
    if len(names) != 1:
        found = ", ".join(names) or "none"
        raise BadInputError(f"{where}: a step has exactly one of {_NAMES}; found: {found}")
    name = names[0]
    at = Fields(value, where, ("at", name), "a step").number("at")
    return _READERS[name](value[name], at, f"{where}.{name}")


def _frame(value: object, at: float, where: str) -> Step:
    if not is_object(value):
        raise BadInputError(f"{where}: must be an object; raw text goes into `frame_text`")
    return FrameStep(at=at, text=orjson.dumps(value).decode())


def _frame_text(value: object, at: float, where: str) -> Step:
    if not isinstance(value, str):
        raise BadInputError(f"{where}: must be a text; an object goes into `frame`")
    return FrameStep(at=at, text=value)


def _team(value: object, at: float, where: str) -> Step:
    if not is_object(value):
        raise BadInputError(f"{where}: must be an object with lists, as `team` has them")
    return TeamStep(at=at, change=value)


def _disconnect(value: object, at: float, where: str) -> Step:
    fields = Fields(value, where, ("for",), "a disconnect")
    return DisconnectStep(at=at, seconds=fields.number("for"))


def _interrupt(value: object, at: float, where: str) -> Step:
    fields = Fields(value, where, ("turn",), "an interrupt")
    return InterruptStep(at=at, source=fields.text("turn"))


def _clock(value: object, at: float, where: str) -> Step:
    Fields(value, where, ("jump",), "a clock step")
    jump = value.get("jump") if is_object(value) else None
    # It may be negative: a clock can be set back.
    if isinstance(jump, bool) or not isinstance(jump, int | float):
        raise BadInputError(f"{where}.jump: must be a number of seconds")
    if abs(jump) > _JUMP_SECONDS_MAX:
        raise BadInputError(f"{where}.jump: must be at most {_JUMP_SECONDS_MAX:.0f} seconds")
    return ClockStep(at=at, jump=float(jump))


def _disk(value: object, at: float, where: str) -> Step:
    fields = Fields(value, where, ("full",), "a disk step")
    if "full" not in fields:
        raise BadInputError(f"{where}: the field 'full' is missing; it is true or false")
    return DiskStep(at=at, is_full=fields.truth("full"))


def _plain(make: Callable[[float], Step]) -> Reader:
    """Read a step that has nothing to say but that it happens: `true`, or an empty object."""

    def read(value: object, at: float, where: str) -> Step:
        if value is not True and value != {}:
            raise BadInputError(f"{where}: must be true")
        return make(at)

    return read


_JUMP_SECONDS_MAX = 366 * 24 * 3600.0
_READERS: Mapping[str, Reader] = {
    "frame": _frame,
    "frame_text": _frame_text,
    "team": _team,
    "disconnect": _disconnect,
    "crash": _plain(lambda at: CrashStep(at=at)),
    "restart": _plain(lambda at: RestartStep(at=at, is_upgrade=False)),
    "stop": _plain(lambda at: StopStep(at=at)),
    "interrupt": _interrupt,
    "clock": _clock,
    "disk": _disk,
    "upgrade": _plain(lambda at: RestartStep(at=at, is_upgrade=True)),
}
_NAMES = ", ".join(_READERS)
