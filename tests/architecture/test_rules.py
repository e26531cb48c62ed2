"""Every rule of the watcher is told in the docs and shown by a test, or says why it isn't."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.rule_coverage import AREAS, ROOT, RULES, rules, shown_by

NAMED = re.compile(rf"\b({'|'.join(AREAS)})-(\d+)\b")
SHOWN = shown_by()


def _known(rule: str) -> bool:
    area, _, number = rule.partition("-")
    return int(number) in AREAS[area].numbers


def _readable_files() -> Iterator[Path]:
    for folder in ("domain", "projections", "adapters", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".md"} and "_build" not in path.parts:
                yield path


@pytest.mark.parametrize("area", AREAS)
def test_an_area_lists_each_of_its_rules_once_and_in_order(area: str) -> None:
    assert [rule.id for rule in rules(area)] == [f"{area}-{n}" for n in AREAS[area].numbers]


def test_no_list_is_left_over_from_an_area_that_is_gone() -> None:
    assert {path.stem.upper() for path in RULES.glob("*.json")} == set(AREAS)


@pytest.mark.parametrize("area", AREAS)
def test_each_rule_is_shown_by_a_test_or_says_why_not(area: str) -> None:
    bare = [rule.id for rule in rules(area) if not SHOWN.get(rule.id) and not rule.because]

    assert bare == []


@pytest.mark.parametrize("area", AREAS)
def test_each_rule_is_told_in_whole_sentences(area: str) -> None:
    for rule in rules(area):
        assert rule.says.endswith("."), rule.id
        assert not rule.because or rule.because.endswith("."), rule.id


@pytest.mark.parametrize("area", AREAS)
def test_the_lists_have_one_form(area: str) -> None:
    text = (RULES / f"{area.lower()}.json").read_text(encoding="utf-8")

    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"


def test_no_test_names_a_rule_that_does_not_exist() -> None:
    assert [rule for rule in SHOWN if not _known(rule)] == []


def test_nor_do_the_program_and_its_docs() -> None:
    unknown = {
        f"{path.relative_to(ROOT)}: {area}-{number}"
        for path in _readable_files()
        for area, number in NAMED.findall(path.read_text(encoding="utf-8"))
        if not _known(f"{area}-{number}")
    }

    assert unknown == set()
