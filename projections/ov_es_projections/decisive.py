"""Which event settled what people ask about: the answer that is out, or the reason for none."""

from collections.abc import Sequence
from typing import TypeAlias

from ov_es_domain.delivery import events as d
from ov_es_domain.delivery.target import Purpose
from ov_es_domain.identity import delivery_key, parse_key, turn_key
from ov_es_domain.lifecycle import Event
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal import events as s
from ov_es_domain.ticket import events as k
from ov_es_domain.turn import events as t
from ov_es_projections.history import History

Kinds: TypeAlias = tuple[type[Event], ...]

_DELIVERY_ENDS: Kinds = (d.DeliveryDelivered, d.DeliverySuppressed, d.DeliveryAbandoned)


def decisive_event(key: str, history: History) -> Recorded:
    """Return the event that settled an aggregate, or the last one where nothing has yet.

    A signal is settled by its turn, a turn by its answer: the road goes on as far as it leads.
    """
    events = history.load(key)
    match parse_key(key).type:
        case "signal":
            return _of_signal(events, history)
        case "ticket":
            return _of_ticket(events, history)
        case "turn":
            return _of_turn(key, events, history)
        case _:
            return events[-1]


def last_of(events: Sequence[Recorded], kinds: Kinds) -> Recorded | None:
    """Return the last event of some kinds."""
    return next((event for event in reversed(events) if isinstance(event.body, kinds)), None)


def _of_signal(events: Sequence[Recorded], history: History) -> Recorded:
    accepted = last_of(events, (s.SignalAccepted,))
    if accepted is None or not isinstance(accepted.body, s.SignalAccepted):
        return events[-1]
    source = accepted.body.arrival.source
    ticket = history.load(source)
    if ticket:
        return _of_ticket(ticket, history)
    key = turn_key(source, accepted.body.generation)
    turn = history.load(key)
    return _of_turn(key, turn, history) if turn else accepted


def _of_ticket(events: Sequence[Recorded], history: History) -> Recorded:
    """The cycle that began last decides: by its report, else by its turn, else by itself.

    A report may go out although the turn came to nothing: the ticket was found done (DL-17).
    """
    for event in reversed(events):
        match event.body:
            case k.TicketSeen():
                break
            case k.TicketQueued(turn=turn, report=report):
                answer = history.load(delivery_key(report or ""))
                if last_of(answer, (d.DeliveryPlanned,)) is not None:
                    return answer[-1]
                return _of_turn(turn, history.load(turn), history)
            case _:
                continue
    return events[-1]


def _of_turn(key: str, events: Sequence[Recorded], history: History) -> Recorded:
    ended = [e for e in events if not isinstance(e.body, t.TurnResultRefused)]
    last = (ended or list(events))[-1]
    if not isinstance(last.body, t.TurnSucceeded):
        return last
    for slot in _slots(key, events, history):
        answer = history.load(delivery_key(slot))
        if any(isinstance(e.body, d.DeliveryPlanned) for e in answer) or last_of(
            answer, _DELIVERY_ENDS
        ):
            return answer[-1]
    return last


def _slots(key: str, events: Sequence[Recorded], history: History) -> Sequence[str]:
    """Return where the answer of a turn would be: its reply, else the report on its ticket."""
    queued = events[0].body
    if not isinstance(queued, t.TurnQueued):
        return ()
    if queued.slot is not None:
        return (queued.slot,)
    ticket = history.load(queued.ticket or "")
    return [
        e.body.report
        for e in ticket
        if isinstance(e.body, k.TicketQueued) and e.body.turn == key and e.body.report
    ]


def blocker_about(ticket: str, history: History) -> Recorded | None:
    """Return the last event of the notice about a ticket that never got a turn."""
    for row in history.rows("deliveries", source=ticket, purpose=Purpose.BLOCKER.value):
        if row["turn"] is None:
            return history.load(str(row["key"]))[-1]
    return None


def blocker_of(turn: str, history: History) -> Recorded | None:
    """Return the last event of the notice that tells people why a turn has no answer."""
    events = history.load(turn)
    queued = events[0].body if events else None
    source = queued.source if isinstance(queued, t.TurnQueued) else ""
    for row in history.rows("deliveries", source=source, purpose=Purpose.BLOCKER.value):
        if row["turn"] == turn:
            return history.load(str(row["key"]))[-1]
    return None
