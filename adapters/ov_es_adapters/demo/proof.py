"""The end of the day: the audit over the log, held against what the team server really shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from ov_es_adapters.team.written import PostRecord
from ov_es_domain.delivery.events import DeliveryDelivered, DeliveryPlanned
from ov_es_domain.recorded import Recorded
from ov_es_projections.audit import AuditReport, audit


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What the log says, what the server shows, and where they differ."""

    report: AuditReport
    posts: tuple[dict[str, object], ...]
    differences: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """Whether each promise is out exactly once, and no invariant is broken."""
        return self.report.is_clean and not self.differences

    def as_data(self) -> dict[str, object]:
        """Return the audit with `posts` and `violations`."""
        violations = [
            {"rule": f.rule, "key": f.key, "position": f.position, "message": f.message}
            for f in self.report.findings
        ]
        violations += [
            {"rule": "log-and-server-differ", "key": "", "position": 0, "message": said}
            for said in self.differences
        ]
        return {**self.report.as_data(), "posts": list(self.posts), "violations": violations}

    def lines(self) -> Sequence[str]:
        """Return it in words."""
        figures = self.report.figures
        skipped = sum(figures.suppressed.values())
        refused = sum(figures.refused.values())
        said = [
            f"{figures.events} events tell the whole day",
            f"{len(self.posts)} messages are on the server, and the log has a promise for each",
            f"{skipped} signals were repetitions, {refused} weren't for Ada; none was answered",
            f"{len(self.report.findings)} findings, {len(self.differences)} differences",
        ]
        said += [f"{f.rule} {f.key}: {f.message}" for f in self.report.findings]
        return [*said, *self.differences]


def prove(events: Sequence[Recorded], posts: Sequence[PostRecord]) -> Proof:
    """Compare the deliveries of the log with the posts of the server, one for one."""
    plans: dict[str, DeliveryPlanned] = {}
    proven: dict[str, str] = {}
    for event in events:
        match event.body:
            case DeliveryPlanned() as plan:
                plans[event.key] = plan
            case DeliveryDelivered(message_id=message_id):
                proven[event.key] = str(message_id)
            case _:
                continue
    by_message = {message: key for key, message in proven.items()}
    shown: list[dict[str, object]] = [
        {
            "channel_id": post["channel_id"],
            "parent_id": post["parent_id"],
            "content": post["content"],
            "delivery": by_message.get(str(post["id"]), "").removeprefix("delivery:"),
        }
        for post in posts
    ]
    differences = [
        f"“{post['content'][:60]}” is on the server, and no delivery of the log is it"
        for post in posts
        if str(post["id"]) not in by_message
    ]
    there = {str(post["id"]) for post in posts}
    differences += [
        f"{key} counts as delivered, and message {message} isn't on the server"
        for key, message in proven.items()
        if message not in there
    ]
    differences += [f"{key} was promised, and isn't out" for key in plans if key not in proven]
    return Proof(report=audit(events), posts=tuple(shown), differences=tuple(differences))
