"""A queue with the replaced program's interface, made of nothing but ours: turns, rows and policy.

An entry is a Turn; whether it's known, waits or runs is read from the open-turns projection; what
starts next is the lanes policy's word. So the recorded answers pin the code that the daemon uses.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ov_es_domain.lifecycle import Command, handle
from ov_es_domain.observation import RunEnding, RunReport
from ov_es_domain.policy.lanes import Waiting, due
from ov_es_domain.recorded import Recorded
from ov_es_domain.turn import commands as c
from ov_es_domain.turn.aggregate import TURN, Turn
from ov_es_domain.turn.kinds import Lane, StopReason, TurnKind, Verdict
from ov_es_domain.turn.machine import TurnState
from ov_es_projections.open_turns import OPEN_TURNS, in_order
from ov_es_projections.projection import MemoryTables, Row

Item = dict[str, Any]
_REPORT = RunReport(ending=RunEnding.EXITED)


@dataclass(slots=True)
class Step:
    """What one operation brought."""

    started: list[str] = field(default_factory=list)
    resolved: dict[str, Any] = field(default_factory=dict)
    errors: list[dict[str, str]] = field(default_factory=list)
    cancel_active: list[str] = field(default_factory=list)


class QueueOnTheLog:
    """Keeps an in-memory log of turns, and the rows that follow from it."""

    def __init__(self, *, concurrency: int, grouped: bool) -> None:
        self._concurrency = concurrency
        self._grouped = grouped
        self._turns: dict[str, tuple[Turn, int]] = {}
        self._tables = MemoryTables((OPEN_TURNS,))
        self._position = 0
        self._generations: dict[str, int] = {}
        self._keyless = 0
        self._starts: list[str] = []
        self._items: dict[str, Item] = {}
        self.calls: dict[int, str] = {}
        self.pending: dict[int, str] = {}
        self.step = Step()

    def _answer(self, key: str, command: Command) -> None:
        turn, version = self._turns.get(key, (Turn(), 0))
        events, after = handle(TURN, turn, command)
        for body in events:
            version += 1
            self._position += 1
            recorded = Recorded(
                key=key,
                version=version,
                body=body,
                at=0.0,
                cause="",
                correlation="",
                position=self._position,
            )
            self._tables.apply(recorded)
        self._turns[key] = (after, version)

    def _rows(self, **equal: str) -> list[Row]:
        return in_order(self._tables.select("open_turns", **equal))

    def has(self, source: str) -> bool:
        return bool(self._rows(source=source))

    @property
    def size(self) -> int:
        return len(self._rows())

    @property
    def active(self) -> list[str]:
        return [str(row["key"]) for row in self._rows(state=TurnState.RUNNING.value)]

    @property
    def running_items(self) -> list[str]:
        """The items that run, in the order in which they started."""
        return [self._items[key]["id"] for key in self._starts if key in self.active]

    def enqueue(self, source: str | None, item: Item) -> int | None:
        """Queue an item; return the earlier call whose entry serves this one, if there is one."""
        call = len(self.calls)
        if source is None:
            self._keyless += 1
            source = f"cycle:{self._keyless}"
        known = self._rows(source=source)
        if known:
            key = str(known[0]["key"])
            self.calls[call] = self.pending[call] = key
            return next(earlier for earlier, has in self.calls.items() if has == key)
        generation = self._generations[source] = self._generations.get(source, 0) + 1
        key = f"turn:{source}:{generation}"
        self._items[key] = item
        self.calls[call] = self.pending[call] = key
        group = str(item["group"]) if self._grouped and item["group"] else ""
        queue = c.QueueTurn(
            source=source,
            generation=generation,
            kind=TurnKind.FULL,
            group=group,
            ticket=None,
            thread=None,
            target=None,
            slot=None,
            title=item["id"],
            text="",
            sender="",
            by_agent=False,
            accepted_at=0.0,
        )
        self._answer(key, queue)
        self._start_due()
        return None

    def _start_due(self) -> None:
        while True:
            running = self._rows(state=TurnState.RUNNING.value)
            waiting = [
                Waiting(
                    key=str(row["key"]),
                    lane=Lane.WORK,
                    group=str(row["turn_group"] or ""),
                    not_before=0.0,
                )
                for row in self._rows(state=TurnState.QUEUED.value)
            ]
            groups = [str(row["turn_group"] or "") for row in running]
            starting, _ = due(
                waiting,
                running_groups=groups,
                running=len(running),
                slots=self._concurrency,
                now=0.0,
            )
            if not starting:
                return
            for entry in starting:
                self._start(entry.key, entry.group)

    def _start(self, key: str, group: str) -> None:
        item = self._items[key]
        self._starts.append(key)
        self.step.started.append(item["id"])
        start = c.StartTurn(
            execution=f"run of {key}",
            epoch=1,
            runtime="vectors",
            model=None,
            directory=None,
            group=group,
        )
        self._answer(key, start)
        match item["mode"]:
            case "return_now":
                self._settle(key, Verdict.SUCCEEDED, {"value": f"now:{item['id']}"})
            case "throw_sync":
                self._fail(key, f"sync:{item['id']}")
            case _:
                return

    def _fail(self, key: str, message: str) -> None:
        self.step.errors.append({"id": self._items[key]["id"], "message": message})
        self._settle(key, Verdict.FAILED, {"status": "failed"})

    def _settle(self, key: str, verdict: Verdict, outcome: object) -> None:
        turn = self._turns[key][0]
        settle = c.SettleTurn(
            execution=turn.execution,
            attempt=turn.attempt,
            verdict=verdict,
            reason="",
            report=_REPORT,
            missing=(),
        )
        self._answer(key, settle)
        assert not self._turns[key][0].is_running
        self._resolve(key, outcome)

    def _resolve(self, key: str, outcome: object) -> None:
        for call in [call for call, held in self.pending.items() if held == key]:
            del self.pending[call]
            self.step.resolved[str(call)] = outcome

    def finish(self, item_id: str, outcome: str, value: str) -> None:
        key = next(key for key in self.active if self._items[key]["id"] == item_id)
        if outcome == "ok":
            self._settle(key, Verdict.SUCCEEDED, {"value": value})
        else:
            self._fail(key, value)
        self._start_due()

    def cancel(self, matches: Callable[[Item], bool], *, abort: bool) -> None:
        running = [key for key in self._starts if key in self.active]
        waiting = [str(row["key"]) for row in self._rows(state=TurnState.QUEUED.value)]
        for key in [*running, *waiting]:
            if not matches(self._items[key]):
                continue
            if key in waiting:
                self._answer(
                    key, c.CancelTurn(reason=StopReason.THREAD_CANCELLED, by="a condition")
                )
                self._resolve(key, {"status": "canceled"})
            else:
                self.step.cancel_active.append(self._items[key]["id"])
                if abort:
                    stop = c.RequestStop(reason=StopReason.THREAD_CANCELLED, by="a condition")
                    self._answer(key, stop)
                    self._settle(key, Verdict.SUCCEEDED, {"subtype": "canceled"})
                    assert self._turns[key][0].state == TurnState.CANCELLED
        self._start_due()
