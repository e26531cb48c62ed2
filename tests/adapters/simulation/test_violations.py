"""The truth of the simulated world held against the log: every lie shows."""

from dataclasses import replace

import pytest

from ov_es_adapters.ports import ProcessIdentity
from ov_es_adapters.runtimes.playbook import ScriptedRun
from ov_es_adapters.simulation.printed import Printed
from ov_es_adapters.simulation.processes import SimulatedProcess
from ov_es_adapters.simulation.result import Outcome, Violation
from ov_es_adapters.simulation.scenario import Scenario, parse_scenario
from ov_es_adapters.simulation.simulator import simulate
from ov_es_adapters.simulation.violations import Evidence, FramesTaken, violations
from ov_es_domain.signal.events import SignalSuppressed
from ov_es_projections.inline import INLINE
from ov_es_projections.projection import MemoryTables, Row

CONTENT = "@Ada what's the status?"


def _scenario(**fields: object) -> Scenario:
    message = {"id": 100, "content": CONTENT, "sender": {"id": 1, "name": "Maya"}}
    frame = {"type": "agent:mention", "data": {"channel_id": 10, "message": message}}
    return parse_scenario(
        {
            "name": "a mention",
            "agent": {"id": 7, "identifier": "ada", "name": "Ada"},
            "team": {
                "people": [{"id": 1, "name": "Maya"}],
                "channels": [{"id": 10, "project_id": 1, "name": "core"}],
                "messages": [{"id": 100, "channel_id": 10, "person": 1, "content": CONTENT}],
            },
            "runs": [{"source": "mention:10:100", "takes": 4, "does": [{"text": "Yes."}]}],
            "steps": [{"at": 1, "frame": frame}, {"at": 2, "frame": frame}],
            "until": 60,
            **fields,
        }
    )


@pytest.fixture
def outcome() -> Outcome:
    return simulate(_scenario())


def _evidence(outcome: Outcome) -> Evidence:
    tables = MemoryTables(INLINE)
    for event in outcome.events:
        tables.apply(event)
    return Evidence(
        events=outcome.events,
        wall=outcome.events[-1].at + 60,
        posts=outcome.truth.posts,
        processes=[],
        rows=tables.select,
        frames=[],
        failures=[],
    )


def _rules(evidence: Evidence) -> list[str]:
    return [violation.rule for violation in violations(evidence)]


def _process(started: float, ended: float | None, marker: str) -> SimulatedProcess:
    process = SimulatedProcess(
        identity=ProcessIdentity(pid=1, started="", marker=marker),
        source="ticket:1:5",
        script=ScriptedRun(source="ticket:1:5"),
        workspace=None,
        call_team=lambda _tool, _arguments: "",
        disabled_tools=frozenset(),
        printed=Printed("scripted", session=marker, directory=None),
        started_at=started,
        ended_at=ended,
    )
    if ended is not None:
        process.gone.set()
    return process


def test_an_honest_log_breaks_nothing(outcome: Outcome) -> None:
    assert _rules(_evidence(outcome)) == []


def test_a_second_copy_of_a_post_shows_though_the_log_knows_of_one(outcome: Outcome) -> None:
    again = replace(outcome.truth.posts[0], message_id=999)
    evidence = replace(_evidence(outcome), posts=(*outcome.truth.posts, again))

    assert _rules(evidence) == ["posted-twice"]


def test_a_post_that_only_the_log_believes_in_is_lost(outcome: Outcome) -> None:
    assert _rules(replace(_evidence(outcome), posts=())) == ["lost"]


def test_a_post_that_the_log_never_meant_is_unaccounted(outcome: Outcome) -> None:
    stray = replace(outcome.truth.posts[0], message_id=999, content="Something else.")
    evidence = replace(_evidence(outcome), posts=(*outcome.truth.posts, stray))

    assert _rules(evidence) == ["unaccounted-post"]


def test_a_frame_without_an_outcome_shows(outcome: Outcome) -> None:
    taken = FramesTaken(incarnation=1, frames=3, after=0, until=len(outcome.events))

    assert _rules(replace(_evidence(outcome), frames=[taken])) == ["signal-without-outcome"]
    assert _rules(replace(_evidence(outcome), frames=[replace(taken, frames=2)])) == []
    assert _rules(replace(_evidence(outcome), frames=[replace(taken, frames=1)])) == [
        "signal-twice"
    ]


def test_two_programs_for_one_source_show_whatever_the_log_believes(outcome: Outcome) -> None:
    overlapping = [_process(10, 30, "execution-8"), _process(20, 40, "execution-9")]
    following = [_process(10, 20, "execution-8"), _process(20, 40, "execution-9")]

    assert _rules(replace(_evidence(outcome), processes=overlapping)) == ["two-runs-at-once"]
    assert _rules(replace(_evidence(outcome), processes=following)) == []


def test_a_program_that_nobody_holds_any_more_is_left(outcome: Outcome) -> None:
    evidence = replace(_evidence(outcome), processes=[_process(10, None, "execution-9")])

    assert _rules(evidence) == ["process-left"]


def test_a_live_row_that_differs_from_the_rebuilt_one_shows(outcome: Outcome) -> None:
    honest = _evidence(outcome)

    def tampered(table: str) -> list[Row]:
        return [
            {**row, "state": "planned"} if table == "deliveries" else row
            for row in honest.rows(table)
        ]

    assert _rules(replace(honest, rows=tampered)) == ["projection-differs"]


def test_a_log_that_no_machine_allows_is_corrupt(outcome: Outcome) -> None:
    without_the_queueing = [e for e in outcome.events if not e.body.TOPIC.startswith("turn.q")]

    assert "corrupt-log" in _rules(replace(_evidence(outcome), events=without_the_queueing))


def test_a_daemon_that_died_for_no_reason_shows(outcome: Outcome) -> None:
    evidence = replace(_evidence(outcome), failures=["KeyError: 'x'"])

    assert violations(evidence) == (
        Violation(rule="daemon-died", key="", position=0, message="KeyError: 'x'"),
    )


def test_the_outcome_of_a_repeated_frame_is_one_event(outcome: Outcome) -> None:
    suppressed = [e for e in outcome.events if isinstance(e.body, SignalSuppressed)]

    assert len(suppressed) == 1
