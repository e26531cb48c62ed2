"""What the readers of all dialects share: lines in, counts, and the shape of the conclusion."""

from abc import ABC, abstractmethod

from ov_es_adapters.runtimes.streams.endings import by_exit, says_quota
from ov_es_adapters.runtimes.streams.json_values import Json, read_object
from ov_es_adapters.runtimes.streams.ledger import Ledger
from ov_es_adapters.runtimes.streams.policy_block import MARK, find_block
from ov_es_domain.observation import StreamObservation, StreamOutcome, Usage

_NOTICE_BYTES_MAX = 2000
"""A line of plain text that is longer is no notice for people."""


class Dialect(ABC):
    """One run's stdout. Only a line's own fields count, never text inside of them (STR-13)."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._conversation: str | None = None
        self._has_output = False
        self._unreadable = 0
        self._unknown = 0
        self._is_out_of_quota = False
        """The program said so outside of any final event."""
        self._block: str | None = None
        self._may_block = False
        """The line at hand contains the marker of a policy block, somewhere."""

    def feed(self, line: bytes) -> None:
        """Take one line without its line feed."""
        if not line or line.isspace():
            return
        self._has_output = True
        event = read_object(line)
        if event is None:
            self._unreadable += 1
            if len(line) <= _NOTICE_BYTES_MAX and says_quota(line.decode(errors="replace")):
                self._is_out_of_quota = True
            return
        self._may_block = MARK in line
        self._take(event)

    def conclude(self, exit_status: int | None) -> StreamObservation:
        """Say what the stream proves."""
        outcome = self._outcome(exit_status)
        answer = self._text(outcome)
        if outcome is StreamOutcome.OK and not answer.strip():
            outcome = StreamOutcome.NO_ANSWER
        evidence = self._ledger.evidence(is_cut=self._is_cut(exit_status))
        return StreamObservation(
            outcome=outcome,
            text=answer,
            conversation=self._conversation,
            calls=evidence.calls,
            commands=evidence.commands,
            edits=evidence.edits,
            posts=evidence.posts,
            ticket_read=evidence.ticket_read,
            ticket_updated=evidence.ticket_updated,
            usage=self._usage(),
            unreadable_lines=self._unreadable,
            unknown_events=self._unknown,
            policy_block=self._block,
        )

    @abstractmethod
    def _take(self, event: Json) -> None:
        """Take one event."""

    @abstractmethod
    def _outcome(self, exit_status: int | None) -> StreamOutcome:
        """Return how the run ended; OK only where the stream has the proof."""

    @abstractmethod
    def _text(self, outcome: StreamOutcome) -> str:
        """Return the agent's last words, never a program's words about its failure (STR-05)."""

    @abstractmethod
    def _usage(self) -> Usage | None:
        """Return what the run spent, where it's told."""

    def _is_cut(self, exit_status: int | None) -> bool:
        """Tell whether a call may have been under way that isn't in the stream."""
        del exit_status
        return False

    def _without_end(self, exit_status: int | None) -> StreamOutcome:
        """Return how a run ended whose final event is missing."""
        if self._is_out_of_quota:
            return StreamOutcome.QUOTA
        return by_exit(exit_status, has_output=self._has_output)

    def _look_for_block(self, output: str) -> None:
        """Look into what a command printed for a push that needs an authorization (BL-11)."""
        if self._may_block and not self._block:
            found = find_block(output)
            self._block = self._block if found is None else found
