"""Scenario files are read strictly: a slip is told with its place, never passed over."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.simulation.scenario import parse_scenario, read_scenario
from ov_es_adapters.simulation.steps import (
    ClockStep,
    CrashStep,
    DiskStep,
    FrameStep,
    InterruptStep,
    RestartStep,
    TeamStep,
    parse_step,
)

AGENT = {"id": 7, "identifier": "ada", "name": "Ada"}


def _scenario(**fields: object) -> dict[str, object]:
    return {"name": "a story", "agent": AGENT, **fields}


def test_every_kind_of_step_is_read() -> None:
    assert parse_step({"at": 1, "crash": True}, "s") == CrashStep(at=1)
    assert parse_step({"at": 1, "restart": {}}, "s") == RestartStep(at=1, is_upgrade=False)
    assert parse_step({"at": 1, "upgrade": True}, "s") == RestartStep(at=1, is_upgrade=True)
    assert parse_step({"at": 1, "clock": {"jump": -3.5}}, "s") == ClockStep(at=1, jump=-3.5)
    assert parse_step({"at": 1, "disk": {"full": False}}, "s") == DiskStep(at=1, is_full=False)
    assert parse_step({"at": 1, "frame_text": ""}, "s") == FrameStep(at=1, text="")
    assert parse_step({"at": 1, "team": {"tickets": []}}, "s") == TeamStep(
        at=1, change={"tickets": []}
    )
    assert parse_step({"at": 1, "interrupt": {"turn": "ticket:1:5"}}, "s") == InterruptStep(
        at=1, source="ticket:1:5"
    )


@pytest.mark.parametrize(
    ("step", "place"),
    [
        ({"at": 1, "frame2": {}}, r"steps\[0\]\.frame2: unknown field"),
        ({"at": 1}, r"steps\[0\]: a step has exactly one of"),
        ({"at": 1, "crash": True, "stop": True}, r"steps\[0\].*found: crash, stop"),
        ({"crash": True}, r"steps\[0\]: the field 'at' is missing"),
        ({"at": "1", "crash": True}, r"steps\[0\]\.at: must be a number"),
        ({"at": -1, "crash": True}, r"steps\[0\]\.at: must be a number of at least 0"),
        ({"at": 1, "crash": 1}, r"steps\[0\]\.crash: must be true"),
        ({"at": 1, "crash": False}, r"steps\[0\]\.crash: must be true"),
        ({"at": 1, "disconnect": {"for": 5, "until": 6}}, r"steps\[0\]\.disconnect.*'until'"),
        ({"at": 1, "disk": {}}, r"steps\[0\]\.disk.*'full' is missing"),
        ({"at": 1, "clock": {"jump": "1"}}, r"steps\[0\]\.clock\.jump: must be a number"),
        ({"at": 1, "frame": "text"}, r"steps\[0\]\.frame: must be an object"),
        ({"at": 1, "frame_text": {}}, r"steps\[0\]\.frame_text: must be a text"),
        (7, r"steps\[0\]: a step is an object"),
    ],
)
def test_a_slip_in_a_step_is_named_with_its_place(step: object, place: str) -> None:
    with pytest.raises(BadInputError, match=place):
        parse_scenario(_scenario(steps=[step], until=10))


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"step": []}, "unknown field 'step'"),
        ({"agent": {"id": 7}}, "agent: the field 'identifier' is missing"),
        ({"agent": {"identifier": "ada", "nick": "a"}}, "agent: unknown field 'nick'"),
        ({"agent": {"identifier": "ada", "id": True}}, r"agent\.id: must be a number"),
        ({"watch": {"runtime": "gemini"}}, "watch.runtime: 'gemini' is none of claude"),
        ({"watch": {"concurency": 3}}, "watch: unknown field 'concurency'"),
        ({"watch": {"workdir": "yes"}}, "watch.workdir: must be true or false"),
        ({"runs": [{"source": "ticket:1:5", "takes": "4"}]}, r"runs\[0\]\.takes: must be a"),
        ({"runs": [{"source": "ticket:1:5", "plays": "a.jsonl"}]}, r"runs\[0\]\.plays: unknown"),
        ({"runs": [{"source": "x", "does": [{"txt": "a"}]}]}, r"runs\[0\]\.does\[0\].*txt"),
        ({"steps": [{"at": 9, "crash": True}], "until": 5}, r"steps\[0\]\.at: 9 is after `until`"),
        ({"expect": {"pots": []}}, r"expect\.pots: unknown field"),
        ({"until": None}, "until: must be a number"),
        ({"faults": [{"tool": "post_message", "call": 1, "kind": "slow"}]}, r"faults\[0\]"),
        ({"faults": [{"tool": "post_message", "cal": 1, "kind": "late"}]}, r"faults\[0\]"),
        ({"team": {"tickts": []}}, "tickts"),
        ({"team": {"tickets": [{"id": 5, "slugg": "x"}]}}, r"tickets\[0\].*slugg"),
    ],
)
def test_a_slip_anywhere_is_named(fields: dict[str, object], place: str) -> None:
    with pytest.raises(BadInputError, match=place):
        parse_scenario(_scenario(**fields))


def test_steps_come_in_the_order_of_their_times_and_then_of_the_file() -> None:
    steps = [
        {"at": 5, "frame_text": "c"},
        {"at": 1, "frame_text": "a"},
        {"at": 5, "frame_text": "d"},
    ]

    read = parse_scenario(_scenario(steps=steps))

    assert [step.text for step in read.steps if isinstance(step, FrameStep)] == ["a", "c", "d"]
    assert read.until > 5


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"name": "x",\n  "agent": }', "line 2, column 12"),
        ('{"name": "x", "name": "y"}', "'name' is there twice"),
        ('{"until": NaN}', "NaN is no number"),
        ('{"name": "\\ud800"}', "half a character"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "a scenario is an object"),
        ("", "line 1, column 1"),
    ],
)
def test_a_file_that_is_no_scenario_is_refused_with_its_name(
    tmp_path: Path, text: str, place: str
) -> None:
    path = tmp_path / "story.json"
    path.write_text(text)

    with pytest.raises(BadInputError, match=place) as caught:
        read_scenario(path)

    assert str(path) in str(caught.value)


def test_a_file_that_cannot_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.json", tmp_path):
        with pytest.raises(BadInputError, match="can't be read"):
            read_scenario(path)
    (tmp_path / "latin.json").write_bytes(b'{"name": "\xe9"}')
    with pytest.raises(BadInputError, match="must be UTF-8"):
        read_scenario(tmp_path / "latin.json")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_whatever_the_json_says_it_is_read_or_refused(value: Any) -> None:
    for given_value in (value, _scenario(steps=[value]), _scenario(expect=value)):
        with contextlib.suppress(BadInputError):
            parse_scenario(json.loads(json.dumps(given_value)))
