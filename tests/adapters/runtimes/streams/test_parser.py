"""What holds for the readers of all dialects."""

import subprocess
import sys

import pytest
from tests.adapters.runtimes.streams.reading import read

from ov_es_adapters.runtimes.streams import DIALECTS, parser_for
from ov_es_domain.observation import StreamOutcome


@pytest.mark.parametrize("dialect", DIALECTS)
def test_str_21_a_limit_in_plain_text_is_the_quota_in_every_dialect(dialect: str) -> None:
    for exit_status in (0, 1):
        seen = read(dialect, "limit reached, resets 18:00", exit_status=exit_status)

        assert (seen.outcome, seen.text) == (StreamOutcome.QUOTA, "")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_str_15_silence_and_exit_0_is_no_answer_in_every_dialect(dialect: str) -> None:
    assert read(dialect).outcome is StreamOutcome.NO_ANSWER
    assert read(dialect, "", " \t").outcome is StreamOutcome.NO_ANSWER


@pytest.mark.parametrize("dialect", DIALECTS)
def test_ev_1_an_exit_status_alone_proves_nothing(dialect: str) -> None:
    seen = read(dialect, "some text")

    assert seen.outcome is StreamOutcome.ERROR
    assert (seen.unreadable_lines, seen.calls, seen.edits) == (1, (), 0)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_conclusion_can_be_drawn_twice(dialect: str) -> None:
    parser = parser_for(dialect)
    parser.feed(b"{}")

    assert parser.conclude(0) == parser.conclude(0)
    assert parser.conclude(None).outcome is StreamOutcome.UNKNOWN


def test_a_dialect_that_nobody_reads_is_refused() -> None:
    with pytest.raises(LookupError, match="claude, codex, opencode, acp"):
        parser_for("gemini")


def test_naming_the_dialects_loads_no_reader() -> None:
    code = (
        "import sys, ov_es_adapters.runtimes.streams; "
        "print([name for name in sys.modules if 'orjson' in name or 'claude' in name])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip

    assert done.stdout.strip() == "[]"
