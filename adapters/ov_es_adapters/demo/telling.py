"""The day's events in a newcomer's words: who wanted what, and what Ada did about it."""

from ov_es_domain.delivery import events as d
from ov_es_domain.recorded import Recorded
from ov_es_domain.signal import events as s
from ov_es_domain.signal.arrival import Arrival, Via
from ov_es_domain.thread import events as h
from ov_es_domain.ticket import events as k
from ov_es_domain.turn import events as t
from ov_es_domain.turn.kinds import StopReason
from ov_es_domain.watch import events as w

_EXCERPT_CHARACTERS_MAX = 90


class Telling:
    """Remembers what names stand for, so that each line can be read by itself."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._titles: dict[str, str] = {}
        self._contents: dict[str, str] = {}

    def line(self, event: Recorded) -> tuple[str, str] | None:  # noqa: C901, PLR0911, PLR0912 - one answer for each event
        """Return a word and a sentence for an event, or None where a newcomer needn't see it."""
        match event.body:
            case w.WatchConnected(number=number):
                return "link", "connected to the team" if number == 1 else "connected again"
            case w.WatchDisconnected():
                return "link", "the connection is gone; it's made again"
            case s.SignalAccepted(arrival=arrival, reason=reason):
                if reason == "stand-down":
                    return "heard", f"{_who(arrival)} tells Ada to stop"
                late = " (missed, and found by looking)" if _is_found(arrival) else ""
                return "heard", f"{self._what(arrival)}{late}"
            case s.SignalSuppressed(arrival=arrival, repeats=repeats):
                return "again", f"{self._what(arrival)}: known already, as {repeats}"
            case s.SignalRefused(arrival=arrival, reason=reason, rule=rule):
                return "not us", f"{self._what(arrival)}: {reason} ({rule})"
            case k.TicketSeen(slug=slug, title=title):
                self._titles[event.key] = f"{slug} “{title}”"
                return "ticket", f"{slug} “{title}” is Ada's"
            case t.TurnQueued() as queued:
                self._titles[event.key] = self._subject(queued)
                return None
            case t.TurnStarted(attempt=attempt):
                more = f", run {attempt}" if attempt > 1 else ""
                return "run", f"an agent process for {self._titles[event.key]}{more}"
            case t.TurnRecovering(missing=missing):
                lacks = "; ".join(missing)
                claims = f"claims to be done with {self._titles[event.key]}"
                return "proof?", f"it {claims}, but can't show {lacks}. It has to try again"
            case t.TurnInterrupted(reason=reason) if reason is StopReason.CRASH:
                return "crash", f"the run for {self._titles[event.key]} was lost; it runs again"
            case t.TurnCancelled():
                return (
                    "stopped",
                    f"the run for {self._titles[event.key]} is gone, nothing is posted",
                )
            case k.TicketReported():
                return "shown", f"{self._titles[event.key]} is done, and can show it"
            case h.ThreadStoodDown():
                return "quiet", "nothing more is said in that thread"
            case d.DeliveryPlanned(content=content):
                self._contents[event.key] = _excerpt(content)
                return None
            case d.DeliveryLeftUnknown():
                return "unsure", f"was “{self._contents[event.key]}” posted? Only a look can tell"
            case d.DeliveryDelivered(proof=proof):
                how = " (found in the thread: not posted again)" if proof == "rendered" else ""
                return "posted", f"“{self._contents[event.key]}”{how}"
            case _:
                return None

    def _what(self, arrival: Arrival) -> str:
        if arrival.is_mention:
            return f"{_who(arrival)}: “{_excerpt(arrival.text)}”"
        return f"ticket {arrival.ticket_id} is assigned"

    def _subject(self, queued: t.TurnQueued) -> str:
        if queued.ticket is not None:
            return self._titles.get(queued.ticket, queued.ticket)
        return f"{queued.sender}'s “{_excerpt(queued.text)}”"


def _who(arrival: Arrival) -> str:
    return arrival.sender.name if arrival.sender and arrival.sender.name else "somebody"


def _is_found(arrival: Arrival) -> bool:
    return arrival.is_mention and arrival.via is Via.RECONCILIATION


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _EXCERPT_CHARACTERS_MAX:
        return line
    return line[: _EXCERPT_CHARACTERS_MAX - 1] + "…"
