"""Which lane and which group a turn waits in, and which of the waiting may start."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ov_es_domain.identity import message_number
from ov_es_domain.policy.vocabulary import Vocabulary
from ov_es_domain.turn.kinds import Lane, TurnKind

SHARED_GROUP = "shared-workspace"
"""The group of work that has no directory of its own (Q-110)."""

_FILE = re.compile(
    r"\b[\w/-]+\.(?:py|js|ts|tsx|go|rs|java|rb|c|h|cpp|md|toml|ya?ml|json|sql|css|html|sh)\b"
)
_PRIORITIES = {"critical": 0, "high": 1, "medium": 2, "low": 3}


def _has_word(text: str, words: Iterable[str]) -> bool:
    folded = text.casefold()
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", folded) for word in words)


def kind_of_mention(text: str, *, has_workspace: bool, vocabulary: Vocabulary) -> TurnKind:
    """Return `full` only for an action with a concrete target; in doubt a reply (TH-13).

    >>> words = Vocabulary(actions=("fix",), targets=("file",))
    >>> kind_of_mention("please fix login.py", has_workspace=True, vocabulary=words).value
    'full'
    >>> kind_of_mention("how is the fix?", has_workspace=True, vocabulary=words).value
    'fast'
    """
    is_question = text.rstrip().endswith("?") and not _has_word(
        text, ("please", "can you", "could you", "would you", "will you")
    )
    names_action = _has_word(text, vocabulary.actions)
    names_target = _has_word(text, vocabulary.targets) or _FILE.search(text) is not None
    is_coding = has_workspace and not is_question and names_action and names_target
    return TurnKind.FULL if is_coding else TurnKind.FAST


def kind_of_ticket(title: str, description: str, *, vocabulary: Vocabulary) -> TurnKind:
    """Return `coord` only where coordination is asked for outright; in doubt work (TK-26, TK-27).

    >>> words = Vocabulary(coordination=("ask",))
    >>> kind_of_ticket("Ask the design team for the logo", "", vocabulary=words).value
    'coord'
    >>> kind_of_ticket("Uploading files as messages", "", vocabulary=words).value
    'full'
    """
    text = f"{title}\n{description}"
    begins = any(
        re.match(rf"\W*{re.escape(word)}\b", title.casefold()) for word in vocabulary.coordination
    )
    is_coding = _FILE.search(text) is not None or _has_word(title, vocabulary.actions)
    return TurnKind.COORD if begins and not is_coding else TurnKind.FULL


def model_for(
    kind: TurnKind, *, main: str | None, chat: str | None, has_one_model: bool
) -> str | None:
    """Return the model of a run: the main one codes, the chat model does all else (CY-3).

    None: none is named, and the program decides. `has_one_model` is so for codex.

    >>> model_for(TurnKind.FAST, main="large", chat="small", has_one_model=False)
    'small'
    """
    if has_one_model or kind is TurnKind.FULL:
        return main
    return chat or main


def priority_rank(priority: str) -> int:
    """Return the order of a ticket's priority; unknown ones come last (RC-7).

    >>> [priority_rank(name) for name in ("Critical", "high", "urgent")]
    [0, 1, 9]
    """
    return _PRIORITIES.get(priority.casefold(), 9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What the order of starting needs to know of a queued turn."""

    key: str
    lane: Lane
    group: str
    not_before: float
    thread: str = ""
    """The conversation that it answers in; "" for none."""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """Why a queued turn may not start yet."""

    key: str
    reason: str
    until: float | None
    """None: until something ends."""


def oldest_first_in_threads(waiting: Sequence[Waiting]) -> list[Waiting]:
    """Return the same entries, those of one thread in the order in which they were said.

    What was missed while away is found after newer messages may have come (LOS-02). Threads keep
    their places in the queue; a message's number says when it was said.

    >>> from dataclasses import replace
    >>> late = Waiting(key="b", lane=Lane.REPLY, group="", not_before=0, thread="t", source="m:2")
    >>> early = replace(late, key="a", source="m:1")
    >>> [entry.key for entry in oldest_first_in_threads([late, early])]
    ['a', 'b']
    """
    ordered = list(waiting)
    for thread in {entry.thread for entry in waiting if entry.thread}:
        places = [n for n, entry in enumerate(ordered) if entry.thread == thread]
        said = sorted((ordered[n] for n in places), key=_number)
        for place, entry in zip(places, said, strict=True):
            ordered[place] = entry
    return ordered


def _number(entry: Waiting) -> float:
    number = message_number(entry.source)
    return float("inf") if number is None else float(number)


def due(
    waiting: Sequence[Waiting],
    *,
    running_groups: Collection[str],
    running: int,
    slots: int,
    now: float,
) -> tuple[list[Waiting], list[Deferral]]:
    """Return what may start of one lane, in the order of arrival, and why the others may not.

    Shapes: `waiting` in queue order. At most `slots` run together, one of each group; an entry
    that is overtaken keeps its place.
    Source: Q-101 to Q-112.

    >>> due([], running_groups=[], running=0, slots=3, now=0.0)
    ([], [])
    """
    taken = {group for group in running_groups if group}
    free = slots - running
    starting: list[Waiting] = []
    deferred: list[Deferral] = []
    for entry in waiting:
        if entry.not_before > now:
            deferred.append(Deferral(key=entry.key, reason="not-before", until=entry.not_before))
        elif free <= 0:
            deferred.append(Deferral(key=entry.key, reason="lane-full", until=None))
        elif entry.group in taken:
            deferred.append(Deferral(key=entry.key, reason="group-busy", until=None))
        else:
            starting.append(entry)
            free -= 1
            if entry.group:
                taken.add(entry.group)
    return starting, deferred
