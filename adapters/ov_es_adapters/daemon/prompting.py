"""Puts together what a run is told: the request, what is remembered, and the lane's rules."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from logging import getLogger
from typing import Protocol

from ov_es_adapters.daemon.prompt_data import (
    DEFAULT_BOUNDS,
    PromptBounds,
    arguments,
    fenced,
    literal,
)
from ov_es_adapters.daemon.settings import AgentIdentity
from ov_es_adapters.errors import StoreError
from ov_es_domain.identity import turn_key
from ov_es_domain.policy.lanes import SHARED_GROUP
from ov_es_domain.policy.team_facts import TicketFacts
from ov_es_domain.turn.aggregate import Turn
from ov_es_domain.turn.kinds import TurnKind
from ov_es_projections.cutting import one_line
from ov_es_projections.projection import Row, Value
from ov_es_projections.thread_memory import conversation_of, recalled

_LOGGER = getLogger("ov_es.prompting")
_CODEX = "codex"


class Rows(Protocol):
    """Where memory is read."""

    def rows(self, table: str, **equal: Value) -> Sequence[Row]:
        """Return the rows of a projection whose columns have these values."""
        ...


@cache
def _template(name: str) -> str:
    found = files("ov_es_adapters.prompts").joinpath(f"{name}.md")
    return found.read_text(encoding="utf-8").rstrip("\n")


class Prompts:
    """The texts for one agent and one kind of agent program."""

    def __init__(
        self,
        agent: AgentIdentity,
        memory: Rows | None = None,
        *,
        runtime: str = "",
        bounds: PromptBounds = DEFAULT_BOUNDS,
    ) -> None:
        """Read memory from `memory`; None: there is none. `runtime` is the program's name."""
        self._agent = agent
        self._memory = memory
        self._is_codex = runtime == _CODEX
        self._bounds = bounds

    # --- the system prompt -----------------------------------------------------------------------

    def charter(self, turn: Turn) -> str:
        """Return the system prompt; outside of the work lane it has no rules for code (RN-3)."""
        name = self._line(self._agent.name or self._agent.identifier)
        is_work = turn.kind is TurnKind.FULL
        parts = [
            _template("charter").format(name=name),
            _template("charter_work" if is_work else "charter_reply"),
        ]
        if self._is_codex:
            parts.append(_template("codex"))
        return "\n\n".join(parts)

    # --- the prompt ------------------------------------------------------------------------------

    def prompt(self, turn: Turn, facts: TicketFacts | None) -> str:
        """Return the prompt of a run, or of its recovery (CY-4, CY-16)."""
        parts = [self._context(turn, facts), self._recall(turn), self._rules(turn, facts)]
        original = "\n\n".join(part for part in parts if part)
        if turn.first_report is None:
            return original
        missing = "\n".join(f"- {self._line(what)}" for what in turn.missing)
        publishing = f"\n{_template('work_codex')}\n" if self._is_codex else ""
        return _template("recovery").format(
            missing=fenced(missing, self._bounds.missing_characters_max),
            publishing=publishing,
            original=original,
        )

    def _line(self, text: str) -> str:
        return one_line(text, self._bounds.line_characters_max)

    def _context(self, turn: Turn, facts: TicketFacts | None) -> str:
        if facts is not None:
            return self._ticket(turn, facts)
        if not turn.text.strip():
            return ""
        return self._message(turn)

    def _ticket(self, turn: Turn, facts: TicketFacts) -> str:
        """Say all that others chose inside the fence; outside are our words and quoted ids."""
        ids = arguments(project_id=facts.project_id, ticket_id=facts.ticket_id)
        said = [
            f"Slug: {self._line(facts.slug) or '(none: people know it by its title)'}",
            f"Title: {self._line(facts.title)}",
            f"Status: {self._line(facts.status)}",
        ]
        if facts.priority:
            said.append(f"Priority: {self._line(facts.priority)}")
        text = "\n".join([*said, "", facts.description]).rstrip()
        parts = [
            f"A ticket that is assigned to you. For tools only: {ids}",
            fenced(text, self._bounds.text_characters_max),
        ]
        if turn.directory is not None and turn.group not in {"", SHARED_GROUP}:
            prepared = _template("work_worktree").format(directory=literal(turn.directory))
            parts.append(prepared)
        return "\n".join(parts)

    def _message(self, turn: Turn) -> str:
        where = ""
        if turn.target is not None and turn.target.channel_id is not None:
            ids = arguments(channel_id=turn.target.channel_id, parent_id=turn.target.parent_id)
            where = f" Where it stands, for tools only: {ids}"
        kind = "an agent" if turn.by_agent else "a person"
        who = f"From: {self._line(turn.sender) or 'somebody'} ({kind})"
        text = fenced(f"{who}\n\n{turn.text}", self._bounds.text_characters_max)
        return f"A message for you.{where}\n{text}"

    def _recall(self, turn: Turn) -> str:
        """Return what is remembered; that it can't be read stops nothing (MEM-5, MEM-11)."""
        conversation = conversation_of(ticket=turn.ticket, thread=turn.thread)
        if self._memory is None or conversation is None:
            return ""
        try:
            rows = self._memory.rows("thread_memory", conversation=conversation)
        except StoreError as error:
            _LOGGER.warning("%s starts without memory: %s", turn.source, error)
            return ""
        most = self._bounds
        entries = recalled(
            rows,
            but_not=turn_key(turn.source, turn.generation),
            entries_max=most.memory_entries_max,
            characters_max=most.memory_characters_max,
        )
        if not entries:
            return ""
        # Each entry is bounded by itself, so the block as a whole needs no cut of its own.
        said = "\n".join(f"- {entry}" for entry in entries)
        return f"{_template('memory')}\n{fenced(said, len(said))}"

    def _rules(self, turn: Turn, facts: TicketFacts | None) -> str:
        rules = self._work(turn, facts) if turn.kind is TurnKind.FULL else [_reply(turn)]
        return "\n\n".join([*rules, _template("delivery")])

    def _work(self, turn: Turn, facts: TicketFacts | None) -> list[str]:
        given = "work_request" if turn.text.strip() else "work_unsupplied"
        parts = [
            _template("work_ticket" if facts is not None else given),
            _template("work").format(identifier=self._agent.identifier),
        ]
        if self._is_codex:
            parts.append(_template("work_codex"))
        return parts


def _reply(turn: Turn) -> str:
    match turn.kind:
        case TurnKind.COORD | TurnKind.SWEEP | TurnKind.INTRO:
            return _template(turn.kind.value)
        case TurnKind.FAST | TurnKind.FULL:
            return _template("reply" if turn.text.strip() else "inbox")
