"""What was done and said for a ticket or in a thread, for the next run that is about it.

One entry for each turn, message, ticket and thread; a newer state of the same thing replaces the
older one (MEM-1). An entry is recalled from the moment at which something of it is a fact: what
is only queued or promised is nobody's memory yet.

Inline: the next run of a conversation may start right after the commit that settled the last
one, and has to be told of it. It costs a row where a turn or a message begins and one where it
ends; frames, attempts, spawns and everything that repeats cost none.

A log belongs to one agent, so another agent's memory is never seen (MEM-7).
Source: MEM-1 to MEM-11.
"""

from collections.abc import Iterable

from ov_es_domain.delivery import events as d
from ov_es_domain.recorded import Recorded
from ov_es_domain.thread import events as h
from ov_es_domain.ticket import events as k
from ov_es_domain.turn import events as t
from ov_es_projections.cutting import beginning, one_line
from ov_es_projections.projection import (
    ColumnType,
    KeepNewest,
    Projection,
    Put,
    Row,
    RowChange,
    Table,
    Value,
)

SUMMARY_CHARACTERS_MAX = 320
ENTRIES_MAX = 1000
RECALLED_MAX = 8
RECALLED_CHARACTERS_MAX = 2000

THREAD_MEMORY_TABLE = Table(
    name="thread_memory",
    columns={
        "key": ColumnType.TEXT,
        "conversation": ColumnType.TEXT,
        "kind": ColumnType.TEXT,
        "state": ColumnType.TEXT,
        "summary": ColumnType.TEXT,
        "reason": ColumnType.TEXT,
        "place": ColumnType.INTEGER,
        "changed": ColumnType.INTEGER,
    },
    key=("key",),
    indexes=(("conversation",), ("changed",)),
)
"""`place` is where the fact is in the log; null as long as there is none."""


def _brief(text: str) -> str:
    return one_line(text, SUMMARY_CHARACTERS_MAX)


def _apply(event: Recorded) -> Iterable[RowChange]:
    values = _values(event)
    if values is None:
        return ()
    row: dict[str, Value] = {"key": event.key, "changed": event.position, **values}
    return (
        Put("thread_memory", row),
        KeepNewest("thread_memory", column="changed", rows_max=ENTRIES_MAX),
    )


def _values(event: Recorded) -> dict[str, Value] | None:
    match event.key.partition(":")[0]:
        case "turn":
            return _of_turn(event)
        case "delivery":
            return _of_delivery(event)
        case "ticket":
            return _of_ticket(event)
        case "thread":
            return _of_thread(event)
        case _:
            return None


def _fact(event: Recorded, state: str, reason: str = "") -> dict[str, Value]:
    return {"state": state, "reason": _brief(reason), "place": event.position}


def _of_turn(event: Recorded) -> dict[str, Value] | None:
    match event.body:
        case t.TurnQueued() as body:
            return {
                "conversation": body.ticket or body.thread or body.source,
                "kind": "turn",
                "summary": _brief(body.text or body.title),
            }
        case t.TurnSucceeded():
            return _fact(event, "succeeded")
        case t.TurnFailed(reason=reason, missing=missing):
            return _fact(event, "failed", "; ".join((reason, *missing)))
        case t.TurnTimedOut():
            return _fact(event, "timed out")
        case t.TurnBlocked(reason=reason):
            return _fact(event, "blocked", reason)
        case t.TurnCancelled(reason=reason):
            return _fact(event, "cancelled", reason.value)
        case t.TurnInterrupted(reason=reason):
            return None if reason.resumes else _fact(event, "interrupted", reason.value)
        case t.TurnReleased(reason=reason):
            return _fact(event, "released", reason)
        case _:
            return None


def _of_delivery(event: Recorded) -> dict[str, Value] | None:
    match event.body:
        case d.DeliveryPlanned() as body:
            return {
                "conversation": body.ticket or body.thread or body.source,
                "kind": body.purpose.value,
                "summary": _brief(body.content),
                "place": None,
            }
        case d.DeliveryDelivered():
            return _fact(event, "delivered")
        case d.DeliveryLeftUnknown():
            return _fact(event, "not known to be delivered")
        case d.DeliveryReplanned():
            return {"place": None}
        case d.DeliverySuppressed(reason=reason):
            return _fact(event, "not posted", reason)
        case d.DeliveryAbandoned(reason=reason):
            return _fact(event, "given up", reason)
        case _:
            return None


def _of_ticket(event: Recorded) -> dict[str, Value] | None:
    match event.body:
        case k.TicketSeen(slug=slug, title=title):
            label = f"{slug} {title}" if slug else title
            return {"conversation": event.key, "kind": "ticket", "summary": _brief(label)}
        case k.TicketReported():
            return _fact(event, "reported")
        case k.TicketBlocked(reason=reason):
            return _fact(event, "blocked", reason)
        case k.TicketPaused(reason=reason):
            return _fact(event, "paused", reason)
        case k.TicketReleased(reason=reason):
            return _fact(event, "released", reason)
        case k.TicketHandedOver():
            return _fact(event, "unassigned")
        case _:
            return None


def _of_thread(event: Recorded) -> dict[str, Value] | None:
    match event.body:
        case h.ThreadStoodDown(by=by):
            summary, state = f"{by or 'somebody'} stood us down", "cancelled"
        case h.ThreadRedirected(by=by):
            summary, state = f"{by or 'somebody'} gave it to somebody else", "cancelled"
        case h.ThreadWoken():
            summary, state = "we were asked again", "woken"
        case _:
            return None
    here: dict[str, Value] = {"conversation": event.key, "kind": "thread"}
    return {**here, "summary": _brief(summary), **_fact(event, state)}


THREAD_MEMORY = Projection(
    name="thread_memory", version=1, tables=(THREAD_MEMORY_TABLE,), apply=_apply
)


def conversation_of(*, ticket: str | None, thread: str | None) -> str | None:
    """Return the key under which a turn's past is kept: the ticket's, else the thread's (CY-5).

    None: it belongs to neither, and nothing is recalled.

    >>> conversation_of(ticket=None, thread="thread:10:100")
    'thread:10:100'
    """
    return ticket or thread


def recalled(
    rows: Iterable[Row],
    *,
    but_not: str,
    entries_max: int = RECALLED_MAX,
    characters_max: int = RECALLED_CHARACTERS_MAX,
) -> list[str]:
    """Return the last facts of a conversation in words, the oldest first (MEM-8, MEM-10).

    Args:
        rows: The conversation's entries, in any order.
        but_not: The key of the turn that asks: its own request isn't its past.
        entries_max: How many are recalled at most.
        characters_max: How long each may be.
    """
    facts = [row for row in rows if row["place"] is not None and row["key"] != but_not]
    facts.sort(key=lambda row: int(row["place"] or 0))
    newest = facts[max(0, len(facts) - entries_max) :]
    return [beginning(_words(row), characters_max) for row in newest]


def _words(row: Row) -> str:
    because = f" ({row['reason']})" if row["reason"] else ""
    what = f"{row['kind'] or 'event'} {row['state'] or 'observed'}{because}"
    return f"{what}: {row['summary'] or row['key']}"
