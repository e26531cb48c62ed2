"""When a run has to be ended by us: pure, so that every limit can be checked without waiting.

Times are seconds on any clock that only grows.
Source: RN-13, RN-16; PRC-03, PRC-09.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ov_es_adapters.runtimes.jsonl import LINE_BYTES_MAX
from ov_es_adapters.runtimes.process_stop import GRACE_SECONDS
from ov_es_domain.observation import RunEnding

IDLE_SHARE = 0.02
"""A silent run that computes less than this share of the time is idle, not busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a run may do what, in seconds."""

    time_limit: float
    stall: float | None = 180.0
    """Of silence and idleness together; None: however long (PRC-09)."""
    grace: float = GRACE_SECONDS
    """Between the polite signal and force."""
    exit_grace: float = 10.0
    """Between the final event and the exit (PRC-03)."""
    line_bytes_max: int = LINE_BYTES_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Why a run has to end now."""

    ending: RunEnding
    because: str


class Watchdog:
    """Looks at a run from time to time; it says when next, and what it finds."""

    def __init__(self, limits: Limits, *, started_at: float) -> None:
        self._limits = limits
        self._started_at = started_at
        self._quiet_since = started_at
        self._sample: tuple[float, float] | None = None
        """When in this silence computing was measured, and how much there was until then."""

    def look_at(self, *, finished_at: float | None, last_output_at: float) -> float:
        """Return when something may have to happen, if nothing else happens before."""
        over_at, stall = self._over_at(finished_at), self._limits.stall
        if finished_at is not None or stall is None:
            return over_at
        if self._sample is None or last_output_at > self._quiet_since:
            return min(over_at, max(self._quiet_since, last_output_at) + stall / 2)
        return min(over_at, self._stalled_at(stall, self._sample[0]))

    def look(
        self,
        *,
        finished_at: float | None,
        last_output_at: float,
        now: float,
        cpu_seconds: Callable[[], float],
    ) -> Verdict | None:
        """Return why the run has to end, or None while it may go on."""
        if now >= self._over_at(finished_at):
            return self._over(finished_at)
        stall = self._limits.stall
        if finished_at is not None or stall is None:
            return None
        if last_output_at > self._quiet_since:
            self._quiet_since, self._sample = last_output_at, None
        if self._sample is None:
            # Half of the silence passes before, so that computing can be told from idling.
            if now >= self._quiet_since + stall / 2:
                self._sample = now, cpu_seconds()
            return None
        sampled_at, cpu_then = self._sample
        if now < self._stalled_at(stall, sampled_at):
            return None
        cpu_now = cpu_seconds()
        if cpu_now - cpu_then < IDLE_SHARE * (now - sampled_at):
            return Verdict(ending=RunEnding.STALLED, because=f"silent and idle for {stall:g} s")
        # Busy without a word, as a long build is: it gets the same time once more.
        self._quiet_since, self._sample = now, None
        return None

    def _stalled_at(self, stall: float, sampled_at: float) -> float:
        # A machine that slept in between must not make the measurement a short one.
        return max(self._quiet_since + stall, sampled_at + stall / 2)

    def _over_at(self, finished_at: float | None) -> float:
        # With the final event the work is done, and only the exit is still owed (RN-13).
        if finished_at is None:
            return self._started_at + self._limits.time_limit
        return finished_at + self._limits.exit_grace

    def _over(self, finished_at: float | None) -> Verdict:
        if finished_at is None:
            because = f"the limit of {self._limits.time_limit:g} s is over"
            return Verdict(ending=RunEnding.TIMED_OUT, because=because)
        grace = self._limits.exit_grace
        because = f"it finished, did not exit within {grace:g} s, and was ended"
        return Verdict(ending=RunEnding.EXITED, because=because)
