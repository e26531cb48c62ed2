"""Holds the stored projections against ones that are built anew from the log, without writing."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ov_es_adapters.event_log.log import EventLog
from ov_es_projections.audit import Finding, Severity
from ov_es_projections.inline import INLINE
from ov_es_projections.projection import MemoryTables, Projection, Row
from ov_es_projections.story import TRACKED

RULE = "projection-differs"
TRIES_MAX = 3
"""How often it's begun anew because the log grew in between."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison found, and what it couldn't look at."""

    findings: Sequence[Finding]
    unchecked: Sequence[str]


def compare_projections(log: EventLog, *, progress: Callable[[int], None]) -> Comparison:
    """Build each projection anew up to where the stored one is, and compare all rows.

    The log may grow meanwhile: then rows and events don't belong together, and it begins anew.
    """
    for _ in range(TRIES_MAX):
        token = log.changes()
        findings = [
            finding
            for projection, checkpoint in _checkpoints(log)
            for finding in _compare(log, projection, checkpoint, progress)
        ]
        if log.changes() == token:
            return Comparison(findings, ())
    return Comparison((), ("stored projections against a rebuild: the log kept growing",))


def _checkpoints(log: EventLog) -> Iterable[tuple[Projection, int]]:
    position, behind = log.position(), log.lag()
    return [(each, position - behind[each.name]) for each in (*INLINE, *TRACKED)]


def _compare(
    log: EventLog, projection: Projection, checkpoint: int, progress: Callable[[int], None]
) -> Iterable[Finding]:
    tables = MemoryTables((projection,))
    for event in log.stream(until=checkpoint):
        tables.apply(event)
        progress(event.position)
    for table in projection.tables:
        rebuilt = tables.rows.get(table.name, {})
        stored = {tuple(row[c] for c in table.key): row for row in log.select(table.name)}
        for key in rebuilt.keys() | stored.keys():
            if rebuilt.get(key) != stored.get(key):
                yield Finding(
                    rule=RULE,
                    severity=Severity.ERROR,
                    key=" ".join(str(part) for part in key),
                    position=0,
                    message=f"{table.name}: {_difference(stored.get(key), rebuilt.get(key))}"
                    "; `ov-es rebuild` makes it right",
                )


def _difference(stored: Row | None, rebuilt: Row | None) -> str:
    if stored is None or rebuilt is None:
        return "a row is missing" if stored is None else "there's a row too many"
    columns = [name for name, value in rebuilt.items() if stored.get(name) != value]
    return ", ".join(f"{name} is {stored.get(name)!r}, not {rebuilt[name]!r}" for name in columns)
