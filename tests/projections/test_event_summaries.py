"""Every event that a log can hold is said in plain words."""

from dataclasses import replace

from tests.projections.histories import a_day

from ov_es_domain.catalogue import LIFECYCLES
from ov_es_domain.turn.events import TurnSucceeded
from ov_es_projections.event_summaries import SUMMARIZED, summary


def test_every_topic_has_a_summary() -> None:
    topics = {topic for lifecycle in LIFECYCLES.values() for topic in lifecycle.topics}

    assert topics == SUMMARIZED


def test_a_day_can_be_told_line_by_line() -> None:
    told = [summary(event) for event in a_day().events]

    assert all(told)
    assert "message 205 is out (proof: answered)" in told
    assert any("Maya stood it down with mention:10:111 (TH-7)" in line for line in told)


def test_what_the_stream_tells_otherwise_is_said() -> None:
    event, ended = next(
        (event, event.body) for event in a_day().events if isinstance(event.body, TurnSucceeded)
    )
    report = replace(ended.report, contradictions=("the stream tells of edits, git of none",))

    told = summary(event._replace(body=replace(ended, report=report)))

    assert told.endswith("; the stream tells of edits, git of none")
