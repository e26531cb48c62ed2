"""What tests of deliveries share: work on a ticket, and what the log says of each message."""

from typing import Any

from tests.rules.rc_scenes import ticket

from ov_es_adapters.simulation.result import Outcome, folded
from ov_es_domain.delivery.aggregate import Delivery
from ov_es_domain.delivery.events import DeliveryAbandoned, DeliveryDeferred, DeliverySuppressed

FIRST, SECOND = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
"""The times at which people changed a ticket: its revisions."""
READ: dict[str, object] = {"tool": "get_ticket"}
EDIT: dict[str, object] = {"edit": "login.py"}
IN_REVIEW: dict[str, object] = {"tool": "update_ticket", "args": {"status": "in_review"}}
LEFT_OPEN: dict[str, object] = {"tool": "update_ticket", "args": {"priority": "low"}}
SAID: dict[str, object] = {"text": "Fixed in PR 12."}
TOLD = "I've finished COR-5 (Fix the login form), now in review. Fixed in PR 12."


def run(*does: object, takes: float = 20, source: str = "ticket:1:5") -> dict[str, object]:
    """Return what a program does for a source."""
    return {"source": source, "takes": takes, "does": list(does)}


def changed(at: float, **fields: Any) -> dict[str, object]:
    """Return the step in which people change ticket 5; it sends no frame."""
    return {"at": at, "team": {"tickets": [ticket(5, **{"updated_at": SECOND, **fields})]}}


def contents(day: Outcome) -> list[str]:
    """Return what people could read, in its order."""
    return [post.content for post in day.truth.posts]


def reports(day: Outcome) -> list[str]:
    """Return the ends of the reports' keys with what became of them."""
    return [
        f"{key.removeprefix('delivery:report:')} {delivery.state}"
        for key, delivery in folded(day.events).items()
        if key.startswith("delivery:report:") and isinstance(delivery, Delivery)
    ]


def reasons(day: Outcome, key: str) -> list[str]:
    """Return why a message waited, and why it wasn't posted at all."""
    kinds = DeliveryDeferred | DeliverySuppressed | DeliveryAbandoned
    return [e.body.reason for e in day.events if e.key == key and isinstance(e.body, kinds)]


def topics(day: Outcome, key: str) -> list[str]:
    """Return what happened to a message, in its order."""
    return [event.body.TOPIC.split("@")[0] for event in day.events if event.key == key]


def fault(tool: str, kind: str, call: object = 1, **more: object) -> dict[str, object]:
    """Return what goes wrong with a call."""
    return {"tool": tool, "call": call, "kind": kind, **more}


def written(at: float, number: int, content: str, **author: object) -> dict[str, object]:
    """Return the step in which somebody writes into the thread of message 100."""
    said = {"id": number, "channel_id": 10, "parent_id": 100, "content": content, **author}
    return {"at": at, "team": {"messages": [said]}}
