"""Stories that end as they should, and leave something that a person should know."""

from pathlib import Path

import pytest

from ov_es_adapters.simulation.scenario import read_scenario
from ov_es_adapters.simulation.simulator import simulate
from ov_es_projections.audit import Severity, audit

_FOLDER = Path(__file__).parent


def _findings(story: str) -> dict[str, tuple[Severity, str]]:
    outcome = simulate(read_scenario(_FOLDER / f"{story}.json"))
    report = audit(outcome.events, at=outcome.events[-1].at)
    return {found.rule: (found.severity, found.message) for found in report.findings}


def test_tru_06_a_notice_is_no_answer() -> None:
    severity, message = _findings("tru_06_an_answer_without_words")["answered-with-a-notice"]

    assert severity is Severity.NOTE
    assert message == "mention:10:100 was answered with a notice, not with an answer"


def test_own_04_somebody_elses_post_in_our_name_is_a_warning() -> None:
    severity, message = _findings("own_04_somebody_posts_as_us")["someone-else-posts-as-us"]

    assert severity is Severity.WARNING
    assert message == "message 101 was posted as us, and no delivery knows it"


@pytest.mark.parametrize(
    ("story", "says"),
    [
        ("out_14_an_answer_that_is_days_old", "expired after 72 h"),
        ("out_19_a_post_that_is_answered_with_an_error", "refused"),
        ("adr_11_a_thread_that_is_gone", "thread-refused: thread not found"),
        ("bl_07_a_note_whose_answer_is_lost", "no tool shows whether the note is there"),
    ],
)
def test_what_could_not_be_said_is_a_warning_with_its_reason(story: str, says: str) -> None:
    severity, message = _findings(story)["undeliverable"]

    assert severity is Severity.WARNING
    assert says in message


def test_an_answer_that_came_is_no_finding() -> None:
    assert _findings("dup_01_copies_while_the_first_is_worked_on") == {}
