"""Pasts for tests: commands that are answered by the real rules, one decision at a time."""

from dataclasses import dataclass, field, replace
from typing import Any, cast

from ov_es_domain.catalogue import lifecycle_of
from ov_es_domain.delivery import commands as d
from ov_es_domain.delivery.target import Purpose, Target
from ov_es_domain.identity import (
    delivery_key,
    mention_source,
    reply_slot,
    report_slot,
    signal_key,
    thread_key,
    ticket_key,
    turn_key,
    watch_key,
)
from ov_es_domain.lifecycle import Aggregate, Command, Event, fold, handle
from ov_es_domain.observation import (
    RunEnding,
    RunReport,
    StreamObservation,
    StreamOutcome,
    WorkspaceChange,
)
from ov_es_domain.recorded import NewEvent, Recorded
from ov_es_domain.signal.arrival import Arrival, ArrivalKind, Sender, Via
from ov_es_domain.signal.commands import AcceptSignal, RefuseSignal, SuppressSignal
from ov_es_domain.thread.commands import NoteThreadTurn, StandThreadDown
from ov_es_domain.ticket import commands as k
from ov_es_domain.turn import commands as t
from ov_es_domain.turn.kinds import StopReason, TurnKind, Verdict
from ov_es_domain.watch import commands as w

NOON = 1_767_268_800.0
"""2026-01-01T12:00:00Z."""
CHANNEL = 10


def report(text: str = "Done.", **stream: Any) -> RunReport:
    """Return the report of a run that ended well and shows all that a ticket asks for."""
    seen: dict[str, Any] = {
        "outcome": StreamOutcome.OK,
        "text": text,
        "edits": 1,
        "ticket_read": True,
        "ticket_updated": True,
        **stream,
    }
    return RunReport(
        ending=RunEnding.EXITED,
        exit_status=0,
        stream=StreamObservation(**seen),
        workspace=WorkspaceChange(changed=True, commits=1),
    )


@dataclass
class Book:
    """A log that is written command by command."""

    events: list[Recorded] = field(default_factory=list[Recorded])
    now: float = NOON

    def state(self, key: str) -> Any:
        """Return an aggregate as it stands."""
        return fold(lifecycle_of(key), (e.body for e in self.events if e.key == key))

    def version(self, key: str) -> int:
        return sum(1 for event in self.events if event.key == key)

    def say(
        self, key: str, command: Command, *, cause: str | None = None, story: str | None = None
    ) -> None:
        """Answer a command by the rules, and record what happens."""
        bodies, _ = handle(cast(Any, lifecycle_of(key)), self.state(key), command)
        self._record(key, bodies, command, cause, story)

    def write(self, key: str, *bodies: Event, cause: str = "test:written") -> None:
        """Record events that no rule has decided: what an audit should find."""
        self._record(key, bodies, None, cause, None)

    def _record(
        self, key: str, bodies: Any, command: Command | None, cause: str | None, story: str | None
    ) -> None:
        self.now += 1.0
        version = self.version(key)
        own = f"{key}@{version}" if version else "test:first"
        for number, body in enumerate(bodies, start=1):
            event = NewEvent(
                key=key,
                version=version + number,
                body=body,
                at=self.now,
                cause=cause or own,
                correlation=story or self._story(key),
                command=command if number == 1 else None,
            )
            self.events.append(Recorded.of(event, len(self.events) + 1))

    def _story(self, key: str) -> str:
        earlier = next((e.correlation for e in reversed(self.events) if e.key == key), None)
        return earlier or key

    def last(self, key: str) -> str:
        """Return how events name the newest event of an aggregate."""
        return f"{key}@{self.version(key)}"

    def new_events(self) -> list[NewEvent]:
        """Return all of it as what is about to be recorded."""
        return [
            NewEvent(
                key=e.key,
                version=e.version,
                body=e.body,
                at=e.at,
                cause=e.cause,
                correlation=e.correlation,
                command=e.command,
            )
            for e in self.events
        ]

    # --- what happens on most days ---------------------------------------------------------------

    def watch(self, agent: str = "ada") -> None:
        key = watch_key(agent)
        begin = w.BeginWatch(agent=agent, host="laptop", pid=1234, program="ov-es 0.1")
        self.say(key, begin, cause="start")
        self.say(key, w.NoteConnection(number=1), cause="socket:opened")

    def arrival(self, message: int, text: str = "@Ada how is it going?", **more: Any) -> Arrival:
        known: dict[str, Any] = {
            "kind": ArrivalKind.MENTION,
            "via": Via.SOCKET,
            "at": self.now,
            "channel_id": CHANNEL,
            "message_id": message,
            "text": text,
            "sender": Sender(id=1, name="Maya"),
            "digest": f"digest-{message}",
            **more,
        }
        return Arrival(**known)

    def mention(self, message: int, text: str = "@Ada how is it going?", **more: Any) -> str:
        """Let a mention arrive and be accepted; return the key of its turn."""
        arrival = self.arrival(message, text, **more)
        thread = thread_key(CHANNEL, arrival.root_id)
        assert thread is not None
        signal = signal_key(arrival.source)
        accept = AcceptSignal(arrival=arrival, reason="addressed", rule="TH-1")
        self.say(signal, accept, cause="socket:agent:mention", story=thread)
        because = self.last(signal)
        noted = NoteThreadTurn(source=arrival.source, by_agent=False)
        self.say(thread, noted, cause=because, story=thread)
        turn = turn_key(arrival.source, 1)
        queue = t.QueueTurn(
            source=arrival.source,
            generation=1,
            kind=TurnKind.FAST,
            group="",
            ticket=None,
            thread=thread,
            target=Target(channel_id=CHANNEL, parent_id=arrival.root_id),
            slot=reply_slot(CHANNEL, message),
            title="",
            text=text,
            sender="Maya",
            by_agent=False,
            accepted_at=arrival.at,
        )
        self.say(turn, queue, cause=because, story=thread)
        return turn

    def duplicate(self, message: int) -> None:
        """Let the same mention come once more."""
        arrival = self.arrival(message)
        signal = signal_key(arrival.source)
        repeats = self.last(signal)
        suppress = SuppressSignal(
            arrival=arrival, reason="duplicate", repeats=repeats, rule="WS-14"
        )
        self.say(signal, suppress, cause="socket:agent:mention")

    def refused(self, message: int) -> None:
        arrival = self.arrival(message, "@Bob have a look")
        refuse = RefuseSignal(arrival=arrival, reason="explicit-other-recipient", rule="TH-3")
        self.say(signal_key(arrival.source), refuse, cause="socket:agent:mention")

    def start(self, turn: str, execution: str = "run-1", *, directory: str | None = None) -> None:
        state = self.state(turn)
        start = t.StartTurn(
            execution=execution,
            epoch=1,
            runtime="scripted",
            model=None,
            directory=directory,
            group=state.group,
        )
        self.say(turn, start)
        if state.ticket is not None:
            started = k.StartTicket(turn=turn, execution=execution)
            self.say(state.ticket, started, cause=self.last(turn))
        self.say(turn, t.NoteSpawn(execution=execution, pid=77, started="boot:1", marker="m"))

    def settle(
        self,
        turn: str,
        verdict: Verdict = Verdict.SUCCEEDED,
        *,
        reason: str = "",
        missing: tuple[str, ...] = (),
        seen: RunReport | None = None,
    ) -> None:
        state = self.state(turn)
        settle = t.SettleTurn(
            execution=state.execution,
            attempt=state.attempt,
            verdict=verdict,
            reason=reason,
            report=report() if seen is None else seen,
            missing=missing,
        )
        self.say(turn, settle)

    def answer(self, turn: str, content: str = "Done.") -> str:
        """Promise the answer of a turn that succeeded; return the delivery's key."""
        state = self.state(turn)
        key = delivery_key(state.slot)
        plan = d.PlanDelivery(
            slot=state.slot,
            purpose=Purpose.REPLY,
            target=state.target,
            content=content,
            source=state.source,
            source_at=state.accepted_at,
            turn=turn,
            ticket=state.ticket,
            thread=state.thread,
        )
        self.say(key, plan, cause=self.last(turn), story=state.thread)
        return key

    def post(self, delivery: str, message: int) -> None:
        self.say(delivery, d.AttemptDelivery(epoch=1, rendered=1))
        self.say(delivery, d.ConfirmDelivery(message_id=message, proof="answered"))

    def answered(self, message: int, posted: int, content: str = "Done.") -> str:
        """Let a mention arrive and be answered; return the delivery's key."""
        turn = self.mention(message)
        self.start(turn, f"run-{message}")
        self.settle(turn, seen=report(content))
        delivery = self.answer(turn, content)
        self.post(delivery, posted)
        return delivery

    def stand_down(self, message: int, root: int) -> None:
        """Let somebody stop us in a thread: what waits in it is cancelled, what runs stopped."""
        arrival = self.arrival(message, "@Ada stop", parent_id=root)
        thread = thread_key(CHANNEL, root)
        assert thread is not None
        signal = signal_key(arrival.source)
        accept = AcceptSignal(arrival=arrival, reason="stand-down", rule="TH-7")
        self.say(signal, accept, cause="socket:agent:mention", story=thread)
        down = StandThreadDown(by="Maya", source=arrival.source, at=self.now)
        self.say(thread, down, cause=self.last(signal), story=thread)
        for turn in dict.fromkeys(e.key for e in self.events if e.key.startswith("turn:")):
            state = self.state(turn)
            if state.thread != thread or not state.is_open:
                continue
            stop = StopReason.THREAD_CANCELLED
            command: Command = (
                t.RequestStop(reason=stop, by="Maya")
                if state.is_running
                else t.CancelTurn(reason=stop, by="Maya")
            )
            self.say(turn, command, cause=self.last(thread))

    def ticket(self, number: int = 5, *, group: str = "shared-workspace") -> str:
        """Let a ticket be assigned, seen and queued; return the key of its turn."""
        key = ticket_key(1, number)
        arrival = Arrival(
            kind=ArrivalKind.TICKET_ASSIGNED,
            via=Via.SOCKET,
            at=self.now,
            project_id=1,
            ticket_id=number,
            digest=f"ticket-{number}",
        )
        signal = signal_key(key)
        accept = AcceptSignal(arrival=arrival, reason="assigned", rule="TK-16")
        self.say(signal, accept, cause="socket:task:assigned", story=key)
        because = self.last(signal)
        generation = self.state(signal).generation
        turn = turn_key(key, generation)
        revision = f"r{generation}"
        slot = report_slot(1, number, revision)
        see = k.SeeTicket(
            project_id=1,
            ticket_id=number,
            slug=f"COR-{number}",
            title="Fix the login form",
            revision=revision,
            reason="assigned",
        )
        self.say(key, see, cause=because, story=key)
        self.say(key, k.QueueTicket(turn=turn, report=slot), cause=because)
        target = Target(channel_id=CHANNEL, parent_id=None)
        owe = d.OweDelivery(
            slot=slot,
            purpose=Purpose.REPORT,
            target=target,
            source=key,
            source_at=self.now,
            ticket=key,
        )
        self.say(delivery_key(slot), owe, cause=self.last(key), story=key)
        queue = t.QueueTurn(
            source=key,
            generation=generation,
            kind=TurnKind.FULL,
            group=group,
            ticket=key,
            thread=None,
            target=target,
            slot=None,
            title=f"COR-{number}",
            text="Fix the login form",
            sender="",
            by_agent=False,
            accepted_at=self.now,
        )
        self.say(turn, queue, cause=self.last(key), story=key)
        return turn

    def reported(self, turn: str, message: int) -> str:
        """Let a ticket's turn end well, and its report be posted; return the delivery's key."""
        self.start(turn, f"run-{turn}", directory="/src/COR-5")
        self.settle(turn)
        key = self.state(turn).ticket
        slot = self.state(key).report
        cause = self.last(key)
        self.say(key, k.ReportTicket(turn=turn, revision="r9"), cause=cause)
        delivery = delivery_key(slot)
        owed = self.state(delivery)
        plan = d.PlanDelivery(
            slot=slot,
            purpose=Purpose.REPORT,
            target=owed.target,
            content="I've finished COR-5.",
            source=key,
            source_at=owed.source_at,
            turn=turn,
            ticket=key,
            thread=None,
        )
        self.say(delivery, plan, cause=self.last(key))
        self.post(delivery, message)
        return delivery

    def blocker(self, turn: str, notice: str = "I couldn't complete this request.") -> str:
        """Tell people why a turn has no answer; return the delivery's key."""
        state = self.state(turn)
        slot = f"blocker:{state.target.channel_id}:{state.target.parent_id}:{notice}"
        plan = d.PlanDelivery(
            slot=slot,
            purpose=Purpose.BLOCKER,
            target=state.target,
            content=notice,
            source=state.source,
            source_at=self.now,
            turn=turn,
            ticket=state.ticket,
            thread=state.thread,
        )
        story = state.ticket or state.thread
        self.say(delivery_key(slot), plan, cause=self.last(turn), story=story)
        return delivery_key(slot)


def a_day() -> Book:
    """Return a day on which nothing goes wrong, and much happens."""
    book = Book()
    book.watch()
    book.answered(100, 205, "It's in review.")
    book.duplicate(100)
    book.refused(101)
    book.reported(book.ticket(5), 301)
    turn = book.mention(110, "@Ada and the tests?")
    book.start(turn, "run-110")
    book.stand_down(111, root=110)
    book.settle(turn, seen=report("They pass."))
    return book


def with_body(event: Recorded, body: Event) -> Recorded:
    """Return an event that says something else: what a damaged log holds."""
    return event._replace(body=body)


__all__ = [
    "CHANNEL",
    "NOON",
    "Aggregate",
    "Book",
    "a_day",
    "mention_source",
    "replace",
    "report",
    "with_body",
]
