"""Says in findings where stored projections and the log disagree."""

from collections.abc import Callable, Sequence

from ov_es_adapters.event_log.comparison import Difference, compare_with_rebuild
from ov_es_adapters.event_log.log import EventLog
from ov_es_projections.audit import Finding, Severity

RULE = "projection-differs"


def compare_projections(log: EventLog, *, progress: Callable[[int], None]) -> Sequence[Finding]:
    """Compare every stored row with the one that a rebuild would make (EVT-11, AUD-02)."""
    return [_finding(each) for each in compare_with_rebuild(log, progress=progress)]


def _finding(difference: Difference) -> Finding:
    return Finding(
        rule=RULE,
        severity=Severity.ERROR,
        key=" ".join(str(part) for part in difference.key),
        position=0,
        message=f"{difference.table}: {_words(difference)}; `ov-es rebuild` makes it right",
    )


def _words(difference: Difference) -> str:
    stored, rebuilt = difference.stored, difference.rebuilt
    if stored is None or rebuilt is None:
        return "a row is missing" if stored is None else "there's a row too many"
    columns = [name for name, value in rebuilt.items() if stored.get(name) != value]
    return ", ".join(f"{name} is {stored.get(name)!r}, not {rebuilt[name]!r}" for name in columns)
