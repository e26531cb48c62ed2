"""Who is connected, what runs, what waits and what is blocked: from rows, at a time."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ov_es_domain.delivery.machine import OPEN_STATES, DeliveryState
from ov_es_domain.policy.lanes import Waiting, due
from ov_es_domain.ticket.machine import TicketState
from ov_es_domain.turn.kinds import Lane
from ov_es_domain.turn.machine import TurnState
from ov_es_domain.watch.machine import WatchState
from ov_es_projections.open_turns import in_order
from ov_es_projections.projection import Row

REPLY_SLOTS = 1
"""Replies are made one at a time (Q-107)."""
LATE_SECONDS = 600.0
"""A promised message that isn't out after ten minutes is shown."""

_RUNNING = {TurnState.RUNNING.value, TurnState.RECOVERING.value}
_OPEN_DELIVERIES = {state.value for state in OPEN_STATES - {DeliveryState.OWED}}


def _seconds(value: str | float | None) -> float:
    return float(value or 0.0)


def agents(watches: Iterable[Row], *, now: float) -> list[dict[str, object]]:
    """Return who watches for whom, and since when the team can or can't be heard."""
    return [
        {
            "agent": row["agent"],
            "id": row["agent_id"],
            "state": _link_state(row),
            "since": row["link_since"],
            "seconds": now - _seconds(row["link_since"]),
            "reason": row["reason"] or "",
            "holder": None
            if row["state"] != WatchState.HELD.value
            else {
                "host": row["host"],
                "pid": row["pid"],
                "program": row["program"],
                "epoch": row["epoch"],
                "since": row["held_since"],
            },
            "reconciled_at": row["reconciled_at"],
            "problem": row["problem"] or "",
            "clock_offset": row["clock_offset"] or 0.0,
        }
        for row in watches
    ]


def _link_state(row: Row) -> str:
    if row["state"] != WatchState.HELD.value:
        return "not_watched"
    return "connected" if row["connected"] else "outage"


def running(turns: Iterable[Row], *, now: float) -> list[dict[str, object]]:
    """Return the turns that have a run now."""
    return [
        {
            "key": row["key"],
            "lane": row["lane"],
            "kind": row["kind"],
            "state": row["state"],
            "title": row["title"] or "",
            "group": row["turn_group"] or "",
            "attempt": row["attempt"],
            "seconds": now - _seconds(row["started_at"]),
            "stopping": row["stop"] or "",
        }
        for row in in_order(turns)
        if row["state"] in _RUNNING
    ]


def queue(turns: Iterable[Row], lane: Lane, *, slots: int, now: float) -> list[dict[str, object]]:
    """Return what waits in a lane: first what may start, then what is deferred and why.

    Shapes: `turns` are all rows of `open_turns`, in any order. An interrupted turn waits as well:
    the next watcher lets it run again.
    """
    mine = [row for row in in_order(turns) if row["lane"] == lane.value]
    busy = {str(row["key"]): str(row["turn_group"] or "") for row in mine if _runs(row)}
    waiting = {str(row["key"]): row for row in mine if not _runs(row)}
    starting, deferred = due(
        [
            Waiting(
                key=key,
                lane=lane,
                group=str(row["turn_group"] or ""),
                not_before=_seconds(row["not_before"]),
            )
            for key, row in waiting.items()
        ],
        running_groups=busy.values(),
        running=len(busy),
        slots=slots,
        now=now,
    )
    entries = [_entry(waiting[entry.key], now=now) for entry in starting]
    timed = sorted(deferred, key=lambda entry: entry.until or 0.0)
    started = {entry.group: entry.key for entry in starting if entry.group}
    holders = {group: key for key, group in busy.items() if group}
    for entry in timed:
        row = waiting[entry.key]
        group = str(row["turn_group"] or "")
        behind = (holders | started).get(group) if entry.reason == "group-busy" else None
        entries.append(
            _entry(row, now=now, deferral=entry.reason, until=entry.until, behind=behind)
        )
    return entries


def _runs(row: Row) -> bool:
    return row["state"] in _RUNNING


def _entry(
    row: Row,
    *,
    now: float,
    deferral: str | None = None,
    until: float | None = None,
    behind: str | None = None,
) -> dict[str, object]:
    return {
        "key": row["key"],
        "source": row["source"],
        "kind": row["kind"],
        "state": row["state"],
        "group": row["turn_group"] or "",
        "ticket": row["ticket"],
        "thread": row["thread"],
        "title": row["title"] or "",
        "deferral": deferral,
        "until": until,
        "behind": behind,
        "reason": row["reason"] or "",
        "attempt": row["attempt"],
        "queued_at": row["queued_at"],
        "age": now - _seconds(row["queued_at"]),
    }


def waiting_tickets(tickets: Iterable[Row], *, now: float) -> list[dict[str, object]]:
    """Return the tickets that wait for people."""
    stopped = {TicketState.BLOCKED.value, TicketState.PAUSED.value}
    return [
        {
            "key": row["key"],
            "slug": row["slug"] or "",
            "title": row["title"] or "",
            "state": row["state"],
            "reason": row["reason"] or "",
            "seconds": now - _seconds(row["since"]),
        }
        for row in tickets
        if row["state"] in stopped
    ]


def deliveries(rows: Sequence[Row], *, now: float) -> dict[str, object]:
    """Return how many deliveries are in each state, and which of them people wait for."""
    late = [row for row in rows if row["state"] in _OPEN_DELIVERIES]
    return {
        "states": dict(sorted(Counter(str(row["state"]) for row in rows).items())),
        "open": len(late),
        "late": [
            {
                "key": row["key"],
                "state": row["state"],
                "reason": row["reason"] or "",
                "attempts": row["attempts"],
                "seconds": now - _seconds(row["since"]),
            }
            for row in late
            if now - _seconds(row["since"]) > LATE_SECONDS
        ],
    }


def lags(behind: Mapping[str, int], position: int) -> list[dict[str, object]]:
    """Return how far each projection is behind the log."""
    return [
        {"name": name, "lag": count, "position": position - count}
        for name, count in sorted(behind.items())
    ]
