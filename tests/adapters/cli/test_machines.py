"""`machines`: every machine in every form."""

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.adapters.cli.conftest import Call

from ov_es_adapters.cli.machine_drawing import layers
from ov_es_domain.catalogue import LIFECYCLES

Document = Callable[..., Any]
SVG = "{http://www.w3.org/2000/svg}"


def test_all_machines_are_given_with_states_and_transitions(document: Document) -> None:
    told = document("machines")

    assert told.keys() == LIFECYCLES.keys()
    for name, lifecycle in LIFECYCLES.items():
        assert told[name]["states"] == list(lifecycle.table.states)
        assert len(told[name]["transitions"]) == len(lifecycle.table.targets)
    assert {"name": "attempt", "source": "planned", "target": "attempting"} in told["delivery"][
        "transitions"
    ]


def test_one_machine_is_given_by_its_name(document: Document) -> None:
    assert list(document("machines", "turn")) == ["turn"]


def test_an_unknown_machine_is_a_bad_call(ov_es: Call) -> None:
    told = ov_es("machines", "engine")

    assert told.exit_code == 2
    assert "signal, ticket" in told.stderr


@pytest.mark.parametrize("name", LIFECYCLES)
def test_mermaid_has_every_arrow(ov_es: Call, name: str) -> None:
    told = ov_es("machines", name, "--format", "mermaid").stdout
    table = LIFECYCLES[name].table

    assert f"[*] --> {table.initial}" in told
    for arrow in table.transitions:
        (line,) = [x for x in told.splitlines() if f" {arrow.source} --> {arrow.target}:" in x]
        assert arrow.name in line


@pytest.mark.parametrize("name", LIFECYCLES)
def test_the_drawing_is_well_formed_and_says_itself_in_words(ov_es: Call, name: str) -> None:
    told = ov_es("machines", name, "--format", "svg").stdout
    table = LIFECYCLES[name].table
    picture = ET.fromstring(told)  # noqa: S314 - our own output

    title, description = picture.find(f"{SVG}title"), picture.find(f"{SVG}desc")
    words = {text.text for text in picture.iter(f"{SVG}text")}
    assert title is not None
    assert title.text == f"The life of a {name}"
    assert description is not None
    assert table.initial in (description.text or "")
    assert set(table.states) <= words
    assert len(list(picture.iter(f"{SVG}path"))) == 1 + len(
        {(arrow.source, arrow.target) for arrow in table.transitions}
    )


@pytest.mark.parametrize("name", LIFECYCLES)
def test_no_two_states_are_drawn_in_one_place(ov_es: Call, name: str) -> None:
    told = ov_es("machines", name, "--format", "svg").stdout
    picture = ET.fromstring(told)  # noqa: S314 - our own output
    boxes = [
        (float(box.attrib["x"]), float(box.attrib["y"]))
        for box in picture.iter(f"{SVG}rect")
        if box.attrib.get("rx") == "8"
    ]

    assert len(set(boxes)) == len(boxes) == len(LIFECYCLES[name].table.states)
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    assert all(0 <= x < width and 0 <= y < height for x, y in boxes)


def test_an_svg_shows_one_machine(ov_es: Call) -> None:
    assert ov_es("machines", "--format", "svg").exit_code == 2


def test_people_get_tables(ov_es: Call) -> None:
    assert "delivery: begins as unplanned" in ov_es("machines").stdout


def test_the_layers_begin_with_the_initial_state() -> None:
    for lifecycle in LIFECYCLES.values():
        found = layers(lifecycle.table)
        assert found[0] == [lifecycle.table.initial]
        assert sorted(state for layer in found for state in layer) == sorted(
            lifecycle.table.states
        )
