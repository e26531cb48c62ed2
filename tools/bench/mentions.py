"""What the log holds after many mentions were answered: commands, by the real rules."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

ROOT = Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / room) for room in ("domain", "projections", "adapters")]

from ov_es_domain.catalogue import lifecycle_of  # noqa: E402 - the line above finds our packages
from ov_es_domain.delivery import commands as d  # noqa: E402 - likewise
from ov_es_domain.delivery.target import Purpose, Target  # noqa: E402 - likewise
from ov_es_domain.identity import (  # noqa: E402 - likewise
    delivery_key,
    reply_slot,
    signal_key,
    turn_key,
)
from ov_es_domain.lifecycle import Command, handle  # noqa: E402 - likewise
from ov_es_domain.observation import (  # noqa: E402 - likewise
    RunEnding,
    RunReport,
    StreamObservation,
    StreamOutcome,
    Usage,
    WorkspaceChange,
)
from ov_es_domain.recorded import NewEvent  # noqa: E402 - likewise
from ov_es_domain.signal.arrival import Arrival, ArrivalKind, Sender, Via  # noqa: E402 - likewise
from ov_es_domain.signal.commands import AcceptSignal  # noqa: E402 - likewise
from ov_es_domain.thread.commands import NoteThreadTurn  # noqa: E402 - likewise
from ov_es_domain.turn import commands as t  # noqa: E402 - likewise
from ov_es_domain.turn.kinds import TurnKind, Verdict  # noqa: E402 - likewise

NOON = 1_767_268_800.0
TEXT = (
    "@Ada the nightly build has been red since the lockfile moved: could you look at why the"
    " cache key misses, and say here what you find before you change anything?"
)
ANSWER = (
    "The cache key hashes the lockfile's path, which moved with the folder. I'd hash its content"
    " instead; one line in the workflow. Shall I?"
)
COMMITS_EACH = 6
EVENTS_EACH = 9


class _Story:
    """One mention, from its arrival to its answer."""

    def __init__(self, number: int) -> None:
        self._states: dict[str, tuple[Any, int]] = {}
        self._at = NOON + number
        self._number = number
        self.thread = f"thread:10:{number}"

    def _commit(self, *steps: tuple[str, Command, str]) -> list[NewEvent]:
        self._at += 0.25
        events: list[NewEvent] = []
        for key, command, cause in steps:
            lifecycle = lifecycle_of(key)
            state, version = self._states.get(key, (lifecycle.initial, 0))
            bodies, after = handle(lifecycle, state, command)
            self._states[key] = (cast(Any, after), version + len(bodies))
            events.extend(
                NewEvent(
                    key=key,
                    version=version + place,
                    body=body,
                    at=self._at,
                    cause=cause,
                    correlation=self.thread,
                    command=command if place == 1 else None,
                )
                for place, body in enumerate(bodies, start=1)
            )
        return events

    def commits(self) -> Iterator[list[NewEvent]]:
        """Yield what each transaction records."""
        number = self._number
        arrival = Arrival(
            kind=ArrivalKind.MENTION,
            via=Via.SOCKET,
            at=self._at,
            channel_id=10,
            message_id=number,
            text=TEXT,
            sender=Sender(id=1, name="Maya"),
            digest=f"{number:064x}",
        )
        signal, turn = signal_key(arrival.source), turn_key(arrival.source, 1)
        slot = reply_slot(10, number)
        delivery, target = delivery_key(slot), Target(channel_id=10, parent_id=number)
        execution = f"{number:032x}"
        report = RunReport(
            ending=RunEnding.EXITED,
            exit_status=0,
            stream=StreamObservation(
                outcome=StreamOutcome.OK,
                text=ANSWER,
                conversation=execution,
                usage=Usage(input_tokens=5200, output_tokens=310, cost_usd=0.02),
            ),
            workspace=WorkspaceChange(changed=False),
        )
        queue = t.QueueTurn(
            source=arrival.source,
            generation=1,
            kind=TurnKind.FAST,
            group="",
            ticket=None,
            thread=self.thread,
            target=target,
            slot=slot,
            title="",
            text=TEXT,
            sender="Maya",
            by_agent=False,
            accepted_at=self._at,
        )
        accept = AcceptSignal(arrival=arrival, reason="addressed", rule="TH-1")
        noted = NoteThreadTurn(source=arrival.source, by_agent=False)
        accepted = f"{signal}@1"
        yield self._commit(
            (signal, accept, "socket:agent:mention"),
            (self.thread, noted, accepted),
            (turn, queue, accepted),
        )
        start = t.StartTurn(
            execution=execution, epoch=1, runtime="claude", model=None, directory=None, group=""
        )
        yield self._commit((turn, start, f"{turn}@1"))
        spawn = t.NoteSpawn(execution=execution, pid=4711, started="boot:1234", marker=execution)
        yield self._commit((turn, spawn, f"{turn}@2"))
        settle = t.SettleTurn(
            execution=execution,
            attempt=1,
            verdict=Verdict.SUCCEEDED,
            reason="",
            report=report,
            missing=(),
        )
        plan = d.PlanDelivery(
            slot=slot,
            purpose=Purpose.REPLY,
            target=target,
            content=ANSWER,
            source=arrival.source,
            source_at=arrival.at,
            turn=turn,
            ticket=None,
            thread=self.thread,
        )
        yield self._commit((turn, settle, f"{turn}@3"), (delivery, plan, f"{turn}@4"))
        attempt = d.AttemptDelivery(epoch=1, rendered=1)
        yield self._commit((delivery, attempt, f"{delivery}@1"))
        confirm = d.ConfirmDelivery(message_id=10_000_000 + number, proof="answered")
        yield self._commit((delivery, confirm, f"{delivery}@2"))


def commits_of(first: int, count: int) -> list[list[NewEvent]]:
    """Return the transactions of `count` mentions, one after the other."""
    return [
        events for number in range(first, first + count) for events in _Story(number).commits()
    ]
