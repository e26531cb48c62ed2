"""Each lifecycle has a page that tells it state by state, and tells no state that isn't there."""

from pathlib import Path

import pytest

from ov_es_domain.catalogue import LIFECYCLES

PAGES = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "lifecycles"


def _told_states(name: str) -> set[str]:
    """Return the headings that are states; those with a capital are about something else."""
    lines = (PAGES / f"{name}.md").read_text(encoding="utf-8").splitlines()
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    return {heading for heading in headings if heading == heading.lower()}


@pytest.mark.parametrize("name", LIFECYCLES)
def test_a_page_tells_the_states_of_its_machine_and_no_others(name: str) -> None:
    assert _told_states(name) == set(LIFECYCLES[name].table.states)


def test_there_is_a_page_for_each_lifecycle_and_none_besides() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == set(LIFECYCLES)
