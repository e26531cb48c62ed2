"""Redeems the owed report of a ticket that is done, wherever the ticket is looked at."""

from ov_es_adapters.daemon.consequences import in_parts
from ov_es_adapters.daemon.ledger import Step, View
from ov_es_domain.delivery.commands import PlanDelivery, SuppressDelivery
from ov_es_domain.delivery.machine import DeliveryState
from ov_es_domain.delivery.target import Purpose
from ov_es_domain.identity import (
    delivery_key,
    report_slot,
    signal_key,
    ticket_ids,
    turn_key,
)
from ov_es_domain.policy.reporting import report_on
from ov_es_domain.policy.team_facts import TicketFacts
from ov_es_domain.policy.withholding import Withheld

_FREE = {DeliveryState.UNPLANNED, DeliveryState.OWED}


def free_report_slot(view: View, ticket: str, revision: str, generation: int) -> str:
    """Return the slot of a report that wasn't told yet (DL-18).

    A ticket may come back to us as it was: then its next report is another one.
    """
    ids = ticket_ids(ticket)
    slot = report_slot(*ids, revision)
    if view.delivery(delivery_key(slot)).state in _FREE:
        return slot
    return report_slot(*ids, f"{revision}/{generation}")


def superseded_steps(view: View, ticket: str, kept: str | None) -> list[Step]:
    """Return how the owed reports of a ticket end but for `kept`: its work begins anew."""
    return [
        _withhold(key, Withheld("superseded", "DL-18"), ticket)
        for key, slot in _owed(view, ticket)
        if slot != kept
    ]


def report_steps(
    view: View, ticket: str, facts: TicketFacts, *, at: float, characters_max: int
) -> list[Step]:
    """Return the promise of the owed report, or why there's none to tell (DL-17 to DL-19).

    `facts` show that the ticket is done. What is told is of this moment, so that a ticket which
    waited long for its review isn't too old to be told.
    """
    turn = turn_key(ticket, view.signal(signal_key(ticket)).generation)
    if view.turn(turn).is_open:
        return []
    kept = view.ticket(ticket).report
    steps = superseded_steps(view, ticket, kept)
    for key, slot in _owed(view, ticket):
        if slot != kept:
            continue
        said = report_on(view.turn(turn), facts, label=view.ticket(ticket).label)
        if isinstance(said, Withheld):
            steps.append(_withhold(key, said, ticket))
            continue
        plan = PlanDelivery(
            slot=slot,
            purpose=Purpose.REPORT,
            target=view.delivery(key).target,
            content=said,
            source=ticket,
            source_at=at,
            turn=turn,
            ticket=ticket,
            thread=None,
        )
        steps += in_parts(plan, most=characters_max, after=ticket)
    return steps


def _owed(view: View, ticket: str) -> list[tuple[str, str]]:
    """Return key and slot of each report that a ticket owes."""
    rows = view.rows("deliveries", ticket=ticket, state=DeliveryState.OWED.value)
    return [(str(row["key"]), str(row["slot"])) for row in rows]


def _withhold(key: str, found: Withheld, ticket: str) -> Step:
    suppress = SuppressDelivery(reason=found.reason, rule=found.rule, message_id=None)
    return Step(key, suppress, ticket)
