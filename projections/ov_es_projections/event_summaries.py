"""Every kind of event in plain words: one table, so that all who show events say the same."""

from collections.abc import Callable
from typing import Any

from ov_es_domain.delivery import events as d
from ov_es_domain.delivery.target import Target
from ov_es_domain.lifecycle import Event
from ov_es_domain.observation import RunReport
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal import events as s
from ov_es_domain.signal.arrival import Arrival
from ov_es_domain.thread import events as h
from ov_es_domain.ticket import events as k
from ov_es_domain.turn import events as t
from ov_es_domain.watch import events as w

_QUOTE_MAX = 80


def quoted(text: str) -> str:
    """Return the beginning of somebody's words, in quotes and on one line.

    >>> quoted("one  two")
    '“one two”'
    """
    folded = " ".join(text.split())
    return f"“{folded if len(folded) <= _QUOTE_MAX else folded[: _QUOTE_MAX - 1] + '…'}”"


def arrival_words(arrival: Arrival) -> str:
    """Say what arrived, from whom, and on which road."""
    road = "over the socket" if arrival.via.value == "socket" else "found by reconciliation"
    if arrival.is_mention:
        sender = arrival.sender.name if arrival.sender and arrival.sender.name else "somebody"
        said = f" {quoted(arrival.text)}" if arrival.text else ""
        return f"a message from {sender}{said} ({road})"
    if arrival.ticket_id is not None:
        return f"news of ticket {arrival.ticket_id} ({arrival.kind.value}, {road})"
    return f"a frame of kind {arrival.wire_kind or arrival.kind.value} ({road})"


def place_words(target: Target | None) -> str:
    """Say where a message goes."""
    if target is None or target.channel_id is None:
        return "nowhere"
    if target.parent_id is None:
        return f"channel {target.channel_id}"
    return f"channel {target.channel_id}, thread {target.parent_id}"


def _report(report: RunReport | None) -> str:
    if report is None:
        return ""
    ended = report.ending.value.replace("_", " ")
    exited = "" if report.exit_status is None else f" with {report.exit_status}"
    said = f", saying {quoted(report.stream.text)}" if report.stream.text.strip() else ""
    otherwise = "".join(f"; {each}" for each in report.contradictions)
    return f"; its process {ended}{exited}{said}{otherwise}"


def _missing(missing: tuple[str, ...]) -> str:
    return f", missing: {'; '.join(missing)}" if missing else ""


def _started(e: t.TurnStarted) -> str:
    where = f" in {e.directory}" if e.directory else ""
    model = f" ({e.model})" if e.model else ""
    return f"run {e.attempt} is about to start: {e.runtime}{model}{where}"


def _proven(e: d.DeliveryDelivered) -> str:
    message = "it" if e.message_id is None else f"message {e.message_id}"
    because = f": {quoted(e.reason)}" if e.reason else ""
    return f"{message} is out (proof: {e.proof}{because})"


_WORDS: dict[type[Event], Callable[[Any], str]] = {
    s.SignalAccepted: lambda e: f"accepted {arrival_words(e.arrival)}: {e.reason} ({e.rule})",
    s.SignalSuppressed: lambda e: (
        f"suppressed {arrival_words(e.arrival)}: {e.reason} ({e.rule}), it repeats {e.repeats}"
    ),
    s.SignalRefused: lambda e: f"refused {arrival_words(e.arrival)}: {e.reason} ({e.rule})",
    k.TicketSeen: lambda e: f"ours is {quoted(e.slug or e.title)} at {e.revision}: {e.reason}",
    k.TicketQueued: lambda e: (
        f"{e.turn} waits for it" + (f", and owes the report {e.report}" if e.report else "")
    ),
    k.TicketStarted: lambda e: f"{e.turn} works on it (run {e.execution})",
    k.TicketRequeued: lambda e: f"{e.turn} waits again: {e.reason}",
    k.TicketReported: lambda e: f"{e.turn} finished it; our own changes led to {e.revision}",
    k.TicketBlocked: lambda e: (
        f"it waits for a person: {e.reason}" + (f" ({e.root})" if e.root else "")
    ),
    k.TicketPaused: lambda e: f"it's left alone until people change it: {e.reason}",
    k.TicketRevisionNoted: lambda e: f"{e.revision} is known, and no news",
    k.TicketReleased: lambda e: f"nothing of it is left to do now: {e.reason}",
    k.TicketHandedOver: lambda e: f"it's not ours any more; {e.to or 'nobody'} has it",
    h.ThreadTurnNoted: lambda e: (
        f"{e.source} is worked on in it, asked for by "
        + (f"an agent ({e.agent_turns} in a row)" if e.by_agent else "a person")
    ),
    h.ThreadHeard: lambda e: (
        f"{'an agent' if e.by_agent else 'a person'} said something in it that isn't for us"
        f" with {e.source}" + (" (it's for somebody else)" if e.for_others else "")
    ),
    h.ThreadPaused: lambda e: (
        f"no agent is answered in it any more: {e.agent_turns} in a row asked, the last with"
        f" {e.source} (LUP-02)"
    ),
    h.ThreadStoodDown: lambda e: f"{e.by or 'somebody'} stood it down with {e.source} (TH-7)",
    h.ThreadRedirected: lambda e: (
        f"{e.by or 'somebody'} gave it to somebody else with {e.source} (TH-4)"
    ),
    h.ThreadWoken: lambda e: f"we're wanted again, since {e.source} (TH-11)",
    t.TurnQueued: lambda e: (
        f"a {e.kind.value} turn waits in the {e.kind.lane.value} lane"
        + (f" for {quoted(e.title)}" if e.title else "")
    ),
    t.TurnDeferred: lambda e: f"it may not start yet: {e.reason}",
    t.TurnStarted: _started,
    t.TurnSpawned: lambda e: f"its process runs as {e.pid}",
    t.TurnRecovering: lambda e: (
        f"one recovery run (number {e.attempt}) is about to start{_missing(e.missing)}"
        f"{_report(e.report)}"
    ),
    t.TurnStopRequested: lambda e: f"its run is told to stop: {e.reason.value}, by {e.by}",
    t.TurnRetried: lambda e: f"it waits for one more run: {e.reason}{_report(e.report)}",
    t.TurnInterrupted: lambda e: f"its run was cut short: {e.reason.value}{_report(e.report)}",
    t.TurnRequeued: lambda e: f"it waits again: {e.reason}",
    t.TurnSucceeded: lambda e: f"run {e.attempt} ended well{_report(e.report)}",
    t.TurnFailed: lambda e: f"it failed: {e.reason}{_missing(e.missing)}{_report(e.report)}",
    t.TurnTimedOut: lambda e: f"its run reached the time limit{_report(e.report)}",
    t.TurnBlocked: lambda e: f"a person has to authorize it first: {e.reason} (BL-11)",
    t.TurnCancelled: lambda e: f"it's cancelled: {e.reason.value}, by {e.by or 'somebody'}",
    t.TurnReleased: lambda e: f"nothing was to do when its turn came: {e.reason}",
    t.TurnResultRefused: lambda e: (
        f"the result of run {e.execution} is refused ({e.verdict}): "
        f"{e.expected or 'no run'} holds the turn"
    ),
    d.DeliveryOwed: lambda e: f"a {e.purpose.value} is owed to {place_words(e.target)}",
    d.DeliveryPlanned: lambda e: (
        f"a {e.purpose.value} to {place_words(e.target)} is promised: {quoted(e.content)}"
    ),
    d.DeliveryDeferred: lambda e: f"it waits, nothing was posted: {e.reason}",
    d.DeliveryAttempted: lambda e: (
        f"attempt {e.attempt} is about to be made; the thread showed {e.rendered} messages"
    ),
    d.DeliveryDelivered: _proven,
    d.DeliveryRefused: lambda e: f"the attempt had no effect: {e.reason}",
    d.DeliveryLeftUnknown: lambda e: f"nobody knows whether the attempt had an effect: {e.reason}",
    d.DeliveryLooked: lambda e: f"a look at the thread settled nothing: {e.reason}",
    d.DeliveryReplanned: lambda e: f"it will be tried again: {e.reason}",
    d.DeliverySuppressed: lambda e: (
        f"it isn't posted, and that is right: {e.reason} ({e.rule})"
        + ("" if e.message_id is None else f", see message {e.message_id}")
    ),
    d.DeliveryAbandoned: lambda e: f"it's given up by {e.by}: {e.reason}",
    w.WatchBegun: lambda e: f"{e.program} on {e.host} ({e.pid}) watches for {e.agent}",
    w.WatchEnded: lambda e: f"the watcher stopped in good order: {e.reason}",
    w.WatchConnected: lambda e: f"connection {e.number} is open",
    w.WatchDisconnected: lambda e: f"connection {e.number} is gone: {e.reason}",
    w.WatchAgentNoted: lambda e: f"the team knows the agent as {e.agent_id}",
    w.WatchClockNoted: lambda e: (
        f"the team's clock is {abs(e.offset_seconds):g} s"
        f" {'ahead of' if e.offset_seconds > 0 else 'behind'} ours"
    ),
    w.WatchIntroduced: lambda e: f"the agent introduces itself, this once, in {e.turn}",
    w.WatchReconciled: lambda e: (
        f"the whole team was looked at ({e.reason}): {e.tickets} tickets, {e.mentions} mentions"
        + (f"; not readable: {e.problem}" if e.problem else "")
    ),
}

SUMMARIZED = frozenset(kind.TOPIC for kind in _WORDS)
"""The topics that have words; a test holds them against all that a log can hold."""


def summary(event: Recorded) -> str:
    """Say in plain words what an event means."""
    return _WORDS[type(event.body)](event.body)
