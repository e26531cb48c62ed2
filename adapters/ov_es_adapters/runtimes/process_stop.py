"""The stop of a process: the polite signal, grace, force, and one last sweep of its group.

It knows no operating system. What it needs is a target that can be signalled and that says when
it has closed, so that the same statements run against real processes and in virtual time.
Source: IN-10 to IN-14, PR-2 to PR-5.
"""

import asyncio
from signal import Signals
from typing import Protocol

GRACE_SECONDS = 1.0


class StopTarget(Protocol):
    """A child process, perhaps the leader of a group of its own."""

    @property
    def has_group(self) -> bool:
        """Whether this system has groups, so that its descendants can be reached with it."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether it never started, or has ended already."""
        ...

    def signal_group(self, signal: Signals) -> bool:
        """Signal the whole group; False when the system refused."""
        ...

    def signal_child(self, signal: Signals) -> bool:
        """Signal the child alone; False when the system refused."""
        ...

    async def closed(self) -> None:
        """Return when the child is gone; any number of callers may wait."""
        ...


async def stop(target: StopTarget, *, grace_seconds: float = GRACE_SECONDS) -> None:
    """End `target` and return when it has closed, never before.

    A process that never closes keeps its caller waiting: its lane is in fact still occupied
    (PR-4). Two stops at once both return at the same close (IN-14).
    """
    if target.is_over:
        return
    _signal(target, Signals.SIGTERM)
    try:
        async with asyncio.timeout(grace_seconds):
            await target.closed()
    except TimeoutError:
        _signal(target, Signals.SIGKILL)
        await target.closed()
    if target.has_group:
        # A tool may have let go of the pipes and live on in the group.
        target.signal_group(Signals.SIGKILL)


def _signal(target: StopTarget, signal: Signals) -> None:
    """Reach the group, and only where that fails the child; a refusal of both is no error."""
    if not (target.has_group and target.signal_group(signal)):
        target.signal_child(signal)
