"""What goes wrong with which call of which tool: the `faults` of a scenario file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.strict_fields import Fields, is_object
from ov_es_adapters.team.tools import TOOLS

_FIELDS = ("tool", "call", "kind", "by", "status")
_STATUS_MIN, _STATUS_MAX = 400, 599


class FaultKind(StrEnum):
    """The ways in which a call goes wrong."""

    REFUSED = "refused"
    """The connection is refused: nothing was applied."""
    TIMEOUT_BEFORE = "timeout_before"
    """No answer, and not applied."""
    TIMEOUT_AFTER = "timeout_after"
    """No answer, but applied."""
    LATE = "late"
    """Applied `by` seconds after the call, and answered then."""
    HTTP = "http"
    """Answered with a bare HTTP status; not applied."""
    ERROR = "error"
    """A result that says that it's an error; not applied."""
    GARBAGE = "garbage"
    """Applied, and answered with a body that is no JSON."""
    CRASH_BEFORE = "crash_before"
    """The caller dies right before it's applied."""
    CRASH_AFTER = "crash_after"
    """The caller dies right after it was applied."""
    UNLISTED = "unlisted"
    """The server doesn't advertise the tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that goes wrong."""

    tool: str
    call: int | None
    """The call that it strikes, counted from 1; None: each one."""
    kind: FaultKind
    by: float | None = None
    """After how many seconds a late call is applied."""
    status: int | None = None
    """The HTTP status of the answer."""


class FaultPlan:
    """Which call is struck by which fault; it counts the calls of each tool."""

    def __init__(self, faults: Sequence[Fault] = ()) -> None:
        """Start counting at the first call."""
        self._faults = tuple(faults)
        self._calls: Counter[str] = Counter()

    @property
    def faults(self) -> Sequence[Fault]:
        """Return all faults, in the order of the file."""
        return self._faults

    @property
    def unlisted(self) -> frozenset[str]:
        """Return the tools that the server doesn't advertise."""
        return frozenset(each.tool for each in self._faults if each.kind is FaultKind.UNLISTED)

    def begin(self) -> "FaultPlan":
        """Return the same plan before the first call of any tool."""
        return FaultPlan(self._faults)

    def strike(self, tool: str) -> Fault | None:
        """Count a call, and return what goes wrong with it, or None.

        A fault of just this call goes before one of all calls.
        """
        self._calls[tool] += 1
        found = [
            fault
            for fault in self._faults
            if fault.tool == tool
            and fault.kind is not FaultKind.UNLISTED
            and fault.call in {None, self._calls[tool]}
        ]
        return min(found, key=lambda fault: fault.call is None, default=None)


def parse_faults(values: Sequence[object], where: str = "faults") -> FaultPlan:
    """Read the faults of a scenario.

    Raises: BadInputError.

    >>> plan = parse_faults([{"tool": "post_message", "call": 2, "kind": "http", "status": 404}])
    >>> plan.strike("post_message"), plan.strike("post_message").status
    (None, 404)
    """
    plan = FaultPlan([_parse(value, f"{where}[{at}]") for at, value in enumerate(values)])
    seen: set[tuple[str, int | None]] = set()
    for at, fault in enumerate(plan.faults):
        if fault.kind is FaultKind.UNLISTED:
            continue
        if (fault.tool, fault.call) in seen:
            raise BadInputError(f"{where}[{at}]: another fault strikes the same call already")
        seen.add((fault.tool, fault.call))
    return plan


def _parse(value: object, where: str) -> Fault:
    fields = Fields(value, where, _FIELDS, "a fault")
    tool = fields.text("tool")
    if tool not in TOOLS:
        raise BadInputError(f"{where}.tool: {tool!r} is none of {', '.join(TOOLS)}")
    kind = _kind(fields.text("kind"), where)
    _only_with(fields, "by", kind, FaultKind.LATE, where)
    _only_with(fields, "status", kind, FaultKind.HTTP, where)
    status = fields.integer("status", default=500) if kind is FaultKind.HTTP else None
    if status is not None and not _STATUS_MIN <= status <= _STATUS_MAX:
        raise BadInputError(f"{where}.status: must be from {_STATUS_MIN} to {_STATUS_MAX}")
    return Fault(
        tool=tool,
        call=_call(value, fields, kind, where),
        kind=kind,
        by=fields.number("by") if kind is FaultKind.LATE else None,
        status=status,
    )


def _kind(said: str, where: str) -> FaultKind:
    try:
        return FaultKind(said)
    except ValueError as error:
        raise BadInputError(f"{where}.kind: {said!r} is none of {', '.join(FaultKind)}") from error


def _only_with(fields: Fields, name: str, kind: FaultKind, owner: FaultKind, where: str) -> None:
    if name in fields and kind is not owner:
        raise BadInputError(f"{where}.{name}: only a fault of the kind {owner} has it")


def _call(value: object, fields: Fields, kind: FaultKind, where: str) -> int | None:
    """Return which call is struck: a tool that isn't listed is so for all of them."""
    given = value.get("call") if is_object(value) else None
    if given == "all":
        return None
    if "call" not in fields and kind is FaultKind.UNLISTED:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise BadInputError(f'{where}.call: must be a whole number of at least 1, or "all"')
    return given
