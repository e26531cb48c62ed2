"""Kills the process after every single commit, in turn, and checks what the world looks like then.

The undisturbed run says how many commits there are and which messages come out. After a crash
they may come later, but it must be the same messages, and no invariant may break.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ov_es_adapters.simulation.result import Outcome, Violation
from ov_es_adapters.simulation.scenario import Scenario
from ov_es_adapters.simulation.simulator import Disturbance, simulate

Place = tuple[str, str, str]
"""Channel, parent and content of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashReport:
    """What came of all the crashes."""

    commits: int
    """How many commits there were to die after."""
    violations: tuple[tuple[int, Violation], ...]
    """Each with the commit after which the process died; 0: it didn't."""


def crash_everywhere(
    scenario: Scenario, *, seed: int = 0, progress: Callable[[int, int], None] | None = None
) -> CrashReport:
    """Play a scenario once undisturbed, and once for each of its commits with a crash after it.

    `progress` is told how many of how many runs are done.
    """
    undisturbed = simulate(scenario, Disturbance(seed=seed, plays_on=True))
    found = [(0, violation) for violation in undisturbed.violations]
    commits = undisturbed.commits
    for commit in range(1, commits + 1):
        crashed = simulate(scenario, Disturbance(seed=seed, die_after=commit, plays_on=True))
        found += [(commit, violation) for violation in crashed.violations]
        found += [(commit, violation) for violation in _differences(undisturbed, crashed)]
        if progress is not None:
            progress(commit, commits)
    return CrashReport(commits=commits, violations=tuple(found))


def _differences(undisturbed: Outcome, crashed: Outcome) -> Sequence[Violation]:
    """Return the messages that only one of the two has."""
    expected, real = _messages(undisturbed), _messages(crashed)
    return [
        *(
            Violation(rule="lost", key="", position=0, message=f"never posted: {_shown(place)}")
            for place in sorted((expected - real).elements())
        ),
        *(
            Violation(
                rule="posted-twice",
                key="",
                position=0,
                message=f"posted, though nobody wanted it (again): {_shown(place)}",
            )
            for place in sorted((real - expected).elements())
        ),
    ]


def _messages(outcome: Outcome) -> Counter[Place]:
    return Counter(
        (str(post.channel_id), str(post.parent_id), post.content) for post in outcome.truth.posts
    )


def _shown(place: Place) -> str:
    channel, parent, content = place
    return f"channel {channel}, thread {parent}: {content[:80]!r}"
