"""What came out of a simulation, as one JSON object: the contract's `Result`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from ov_es_adapters.simulation.expectation import unmet
from ov_es_adapters.simulation.posts_told import ToldDelivery, told_deliveries
from ov_es_adapters.simulation.runs_told import ToldRun, told_runs
from ov_es_adapters.simulation.truth import Truth
from ov_es_domain.catalogue import lifecycle_of
from ov_es_domain.delivery.machine import DeliveryState
from ov_es_domain.lifecycle import Aggregate, step
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal.arrival import Arrival, ArrivalKind
from ov_es_domain.signal.events import SignalAccepted, SignalRefused, SignalSuppressed
from ov_es_domain.turn.aggregate import Turn
from ov_es_domain.turn.machine import TurnState

_DIGITS = 3
"""Times are told in milliseconds; the wall clock's own numbers aren't much finer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A broken invariant."""

    rule: str
    key: str
    position: int
    """The event that shows it; 0 where none does."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All that a simulation leaves behind."""

    name: str
    seed: int
    ended_at: float
    commits: int
    events: Sequence[Recorded]
    times: Mapping[int, float]
    """position → when it was recorded, in seconds since the start."""
    truth: Truth
    violations: tuple[Violation, ...]


def result(outcome: Outcome, expect: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return the result object; `expect` is the scenario's own, None where it has none."""
    runs = told_runs(outcome.events)
    deliveries = told_deliveries(outcome.events, outcome.truth.posts)
    aggregates = folded(outcome.events)
    states = {key: str(aggregate.state) for key, aggregate in aggregates.items()}
    told: dict[str, object] = {
        "name": outcome.name,
        "seed": outcome.seed,
        "ended_at": _rounded(outcome.ended_at),
        "events": len(outcome.events),
        "posts": _posts(outcome, deliveries, runs),
        "ticket_updates": [
            {**asdict(update), "at": _rounded(update.at)}
            for update in outcome.truth.ticket_updates
        ],
        "comments": [
            {**asdict(comment), "at": _rounded(comment.at)} for comment in outcome.truth.comments
        ],
        "runs": [_run(outcome, run) for run in runs],
        "signals": _signals(outcome),
        "tickets": {key: states[key] for key in states if key.startswith("ticket:")},
        "deliveries": {
            key.removeprefix("delivery:"): state
            for key, state in states.items()
            if key.startswith("delivery:") and state != DeliveryState.UNPLANNED
        },
        "left": {
            "queued": sum(_is_waiting(aggregate) for aggregate in aggregates.values()),
            "running": sum(
                isinstance(aggregate, Turn) and aggregate.is_running
                for aggregate in aggregates.values()
            ),
            "processes": len(outcome.truth.processes),
        },
        "violations": [asdict(violation) for violation in outcome.violations],
    }
    differing = [] if expect is None else unmet(expect, told)
    return {**told, "expect": {"met": not differing, "unmet": differing}}


def folded(events: Iterable[Recorded]) -> dict[str, Aggregate]:
    """Return every aggregate as it stands after all events, in the order of their first ones.

    Raises: IllegalTransitionError.
    """
    aggregates: dict[str, Aggregate] = {}
    for event in events:
        lifecycle = lifecycle_of(event.key)
        before = aggregates.get(event.key, lifecycle.initial)
        aggregates[event.key] = step(lifecycle, before, event.body)
    return aggregates


def _is_waiting(aggregate: Aggregate) -> bool:
    """Tell whether it's a turn that will run (again); a person's interrupt is for good."""
    if not isinstance(aggregate, Turn):
        return False
    if aggregate.state == TurnState.INTERRUPTED:
        return aggregate.stop is not None and aggregate.stop.resumes
    return aggregate.state == TurnState.QUEUED


def _rounded(seconds: float) -> float:
    return round(seconds, _DIGITS) + 0.0


def _posts(
    outcome: Outcome, deliveries: Sequence[ToldDelivery], runs: Sequence[ToldRun]
) -> list[dict[str, object]]:
    owners = {str(post.message_id): told for told in deliveries for post in told.posts}
    told_posts: list[dict[str, object]] = []
    for post in outcome.truth.posts:
        owner = owners.get(str(post.message_id))
        told_posts.append(
            {
                "at": _rounded(post.at),
                "channel_id": post.channel_id,
                "parent_id": post.parent_id,
                "content": post.content,
                "delivery": None if owner is None else owner.planned.slot,
                "run": None if owner is None else _run_number(owner, runs),
            }
        )
    return told_posts


def _run_number(delivery: ToldDelivery, runs: Sequence[ToldRun]) -> int | None:
    """Return which of the runs it comes from: the last one of its turn; None: from none."""
    numbers = [n for n, run in enumerate(runs, 1) if run.turn == delivery.planned.turn]
    return numbers[-1] if numbers else None


def _run(outcome: Outcome, run: ToldRun) -> dict[str, object]:
    ended = None if run.ended_position is None else outcome.times[run.ended_position]
    return {
        "source": run.source,
        "lane": run.lane,
        "attempt": run.attempt,
        "started": _rounded(outcome.times[run.position]),
        "ended": None if ended is None else _rounded(ended),
        "outcome": run.outcome,
        "group": run.group,
    }


def _signals(outcome: Outcome) -> list[dict[str, object]]:
    told: list[dict[str, object]] = []
    for event in outcome.events:
        match event.body:
            case SignalAccepted(arrival=arrival):
                # Only what was not taken up needs a reason.
                name, reason = "accepted", ""
            case SignalSuppressed(arrival=arrival, reason=reason):
                name = "suppressed"
            case SignalRefused(arrival=arrival, reason=reason):
                name = "refused"
            case _:
                continue
        arrived = outcome.times[event.position] - (event.at - arrival.at)
        told.append(
            {
                "at": _rounded(arrived),
                "kind": _kind(arrival),
                "outcome": name,
                "reason": reason,
            }
        )
    return told


def _kind(arrival: Arrival) -> str:
    if arrival.kind is ArrivalKind.UNKNOWN:
        return arrival.wire_kind or arrival.kind.value
    return arrival.kind.value
