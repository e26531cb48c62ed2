"""One invariant of the log in each file, named for what it forbids; `audit` runs them all."""

from ov_es_projections.audit.finding import Finding, Severity
from ov_es_projections.audit.report import AuditReport, audit

__all__ = ["AuditReport", "Finding", "Severity", "audit"]
