"""What the owed report of a ticket that is done may say: what a run has shown, and no more."""

from ov_es_domain.policy import wording
from ov_es_domain.policy.team_facts import TicketFacts
from ov_es_domain.policy.withholding import Withheld
from ov_es_domain.turn.aggregate import Turn
from ov_es_domain.turn.machine import TurnState


def report_on(turn: Turn, facts: TicketFacts, *, label: str) -> str | Withheld:
    """Return the words of the report, or why there is nothing to tell (DL-17 to DL-19).

    Args:
        turn: The last one that was queued for the ticket.
        facts: The ticket, which is completed or in review.
        label: What people call it.
    """
    if turn.state == TurnState.SUCCEEDED:
        shown = "" if turn.report is None else wording.work_facts(turn.report)
        return wording.completion_report(
            label, facts.title, facts.status, turn.answer, facts=shown
        )
    if turn.attempt == 0:
        return Withheld("none-of-our-work", "DL-17")
    if turn.state == TurnState.RELEASED:
        # Its run ended with our own process, and then the ticket was found done (TK-22).
        return wording.unchecked_report(label, facts.title, facts.status)
    return Withheld("work-not-shown", "DL-19")
