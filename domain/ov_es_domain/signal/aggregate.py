"""An inbound source: `decide` gives each arrival its one outcome, `evolve` remembers it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from ov_es_domain.lifecycle import Aggregate, Lifecycle
from ov_es_domain.signal.commands import AcceptSignal, RefuseSignal, SuppressSignal
from ov_es_domain.signal.events import SignalAccepted, SignalRefused, SignalSuppressed
from ov_es_domain.signal.machine import SIGNAL_TABLE, SignalState

SignalCommand: TypeAlias = AcceptSignal | SuppressSignal | RefuseSignal
SignalEvent: TypeAlias = SignalAccepted | SignalSuppressed | SignalRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal(Aggregate):
    """All that is known of one source: how often it came, and what was last new about it."""

    state: str = SignalState.UNSEEN
    generation: int = 0
    """How many of its arrivals were accepted."""
    text: str = ""
    """The text of the last accepted arrival: an edit that changes it may be news."""
    seen_text: str = ""
    """The text of its last arrival, whatever came of it."""
    is_addressed: bool = False
    """Whether an arrival of it was ever accepted."""
    accepted_at: float = 0.0
    """When its last accepted arrival came."""
    arrivals: int = 0


def decide(signal: Signal, command: SignalCommand) -> Sequence[SignalEvent]:
    """Return the one outcome; policy has chosen it, and nothing here can be idempotent."""
    match command:
        case AcceptSignal(arrival=arrival, reason=reason, rule=rule):
            return [
                SignalAccepted(
                    arrival=arrival, reason=reason, rule=rule, generation=signal.generation + 1
                )
            ]
        case SuppressSignal(arrival=arrival, reason=reason, repeats=repeats, rule=rule):
            return [SignalSuppressed(arrival=arrival, reason=reason, repeats=repeats, rule=rule)]
        case RefuseSignal(arrival=arrival, reason=reason, rule=rule):
            return [SignalRefused(arrival=arrival, reason=reason, rule=rule)]
    assert_never(command)


def evolve(signal: Signal, event: SignalEvent) -> Signal:
    """Fold the fields of `event`."""
    match event:
        case SignalAccepted(arrival=arrival, generation=generation):
            return replace(
                signal,
                generation=generation,
                text=arrival.text,
                seen_text=arrival.text,
                is_addressed=True,
                accepted_at=arrival.at,
                arrivals=signal.arrivals + 1,
            )
        case SignalSuppressed(arrival=arrival) | SignalRefused(arrival=arrival):
            return replace(signal, seen_text=arrival.text, arrivals=signal.arrivals + 1)
    assert_never(event)


SIGNAL = Lifecycle(
    name="signal",
    table=SIGNAL_TABLE,
    initial=Signal(),
    decide=decide,
    evolve=evolve,
    topics=tuple(e.TOPIC for e in (SignalAccepted, SignalSuppressed, SignalRefused)),
)
