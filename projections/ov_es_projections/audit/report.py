"""Runs every invariant over a log once, and puts findings and figures together."""

from collections.abc import Iterable
from dataclasses import dataclass

from ov_es_domain.recorded import Recorded
from ov_es_projections.audit.answered_with_a_notice import AnsweredWithANotice
from ov_es_projections.audit.figures import Figures, percentile
from ov_es_projections.audit.finding import Finding, Invariant, Severity
from ov_es_projections.audit.left_undone import LeftUndone
from ov_es_projections.audit.lost_work import LostWork
from ov_es_projections.audit.overlapping_runs import OverlappingRuns
from ov_es_projections.audit.posted_by_others import PostedByOthers
from ov_es_projections.audit.posted_twice import PostedTwice
from ov_es_projections.audit.stale_result import StaleResult
from ov_es_projections.audit.unproven_success import UnprovenSuccess
from ov_es_projections.audit.unwanted_post import UnwantedPost
from ov_es_projections.audit.well_formed import WellFormed

INVARIANTS: tuple[type[Invariant], ...] = (
    WellFormed,
    PostedTwice,
    PostedByOthers,
    LostWork,
    OverlappingRuns,
    UnwantedPost,
    StaleResult,
    UnprovenSuccess,
    LeftUndone,
    AnsweredWithANotice,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What an audit found. `as_data` gives the fields of `ov-es audit --json`."""

    findings: tuple[Finding, ...]
    figures: Figures

    @property
    def is_clean(self) -> bool:
        """Whether there's nothing that a person has to look at."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)

    def as_data(self) -> dict[str, object]:
        """Return the report as plain data."""
        figures = self.figures
        rules = [finding.rule for finding in self.findings]
        return {
            "events": figures.events,
            "agents": sorted(figures.agents),
            "tickets": len(figures.tickets),
            "turns": _nonzero(figures.turns),
            "deliveries": _nonzero(figures.deliveries),
            "duplicates": rules.count("posted-twice"),
            "lost": rules.count("lost"),
            "stuck": rules.count("stuck"),
            "suppressed": _nonzero(figures.suppressed),
            "refused": _nonzero(figures.refused),
            "latency": {
                "replies": len(figures.latencies),
                "p50": percentile(figures.latencies, 0.5),
                "p90": percentile(figures.latencies, 0.9),
                "p99": percentile(figures.latencies, 0.99),
            },
            "findings": [
                {
                    "rule": finding.rule,
                    "severity": finding.severity.value,
                    "key": finding.key,
                    "position": finding.position,
                    "message": finding.message,
                }
                for finding in self.findings
            ],
        }


def _nonzero(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}


def audit(events: Iterable[Recorded], *, at: float | None = None) -> AuditReport:
    """Check every invariant over `events`, which start at the log's beginning.

    `at` is the time of the look, in seconds since the epoch; without it, the last event's.
    """
    figures = Figures()
    invariants = [invariant() for invariant in INVARIANTS]
    findings: list[Finding] = []
    for event in events:
        figures.see(event)
        for invariant in invariants:
            findings.extend(invariant.see(event))
    end = figures.last_at if at is None else at
    for invariant in invariants:
        findings.extend(invariant.end(end))
    return AuditReport(
        findings=tuple(sorted(findings, key=lambda finding: finding.position)), figures=figures
    )
