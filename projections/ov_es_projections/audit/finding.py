"""What an audit says: findings, each with its rule and the position that shows it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from ov_es_domain.recorded import Recorded


class Severity(StrEnum):
    """How bad a finding is; any `error` or `warning` makes the audit exit with 1."""

    ERROR = "error"
    """A promise of the design is broken."""
    WARNING = "warning"
    """A person should look."""
    NOTE = "note"
    """Worth knowing, nothing is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that an invariant doesn't allow."""

    rule: str
    severity: Severity
    key: str
    position: int
    """The event that shows it; 0 when it's the log as a whole."""
    message: str


class Invariant(Protocol):
    """Something that has to hold over a whole log. It sees each event once, in order."""

    rule: ClassVar[str]
    explanation: ClassVar[str]

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Return what this event breaks."""
        ...

    def end(self, at: float) -> Iterable[Finding]:
        """Return what is still open at the end and shouldn't be; `at` is the time of the look."""
        ...
