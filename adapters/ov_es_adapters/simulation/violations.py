"""Checks what really happened against what the log says of it; the log alone is audited as well.

An audit can only hold the log against itself. In a simulation the world is known too, so that a
message which was really posted twice shows even where the log is happy with itself.
Source: design, "Determinism, and how it's tested".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ov_es_adapters.simulation.posts_told import told_deliveries
from ov_es_adapters.simulation.processes import SimulatedProcess
from ov_es_adapters.simulation.result import Violation, folded
from ov_es_adapters.simulation.runs_told import told_runs
from ov_es_adapters.simulation.truth import BY_WATCHER, Post
from ov_es_domain.delivery.target import Purpose
from ov_es_domain.errors import IllegalTransitionError
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal.arrival import Via
from ov_es_domain.signal.events import SignalAccepted, SignalRefused, SignalSuppressed
from ov_es_projections.audit import Severity, audit
from ov_es_projections.inline import INLINE
from ov_es_projections.projection import MemoryTables, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class FramesTaken:
    """What one incarnation took from the socket, and what the log then had to say of it."""

    incarnation: int
    frames: int
    after: int
    """The last position before its start."""
    until: int
    """The last position of its life."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that can be held against each other at the end of a simulation."""

    events: Sequence[Recorded]
    wall: float
    """The wall clock at the end."""
    posts: Sequence[Post]
    processes: Sequence[SimulatedProcess]
    rows: Callable[[str], Sequence[Row]]
    """The live rows of an inline projection's table."""
    frames: Sequence[FramesTaken]
    """Of the incarnations that had the time to record an outcome of each."""
    failures: Sequence[str]
    """Why the daemon died where it had no reason to."""


def violations(evidence: Evidence) -> tuple[Violation, ...]:
    """Return every broken invariant, in the order of the log."""
    broken = _broken_log(evidence.events)
    if broken is not None:
        # Nothing that is read from such a log means anything.
        return (broken,)
    found = [
        *_failures(evidence.failures),
        *_audited(evidence),
        *_posts(evidence),
        *_runs(evidence.processes),
        *_left(evidence),
        *_outcomes(evidence),
        *_projections(evidence),
    ]
    unique = {(v.rule, v.key, v.message): v for v in found}
    return tuple(sorted(unique.values(), key=lambda v: (v.position, v.rule, v.key)))


def _broken_log(events: Sequence[Recorded]) -> Violation | None:
    try:
        folded(events)
    except IllegalTransitionError as error:
        return Violation(rule="corrupt-log", key="", position=0, message=str(error))
    return None


def _failures(failures: Iterable[str]) -> Iterable[Violation]:
    for failure in failures:
        yield Violation(rule="daemon-died", key="", position=0, message=failure)


def _audited(evidence: Evidence) -> Iterable[Violation]:
    """A warning says that a person should look; only a broken promise is a violation."""
    for finding in audit(evidence.events, at=evidence.wall).findings:
        if finding.severity is Severity.ERROR:
            yield Violation(
                rule=finding.rule,
                key=finding.key,
                position=finding.position,
                message=finding.message,
            )


def _posts(evidence: Evidence) -> Iterable[Violation]:
    told = told_deliveries(evidence.events, evidence.posts)
    for delivery in told:
        position = delivery.attempts[-1] if delivery.attempts else 0
        if len(delivery.posts) > 1:
            ids = ", ".join(str(post.message_id) for post in delivery.posts)
            message = f"it was really posted {len(delivery.posts)} times: messages {ids}"
            yield Violation(
                rule="posted-twice", key=delivery.key, position=position, message=message
            )
        # A note is on its ticket, where no message shows it.
        is_message = delivery.planned.purpose is not Purpose.NOTE
        if is_message and delivery.delivered_at is not None and not delivery.posts:
            yield Violation(
                rule="lost",
                key=delivery.key,
                position=delivery.delivered_at,
                message="the log says that it's out, and nobody can see it",
            )
    owned = {str(post.message_id) for delivery in told for post in delivery.posts}
    for post in evidence.posts:
        if post.by == BY_WATCHER and str(post.message_id) not in owned:
            yield Violation(
                rule="unaccounted-post",
                key=f"message:{post.message_id}",
                position=0,
                message="it was really posted, and the log never meant to",
            )


def _runs(processes: Sequence[SimulatedProcess]) -> Iterable[Violation]:
    """Two programs for one source at the same time, whatever the log believes."""
    by_source: dict[str, list[SimulatedProcess]] = {}
    for process in processes:
        for other in by_source.setdefault(process.source, []):
            if other.ended_at is None or other.ended_at > process.started_at:
                yield Violation(
                    rule="two-runs-at-once",
                    key=process.source,
                    position=0,
                    message=(
                        f"{process.identity.marker} began at {process.started_at:g} s, "
                        f"when {other.identity.marker} really was still there"
                    ),
                )
        by_source[process.source].append(process)


def _left(evidence: Evidence) -> Iterable[Violation]:
    held = {run.execution for run in told_runs(evidence.events) if run.ended_position is None}
    for process in evidence.processes:
        if process.living and process.identity.marker not in held:
            yield Violation(
                rule="process-left",
                key=process.source,
                position=0,
                message=f"{process.living} processes of {process.identity.marker} still live",
            )


def _outcomes(evidence: Evidence) -> Iterable[Violation]:
    """Each frame that was taken has exactly one outcome in the log."""
    for taken in evidence.frames:
        count = sum(
            taken.after < event.position <= taken.until and _is_from_socket(event)
            for event in evidence.events
        )
        if count != taken.frames:
            yield Violation(
                rule="signal-without-outcome" if count < taken.frames else "signal-twice",
                key="",
                position=taken.until,
                message=(
                    f"process {taken.incarnation} took {taken.frames} frames, "
                    f"and the log has {count} outcomes"
                ),
            )


def _is_from_socket(event: Recorded) -> bool:
    match event.body:
        case (
            SignalAccepted(arrival=arrival)
            | SignalSuppressed(arrival=arrival)
            | SignalRefused(arrival=arrival)
        ):
            return arrival.via is Via.SOCKET
        case _:
            return False


def _projections(evidence: Evidence) -> Iterable[Violation]:
    """What was kept up to date in each transaction equals what a rebuild from zero gives."""
    rebuilt = MemoryTables(INLINE)
    for event in evidence.events:
        rebuilt.apply(event)
    for projection in INLINE:
        for table in projection.tables:
            live = _by_key(evidence.rows(table.name), table.key)
            fresh = _by_key(rebuilt.select(table.name), table.key)
            for key in sorted(live.keys() | fresh.keys()):
                if live.get(key) != fresh.get(key):
                    yield Violation(
                        rule="projection-differs",
                        key=f"{table.name}:{key}",
                        position=0,
                        message=f"live {live.get(key)}, rebuilt from zero {fresh.get(key)}",
                    )


def _by_key(rows: Iterable[Row], key: Sequence[str]) -> Mapping[str, Row]:
    return {":".join(str(row[column]) for column in key): row for row in rows}
