"""The pure core of ov-es: aggregates as deciders, and the policies between them.

What stands in `__all__` is for those who build on it, and so is what stands in the modules
`commands` and `events` of each aggregate. A name is loaded when it's first asked for, since the
machines take a while to load and most callers need few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ov_es_domain.catalogue import (
        LIFECYCLES,
        lifecycle_of,
    )
    from ov_es_domain.delivery.aggregate import (
        DELIVERY,
    )
    from ov_es_domain.errors import (
        CommandRefusedError,
        IllegalTransitionError,
        OvEsError,
        StaleAttemptError,
    )
    from ov_es_domain.identity import (
        Identifier,
        Key,
        delivery_key,
        mention_source,
        parse_key,
        part_slot,
        reply_slot,
        report_slot,
        signal_key,
        thread_key,
        ticket_ids,
        ticket_key,
        turn_key,
        watch_key,
    )
    from ov_es_domain.lifecycle import (
        COMMANDS,
        EVENTS,
        Aggregate,
        Command,
        Event,
        Lifecycle,
        fold,
        handle,
        step,
    )
    from ov_es_domain.observation import (
        RunEnding,
        RunReport,
        ShellCommand,
        StreamObservation,
        StreamOutcome,
        ToolCall,
        WorkspaceChange,
    )
    from ov_es_domain.policy.admission import (
        Admitted,
        HandsOver,
        Ourselves,
        Redirects,
        Refused,
        StandsDown,
        Suppressed,
        admit_mention,
        admit_ticket,
        second_look,
    )
    from ov_es_domain.policy.evidence import (
        Judgement,
        combine,
        judge,
    )
    from ov_es_domain.policy.lanes import (
        Deferral,
        Waiting,
        due,
        kind_of_mention,
        kind_of_ticket,
    )
    from ov_es_domain.policy.settling import (
        Look,
        NextStep,
        find_rendered,
        look,
    )
    from ov_es_domain.policy.team_facts import (
        RenderedMessage,
        TicketFacts,
    )
    from ov_es_domain.policy.vocabulary import (
        Vocabulary,
    )
    from ov_es_domain.recorded import (
        NewEvent,
        Recorded,
    )
    from ov_es_domain.signal.aggregate import (
        SIGNAL,
    )
    from ov_es_domain.signal.arrival import (
        Arrival,
        ArrivalKind,
        Sender,
        Via,
    )
    from ov_es_domain.thread.aggregate import (
        THREAD,
    )
    from ov_es_domain.ticket.aggregate import (
        TICKET,
    )
    from ov_es_domain.transitions import (
        Table,
    )
    from ov_es_domain.turn.aggregate import (
        TURN,
    )
    from ov_es_domain.turn.kinds import (
        Lane,
        StopReason,
        TurnKind,
        Verdict,
    )
    from ov_es_domain.watch.aggregate import (
        WATCH,
    )

__all__ = [
    "COMMANDS",
    "DELIVERY",
    "EVENTS",
    "LIFECYCLES",
    "SIGNAL",
    "THREAD",
    "TICKET",
    "TURN",
    "WATCH",
    "Admitted",
    "Aggregate",
    "Arrival",
    "ArrivalKind",
    "Command",
    "CommandRefusedError",
    "Deferral",
    "Event",
    "HandsOver",
    "Identifier",
    "IllegalTransitionError",
    "Judgement",
    "Key",
    "Lane",
    "Lifecycle",
    "Look",
    "NewEvent",
    "NextStep",
    "Ourselves",
    "OvEsError",
    "Recorded",
    "Redirects",
    "Refused",
    "RenderedMessage",
    "RunEnding",
    "RunReport",
    "Sender",
    "ShellCommand",
    "StaleAttemptError",
    "StandsDown",
    "StopReason",
    "StreamObservation",
    "StreamOutcome",
    "Suppressed",
    "Table",
    "TicketFacts",
    "ToolCall",
    "TurnKind",
    "Verdict",
    "Via",
    "Vocabulary",
    "Waiting",
    "WorkspaceChange",
    "admit_mention",
    "admit_ticket",
    "combine",
    "delivery_key",
    "due",
    "find_rendered",
    "fold",
    "handle",
    "judge",
    "kind_of_mention",
    "kind_of_ticket",
    "lifecycle_of",
    "look",
    "mention_source",
    "parse_key",
    "part_slot",
    "reply_slot",
    "report_slot",
    "second_look",
    "signal_key",
    "step",
    "thread_key",
    "ticket_ids",
    "ticket_key",
    "turn_key",
    "watch_key",
]

_HOMES = {
    "catalogue": ("LIFECYCLES", "lifecycle_of"),
    "delivery.aggregate": ("DELIVERY",),
    "errors": ("CommandRefusedError", "IllegalTransitionError", "OvEsError", "StaleAttemptError"),
    "identity": (
        "Identifier",
        "Key",
        "delivery_key",
        "mention_source",
        "parse_key",
        "part_slot",
        "reply_slot",
        "report_slot",
        "signal_key",
        "thread_key",
        "ticket_ids",
        "ticket_key",
        "turn_key",
        "watch_key",
    ),
    "lifecycle": ("Aggregate", "Command", "Event", "Lifecycle", "fold", "handle", "step"),
    "observation": (
        "RunEnding",
        "RunReport",
        "ShellCommand",
        "StreamObservation",
        "StreamOutcome",
        "ToolCall",
        "WorkspaceChange",
    ),
    "policy.admission": (
        "Admitted",
        "HandsOver",
        "Ourselves",
        "Redirects",
        "Refused",
        "StandsDown",
        "Suppressed",
        "admit_mention",
        "admit_ticket",
        "second_look",
    ),
    "policy.evidence": ("Judgement", "combine", "judge"),
    "policy.lanes": ("Deferral", "Waiting", "due", "kind_of_mention", "kind_of_ticket"),
    "policy.settling": ("Look", "NextStep", "find_rendered", "look"),
    "policy.team_facts": ("RenderedMessage", "TicketFacts"),
    "policy.vocabulary": ("Vocabulary",),
    "recorded": ("NewEvent", "Recorded"),
    "signal.aggregate": ("SIGNAL",),
    "signal.arrival": ("Arrival", "ArrivalKind", "Sender", "Via"),
    "thread.aggregate": ("THREAD",),
    "ticket.aggregate": ("TICKET",),
    "transitions": ("Table",),
    "turn.aggregate": ("TURN",),
    "turn.kinds": ("Lane", "StopReason", "TurnKind", "Verdict"),
    "watch.aggregate": ("WATCH",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name from the module that it lives in."""
    if name in {"EVENTS", "COMMANDS"}:
        # They fill as the aggregates are loaded, so all of those come first.
        import_module("ov_es_domain.catalogue")
        return vars(import_module("ov_es_domain.lifecycle"))[name]
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return vars(import_module(f"{__name__}.{home}"))[name]


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
