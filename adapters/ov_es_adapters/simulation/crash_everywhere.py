"""Kills the process at every single commit, in turn, and checks what the world looks like then.

The undisturbed run says how many commits there are and which messages come out. After a crash
they may come later, but it must be the same messages, and no invariant may break.

A process that dies right *before* a commit has done something that nobody will ever know. What a
run had to say may be lost with it, so there only the number of messages in each place must be
the same.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ov_es_adapters.simulation.log import Death
from ov_es_adapters.simulation.result import Outcome, Violation
from ov_es_adapters.simulation.scenario import Scenario
from ov_es_adapters.simulation.simulator import Disturbance, simulate
from ov_es_domain.thread.events import ThreadRedirected, ThreadStoodDown
from ov_es_domain.ticket.events import TicketHandedOver
from ov_es_domain.turn.events import TurnQueued

Place = tuple[str, str, str]
"""Channel, parent and content of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """One broken invariant, with the crash that broke it."""

    commit: int
    """The commit at which the process died; 0: it didn't."""
    is_before: bool
    """Whether it died right before that commit, and lost it; else right after it."""
    violation: Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class CrashReport:
    """What came of all the crashes."""

    commits: int
    """How many commits there were to die at."""
    found: tuple[Crash, ...]


def crash_everywhere(
    scenario: Scenario,
    *,
    seed: int = 0,
    also_before: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CrashReport:
    """Play a scenario once undisturbed, and once for each of its commits with a crash after it.

    Args:
        scenario: The story.
        seed: Which chance.
        also_before: Whether it's played once more for each commit, with a crash before it.
        progress: Told how many of how many commits are done.
    """
    undisturbed = simulate(scenario, Disturbance(seed=seed, plays_on=True))
    found = [
        Crash(commit=0, is_before=False, violation=violation)
        for violation in undisturbed.violations
    ]
    for commit in range(1, undisturbed.commits + 1):
        for is_before in (False, True) if also_before else (False,):
            disturbance = Disturbance(seed=seed, death=Death(commit, is_before), plays_on=True)
            crashed = simulate(scenario, disturbance)
            different = _differences(undisturbed, crashed, has_words=not is_before)
            found += [
                Crash(commit=commit, is_before=is_before, violation=violation)
                for violation in (*crashed.violations, *different)
            ]
        if progress is not None:
            progress(commit, undisturbed.commits)
    return CrashReport(commits=undisturbed.commits, found=tuple(found))


def _differences(
    undisturbed: Outcome, crashed: Outcome, *, has_words: bool
) -> Sequence[Violation]:
    """Return the messages that only one of the two has."""
    expected = _messages(undisturbed, has_words=has_words)
    real = _messages(crashed, has_words=has_words)
    races = _races(undisturbed) | _races(crashed)
    missing, surplus = _without_pairs(
        [place for place in sorted((expected - real).elements()) if place[:2] not in races],
        [place for place in sorted((real - expected).elements()) if place[:2] not in races],
    )
    return [
        *(
            Violation(rule="lost", key="", position=0, message=f"never posted: {_shown(place)}")
            for place in missing
        ),
        *(
            Violation(
                rule="posted-twice", key="", position=0, message=f"too much: {_shown(place)}"
            )
            for place in surplus
        ),
    ]


def _messages(outcome: Outcome, *, has_words: bool) -> Counter[Place]:
    return Counter(
        (str(post.channel_id), str(post.parent_id), post.content if has_words else "")
        for post in outcome.truth.posts
    )


def _races(outcome: Outcome) -> set[tuple[str, str]]:
    """Return the places in which somebody said stop, or took a ticket away.

    Whether a message was faster is decided by moments there, and the crash takes some. What must
    not be said after the stop is held against the log by the invariants all the same.
    """
    places: set[tuple[str, str]] = set()
    targets: dict[str, tuple[str, str]] = {}
    for event in outcome.events:
        match event.body:
            case ThreadStoodDown() | ThreadRedirected():
                _, channel, root = event.key.split(":", 2)
                places.add((channel, root))
            case TurnQueued(ticket=ticket, target=target) if ticket and target:
                targets[ticket] = (str(target.channel_id), str(target.parent_id))
            case TicketHandedOver() if event.key in targets:
                places.add(targets[event.key])
            case _:
                pass
    return places


def _without_pairs(
    missing: Sequence[Place], surplus: Sequence[Place]
) -> tuple[list[Place], list[Place]]:
    """Take out what is the same report, once with a run's last words and once without.

    Those words are lost with a run that had shown all of its work when it was cut off: it isn't
    run again to say them.
    """
    left = list(surplus)
    still_missing: list[Place] = []
    for place in missing:
        twin = next((other for other in left if _is_shorter(other, place)), None)
        if twin is None:
            still_missing.append(place)
        else:
            left.remove(twin)
    return still_missing, left


def _is_shorter(place: Place, whole: Place) -> bool:
    return place[:2] == whole[:2] and bool(place[2]) and whole[2].startswith(place[2])


def _shown(place: Place) -> str:
    channel, parent, content = place
    words = f": {content[:80]!r}" if content else ""
    return f"a message in channel {channel}, thread {parent}{words}"
