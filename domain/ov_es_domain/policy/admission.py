"""Is an arrival new, and is it for us? The outcome comes with the rule that says so.

Facts come in as values, so that the decision can be made again from the log.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from ov_es_domain.identity import Identifier, is_older
from ov_es_domain.policy.addressing import Addressing, Audience, address, asks_to_stop
from ov_es_domain.policy.team_facts import TicketFacts
from ov_es_domain.policy.vocabulary import Vocabulary
from ov_es_domain.signal.aggregate import Signal
from ov_es_domain.signal.arrival import Arrival
from ov_es_domain.thread.aggregate import Thread
from ov_es_domain.ticket.aggregate import Ticket
from ov_es_domain.ticket.machine import TicketState


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """It's new and for us."""

    reason: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """It repeats what the log has."""

    reason: str
    rule: str
    repeats: str
    """The key of the aggregate that has it already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """It's not for us, or can't be read."""

    reason: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StandsDown:
    """It's for us, and says that we aren't wanted in its thread (TH-7)."""

    reason: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirects:
    """It gives our work in its thread to somebody else (TH-4)."""

    reason: str
    rule: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HandsOver:
    """The ticket isn't ours any more (TK-5)."""

    to: str
    reason: str
    rule: str


SIGNATURE_SECONDS = 600.0
"""How long the same words of the same sender count as one message where it has no id (WS-15)."""

MentionOutcome: TypeAlias = Admitted | Suppressed | Refused | StandsDown | Redirects
TicketOutcome: TypeAlias = Admitted | Suppressed | Refused | HandsOver


@dataclass(frozen=True, slots=True, kw_only=True)
class Ourselves:
    """Who we are."""

    aliases: tuple[str, ...]
    identifier: str
    id: Identifier | None


def admit_mention(  # noqa: PLR0911, PLR0913 - all facts are named; one return for each outcome, in the order of the rules
    arrival: Arrival,
    *,
    signal: Signal,
    signal_key: str,
    thread: Thread,
    has_work_in_thread: bool,
    ourselves: Ourselves,
    vocabulary: Vocabulary,
    agent_turns_max: int,
    is_own_post: bool = False,
    signature_seconds: float = SIGNATURE_SECONDS,
) -> MentionOutcome:
    """Return the one outcome of a mention. Source: WS-12 to WS-20, TH-1 to TH-11.

    Args:
        arrival: The mention.
        signal: What is known of its source.
        signal_key: How the log names what it would repeat.
        thread: The conversation.
        has_work_in_thread: Whether a turn of ours is open there.
        ourselves: Who we are.
        vocabulary: The words that stand a thread down.
        agent_turns_max: Turns in a row that agents may ask for without a person's word.
        is_own_post: Whether the message is one that we posted, whoever it's shown as (LUP-01).
        signature_seconds: How long the same words without an id count as the same message.
    """
    if arrival.problem:
        return Refused(reason=arrival.problem, rule="WS-19")
    if signal.is_addressed and _is_repetition(arrival, signal, signature_seconds):
        is_edit = signal.text != arrival.text
        reason = "edited-after-acceptance" if is_edit else "duplicate"
        rule = "WS-15" if arrival.message_id is None else "WS-14"
        return Suppressed(reason=reason, rule=rule, repeats=signal_key)
    if is_own_post or _is_own(arrival, ourselves):
        return Refused(reason="own-message", rule="LUP-01")
    said = arrival.text if arrival.said is None else arrival.said
    names = address(
        said, aliases=ourselves.aliases, own_id=ourselves.id, mentions=arrival.mentions
    )
    by_agent = arrival.sender is not None and arrival.sender.is_agent
    # Somebody asked again since: what was said before that ends nothing (TH-11).
    is_overtaken = is_older(arrival.source, thread.last_turn)
    has_work = has_work_in_thread and not is_overtaken
    elsewhere = _not_for_us(names, by_agent=by_agent, has_work_in_thread=has_work)
    if elsewhere is not None:
        return elsewhere
    is_unaddressed = names.audience is Audience.NOBODY and arrival.parent_id is not None
    if is_unaddressed and thread.is_among_others:
        return Refused(reason="talk-among-others", rule="ADR-06")
    if asks_to_stop(said, aliases=ourselves.aliases, vocabulary=vocabulary):
        return _stand_down(is_overtaken=is_overtaken)
    if by_agent and thread.agent_turns >= agent_turns_max:
        return Refused(reason="agent-turns-used-up", rule="LUP-02")
    if thread.is_cancelled and is_older(arrival.source, thread.cancelled_by):
        return Refused(reason="older-than-the-stand-down", rule="TH-11")
    if not arrival.text:
        return Refused(reason="empty-message", rule="WS-9")
    reason = "addressed" if names.audience is Audience.US else "woken"
    return Admitted(reason=reason, rule="TH-1")


def _stand_down(*, is_overtaken: bool) -> StandsDown | Refused:
    if is_overtaken:
        return Refused(reason="older-than-the-last-request", rule="TH-11")
    return StandsDown(reason="stand-down", rule="TH-7")


def _is_repetition(arrival: Arrival, signal: Signal, signature_seconds: float) -> bool:
    """A message with an id is itself for ever; the same words without one only for a while."""
    if arrival.message_id is not None:
        return True
    return abs(arrival.at - signal.accepted_at) < signature_seconds


def _is_own(arrival: Arrival, ourselves: Ourselves) -> bool:
    sender = arrival.sender
    if sender is None or not sender.is_agent:
        return False
    if ourselves.id is not None and sender.id is not None:
        return str(sender.id) == str(ourselves.id)
    return sender.name.casefold() in {alias.casefold() for alias in ourselves.aliases}


def _not_for_us(
    names: Addressing, *, by_agent: bool, has_work_in_thread: bool
) -> Refused | Redirects | None:
    if names.audience is Audience.OTHERS:
        if has_work_in_thread and not by_agent:
            return Redirects(reason="redirected", rule="TH-4", to=names.others)
        return Refused(reason="explicit-other-recipient", rule="TH-3")
    if by_agent and names.audience is not Audience.US:
        return Refused(reason="other-agent-chatter", rule="TH-6")
    return None


def is_ours(facts: TicketFacts, ourselves: Ourselves) -> bool:
    """Tell whether a ticket is ours: either id or identifier is enough (TK-3)."""
    has_id = (
        ourselves.id is not None
        and facts.agent_id is not None
        and str(facts.agent_id) == str(ourselves.id)
    )
    return has_id or (
        bool(facts.agent_identifier) and facts.agent_identifier == ourselves.identifier
    )


def admit_ticket(  # noqa: PLR0911 - one return for each outcome, in the order of the rules
    facts: TicketFacts,
    *,
    ticket: Ticket,
    ticket_key: str,
    ourselves: Ourselves,
    authorized_roots: Collection[str],
) -> TicketOutcome:
    """Return the one outcome of a ticket that `get_ticket` has answered for.

    Source: TK-1 to TK-16; the order is ownership, settled elsewhere, block, pause, repetition.
    """
    if not is_ours(facts, ourselves):
        owner = facts.agent_identifier or ("" if facts.agent_id is None else str(facts.agent_id))
        if ticket.state in {TicketState.UNKNOWN, TicketState.HANDED_OVER}:
            return Refused(reason="not-ours", rule="TK-3")
        return HandsOver(to=owner, reason="handed-over", rule="TK-5")
    if ticket.state in {TicketState.QUEUED, TicketState.WORKING}:
        return Suppressed(reason="already-queued", rule="TK-15", repeats=ticket.turn or ticket_key)
    if facts.is_completed or facts.is_in_review:
        state = "completed" if facts.is_completed else "in-review"
        return Refused(reason=f"already-{state}", rule="TK-10")
    if ticket.state == TicketState.BLOCKED:
        if ticket.root is None or ticket.root not in authorized_roots:
            return Suppressed(reason="blocked", rule="TK-11", repeats=ticket_key)
        return Admitted(reason="repository-authorized", rule="TK-11")
    if ticket.state == TicketState.PAUSED:
        if ticket.paused_revision in {None, facts.revision}:
            return Suppressed(reason="paused", rule="TK-13", repeats=ticket_key)
        return Admitted(reason="revision-changed", rule="TK-13")
    if ticket.state == TicketState.REPORTED and ticket.revision == facts.revision:
        return Suppressed(reason="already-reported", rule="TK-14", repeats=ticket_key)
    return Admitted(reason="assigned", rule="TK-16")


def second_look(
    facts: TicketFacts, *, ticket: Ticket, ourselves: Ourselves, is_recovery: bool
) -> str | None:
    """Return why a turn isn't started after all at the head of its queue, or None (TK-22).

    A recovery that a crash cut short goes on although the ticket is done by now, as it would
    have without the crash: its first run has left something to show.
    """
    if not is_ours(facts, ourselves):
        return "not-ours"
    if ticket.state == TicketState.BLOCKED:
        return "blocked"
    if is_recovery:
        return None
    if facts.is_completed:
        return "already-completed"
    return "already-in-review" if facts.is_in_review else None
