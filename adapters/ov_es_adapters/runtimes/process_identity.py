"""Which processes belong to a run, also after a restart of ours, and how they're all ended.

Source: PRC-01, PRC-11; `agent-clis.md` section 6 (killing the group is never enough).
"""

import asyncio
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from signal import Signals

from ov_es_adapters.ports import ProcessIdentity
from ov_es_adapters.runtimes.process_table import (
    ProcessEntry,
    carries_marker,
    entries,
    entry,
    signal_exactly,
)

LOOK_AGAIN_SECONDS = 0.02
LOOKS_MAX = 250
"""How often to look for what is left before giving up on processes that can't be killed."""


def identify(pid: int, marker: str) -> ProcessIdentity:
    """Return what will recognise the process that has this pid now."""
    found = entry(pid)
    return ProcessIdentity(pid=pid, started=found.started if found else "", marker=marker)


def is_same(process: ProcessEntry, identity: ProcessIdentity) -> bool:
    """Tell whether `process` is the one that was identified, by its start or else its marker."""
    if process.pid != identity.pid:
        return False
    if identity.started:
        return process.started == identity.started
    return bool(identity.marker) and carries_marker(process.pid, identity.marker)


def descendants(table: Iterable[ProcessEntry], roots: Iterable[int]) -> list[ProcessEntry]:
    """Return children and children's children of `roots`, without the roots themselves."""
    children: dict[int, list[ProcessEntry]] = {}
    for process in table:
        children.setdefault(process.parent, []).append(process)
    found: dict[int, ProcessEntry] = {}
    waiting = list(roots)
    seen = set(waiting)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child.pid not in seen:
                seen.add(child.pid)
                found[child.pid] = child
                waiting.append(child.pid)
    return list(found.values())


def belonging(identity: ProcessIdentity) -> list[ProcessEntry]:
    """Return the living processes of a run: leader, group, session, marked, and descendants.

    Never among them: this process and its own ancestors, even where they carry the marker. Nor
    does anything belong to a run because one of those started it.
    """
    everyone = list(entries())
    table = [process for process in everyone if not process.is_zombie]
    # A group lives on without its leader, but when somebody else has the leader's pid, then the
    # group of that number is theirs as well.
    is_taken = any(p.pid == identity.pid and not is_same(p, identity) for p in everyone)
    group = 0 if is_taken or not identity.started else identity.pid
    ours = _ourselves(everyone)
    roots = [
        process
        for process in table
        if process.pid not in ours
        and (
            is_same(process, identity)
            or (group and group in {process.group, process.session})
            or (identity.marker and carries_marker(process.pid, identity.marker))
        )
    ]
    found = {p.pid: p for p in (*roots, *descendants(table, (root.pid for root in roots)))}
    return [process for pid, process in found.items() if pid not in ours]


def _ourselves(table: Iterable[ProcessEntry]) -> set[int]:
    """Return our pid and the pids of all our ancestors."""
    parents = {process.pid: process.parent for process in table}
    ours: set[int] = set()
    pid = os.getpid()
    while pid not in ours and pid > 0:
        ours.add(pid)
        pid = parents.get(pid, 0)
    return ours


def still_alive(noted: Iterable[ProcessEntry]) -> list[ProcessEntry]:
    """Return those of `noted` that haven't ended; a successor with the same pid isn't one."""
    return [
        process
        for process in noted
        if (now := entry(process.pid)) is not None
        and not now.is_zombie
        and now.started == process.started
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How many processes were found alive, and how many of them still are."""

    found: int
    left: int


async def end_all(
    look: Callable[[], list[ProcessEntry]],
    *,
    noted: Iterable[ProcessEntry] = (),
    grace_seconds: float = 0.0,
) -> "Ended":
    """End what `look` finds and what was `noted` before, and look again until nothing is left.

    With a grace, all are asked politely first. Children that lose their parent meanwhile are
    kept in mind by pid and start time.
    """
    known = {(process.pid, process.started): process for process in still_alive(noted)}

    def note() -> None:
        heirs = descendants(entries(), [process.pid for process in still_alive(known.values())])
        for process in (*look(), *heirs):
            if not process.is_zombie:
                known[(process.pid, process.started)] = process

    note()
    if grace_seconds > 0:
        for process in known.values():
            signal_exactly(process, Signals.SIGTERM)
        loop = asyncio.get_running_loop()
        until = loop.time() + grace_seconds
        # The end of a process that isn't our child has no event that every system gives.
        while loop.time() < until and still_alive(known.values()):  # noqa: ASYNC110
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
    for _ in range(LOOKS_MAX):
        note()
        if not (left := still_alive(known.values())):
            break
        for process in left:
            signal_exactly(process, Signals.SIGKILL)
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
    return Ended(found=len(known), left=len(still_alive(known.values())))


class LocalProcesses:
    """The processes of this machine, for recovery after a crash."""

    def __init__(self, *, grace_seconds: float = 1.0) -> None:
        self._grace_seconds = grace_seconds

    def is_alive(self, identity: ProcessIdentity) -> bool:
        """Tell whether exactly this process still runs."""
        found = entry(identity.pid)
        return found is not None and not found.is_zombie and is_same(found, identity)

    async def end(self, identity: ProcessIdentity) -> int:
        """End it and whatever else belongs to its run; return how many were found."""
        ended = await end_all(lambda: belonging(identity), grace_seconds=self._grace_seconds)
        return ended.found
