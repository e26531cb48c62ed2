"""What came of it, in one sentence for people; where nothing was posted, with the rule's ID."""

from collections.abc import Callable

from ov_es_domain.delivery import events as d
from ov_es_domain.identity import parse_key
from ov_es_domain.policy.wording import describe
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal import events as s
from ov_es_domain.thread import events as h
from ov_es_domain.ticket import events as k
from ov_es_domain.turn import events as t
from ov_es_domain.turn.kinds import StopReason
from ov_es_projections.decisive import blocker_about, blocker_of
from ov_es_projections.event_summaries import place_words, summary
from ov_es_projections.history import History

_STOP_RULES = {
    StopReason.THREAD_CANCELLED: "TH-8",
    StopReason.HANDED_OVER: "TK-5",
    StopReason.TICKET_SETTLED: "TK-22",
    StopReason.PERSON: "CY-11",
    StopReason.SHUTDOWN: "RN-6",
    StopReason.CRASH: "Q-109",
}
_BLOCK_RULES = {"no-workspace": "TK-28"}
_FAILURE_RULES = {
    "evidence-missing": "EV-22",
    "no-change": "EV-22",
    "failed-actions": "CY-14",
    "empty-answer": "DL-14",
    "crashed-too-often": "Q-109",
    "internal-error": "Q-109",
}


def outcome(event: Recorded, history: History) -> str:
    """Return what the decisive event means for whoever waits for an answer."""
    match parse_key(event.key).type:
        case "delivery":
            return _delivery(event, history)
        case "turn":
            return _turn(event, history)
        case "signal":
            return _signal(event)
        case "ticket":
            return _ticket(event, history)
        case "thread":
            return _thread(event)
        case _:
            return f"{event.key}: {summary(event)}."


def plan_of(key: str, history: History) -> d.DeliveryPlanned | None:
    """Return the promise that a delivery is."""
    bodies = (event.body for event in history.load(key))
    return next((body for body in bodies if isinstance(body, d.DeliveryPlanned)), None)


def cancelling_event(thread: str | None, position: int, history: History) -> Recorded | None:
    """Return what had cancelled a thread at a position, if it was cancelled then."""
    state: Recorded | None = None
    for event in history.load(thread or ""):
        if event.position > position:
            break
        match event.body:
            case h.ThreadStoodDown() | h.ThreadRedirected():
                state = event
            case h.ThreadWoken():
                state = None
            case _:
                continue
    return state


def _delivery(event: Recorded, history: History) -> str:
    plan = plan_of(event.key, history)
    where = "its place" if plan is None else place_words(plan.target)
    what = "the message" if plan is None else f"the {plan.purpose.value}"
    match event.body:
        case d.DeliveryDelivered(message_id=message_id, proof=proof):
            named = "" if message_id is None else f" as message {message_id}"
            waited = "" if plan is None else f", {event.at - plan.source_at:.1f} s after its cause"
            return f"Posted{named} in {where}{waited} (proof: {proof})."
        case d.DeliverySuppressed(reason=reason, rule=rule, message_id=message_id):
            thread = None if plan is None else plan.thread
            stopped = cancelling_event(thread, event.position, history)
            if stopped is not None:
                reason = f"{reason}: {summary(stopped)}"
            said = "" if message_id is None else f"; message {message_id} says it already"
            return f"Nothing was posted: {what} was suppressed, {reason}{said} ({rule})."
        case d.DeliveryAbandoned(reason=reason, by=by):
            return f"Nothing was posted: {what} was given up by {by}: {reason} (DL-2)."
        case d.DeliveryOwed():
            return f"Nothing is posted yet: {what} is owed until its ticket is done (DL-16)."
        case d.DeliveryAttempted(attempt=attempt):
            return f"Attempt {attempt} to post in {where} is under way; no answer yet (DL-12)."
        case d.DeliveryLeftUnknown(reason=reason) | d.DeliveryLooked(reason=reason):
            return (
                f"Nobody knows yet whether {what} is posted in {where}: {reason};"
                " it's settled by looking (DL-12)."
            )
        case d.DeliveryDeferred(reason=reason) | d.DeliveryRefused(reason=reason):
            return f"Nothing is posted yet: {what} is still waiting, {reason} (DL-9)."
        case d.DeliveryReplanned(reason=reason):
            return f"Nothing is posted yet: {what} will be tried again, {reason} (DL-12)."
        case _:
            return f"Nothing is posted yet: {what} is promised, and waits for its turn (DL-2)."


def _turn(event: Recorded, history: History) -> str:
    told = blocker_of(event.key, history)
    also = "" if told is None else f" People are told instead: {summary(told)} ({told.key})."
    match event.body:
        case t.TurnFailed(reason=reason, missing=missing):
            lacks = f", missing: {'; '.join(missing)}" if missing else ""
            rule = _FAILURE_RULES.get(reason, "CY-13")
            why = f"its run failed, {describe(reason)}{lacks} ({rule})"
        case t.TurnTimedOut():
            why = "its run failed, it reached the time limit (CY-13)"
        case t.TurnBlocked(reason=reason):
            why = f"it's blocked until a person authorizes it, {reason} (BL-11)"
        case t.TurnCancelled(reason=reason, by=by):
            word = "stood down" if reason is StopReason.THREAD_CANCELLED else "cancelled"
            why = f"it was {word} by {by or 'somebody'}, {reason.value} ({_STOP_RULES[reason]})"
        case t.TurnReleased(reason=reason):
            why = f"nothing was left to do when its turn came, {reason} (TK-22)"
        case t.TurnInterrupted(reason=reason):
            rest = "; it will run again" if reason.resumes else ""
            why = f"its run was interrupted, {reason.value}{rest} ({_STOP_RULES[reason]})"
        case t.TurnSucceeded():
            return f"The run succeeded; no answer of its own is promised (DL-14, DL-16).{also}"
        case t.TurnStarted() | t.TurnSpawned() | t.TurnRecovering() | t.TurnStopRequested():
            return f"Nothing is posted yet: {event.key} is running, {summary(event)} (CY-21)."
        case _:
            return f"Nothing is posted yet: {event.key} is still waiting{_behind(event, history)}."
    return f"Nothing was posted: {why}.{also}"


def _behind(event: Recorded, history: History) -> str:
    """Say what a queued turn waits for, as far as the queues show it."""
    match event.body:
        case (
            t.TurnDeferred(reason=reason)
            | t.TurnRetried(reason=reason)
            | t.TurnRequeued(reason=reason)
        ):
            why = f", {reason}"
        case _:
            why = ""
    rows = history.rows("open_turns")
    mine = next((row for row in rows if row["key"] == event.key), None)
    if mine is None:
        return why
    running = [row for row in rows if row["state"] in {"running", "recovering"}]
    same: Callable[[str], list[str]] = lambda column: [  # noqa: E731 - one line, used twice
        str(row["key"]) for row in running if row[column] == mine[column] and mine[column]
    ]
    ahead = same("turn_group") or same("lane")
    return f"{why} in the {mine['lane']} lane" + (f" behind {ahead[0]} (Q-111)" if ahead else "")


def _signal(event: Recorded) -> str:
    match event.body:
        case s.SignalSuppressed(reason=reason, rule=rule, repeats=repeats):
            return f"Nothing was posted: it's suppressed, {reason} of {repeats} ({rule})."
        case s.SignalRefused(reason=reason, rule=rule):
            return f"Nothing was posted: it's refused, {reason} ({rule})."
        case s.SignalAccepted(reason="stand-down", rule=rule):
            return (
                f"Nothing was posted: it told us to stop, and its thread is stood down ({rule})."
            )
        case _:
            return (
                f"Nothing was posted: it was accepted, but no turn was queued: {summary(event)}."
            )


def _ticket(event: Recorded, history: History) -> str:
    match event.body:
        case k.TicketBlocked(reason=reason):
            told = blocker_about(event.key, history)
            also = "" if told is None else f" People are told: {summary(told)} ({told.key})."
            rule = _BLOCK_RULES.get(reason, "TK-11")
            return f"It isn't worked on: the ticket is blocked, {reason} ({rule}).{also}"
        case k.TicketPaused(reason=reason):
            return f"Nothing was posted: the ticket is paused, {reason} (TK-18)."
        case k.TicketReleased(reason=reason):
            return f"Nothing was posted: the ticket was released, {reason} (TK-21)."
        case k.TicketHandedOver(to=to):
            return f"Nothing was posted: the ticket was handed over to {to or 'nobody'} (TK-5)."
        case _:
            return f"Nothing is posted yet: {summary(event)} (TK-16)."


def _thread(event: Recorded) -> str:
    match event.body:
        case h.ThreadStoodDown() | h.ThreadRedirected():
            return f"Nothing more is posted in it: {summary(event)}."
        case _:
            return f"We're wanted in it: {summary(event)}."
