"""Nothing is posted into a thread that was stood down or given to somebody else."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from ov_es_domain.delivery import events as d
from ov_es_domain.recorded import Recorded
from ov_es_domain.thread import events as h
from ov_es_projections.audit.finding import Finding, Severity


@dataclass(slots=True)
class UnwantedPost:
    """The intent to post is in the log before the post: it has to come before the stand-down."""

    rule: ClassVar[str] = "posted-into-stood-down-thread"
    explanation: ClassVar[str] = "No attempt begins while its thread is cancelled."
    _cancelled: dict[str, int] = field(default_factory=dict[str, int])
    _threads: dict[str, str] = field(default_factory=dict[str, str])

    def see(self, event: Recorded) -> Iterable[Finding]:
        """Compare each attempt with the state of its thread."""
        match event.body:
            case h.ThreadStoodDown() | h.ThreadRedirected():
                self._cancelled[event.key] = event.position
            case h.ThreadWoken():
                self._cancelled.pop(event.key, None)
            case d.DeliveryPlanned(thread=thread) if thread is not None:
                self._threads[event.key] = thread
            case d.DeliveryAttempted():
                since = self._cancelled.get(self._threads.get(event.key, ""))
                if since is not None:
                    yield Finding(
                        rule=self.rule,
                        severity=Severity.ERROR,
                        key=event.key,
                        position=event.position,
                        message=f"its thread is cancelled since position {since}",
                    )
            case _:
                return

    def end(self, at: float) -> Iterable[Finding]:
        """Nothing is left open."""
        del at
        return ()
