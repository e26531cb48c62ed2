"""`replay`: the state as it was, and recorded decisions made again."""

import re
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.adapters.cli.conftest import ROOT, Call
from tests.projections.histories import Book, a_day

from ov_es_adapters.event_log.open_log import open_log
from ov_es_domain.delivery.events import DeliveryDelivered

Keep = Callable[..., Path]
Document = Callable[..., Any]


@pytest.mark.usefixtures("day")
def test_the_state_at_the_end_is_that_of_every_aggregate(document: Document) -> None:
    told = document("replay")

    assert told["position"] == len(a_day().events)
    assert told["state"]["ticket"] == {"ticket:1:5": "reported"}
    assert told["state"]["turn"]["turn:mention:10:110:1"] == "cancelled"


@pytest.mark.usefixtures("day")
def test_the_state_at_a_position_is_that_of_then(document: Document) -> None:
    started = next(e for e in a_day().events if e.body.TOPIC == "ticket.started@1")

    told = document("replay", "--to", started.position)

    assert told["position"] == started.position
    assert told["state"]["ticket"] == {"ticket:1:5": "working"}
    assert document("replay", "--to", 0)["state"]["ticket"] == {}
    assert document("replay", "--to", 10**9)["position"] == len(a_day().events)


@pytest.mark.usefixtures("day")
def test_a_time_stands_for_the_last_position_before_it(document: Document) -> None:
    told = document("replay", "--to", "2026-01-01T12:00:05Z")

    assert told["position"] == 5


@pytest.mark.usefixtures("day")
def test_the_queue_is_shown_as_it_was(document: Document, ov_es: Call) -> None:
    queued = next(e for e in a_day().events if e.body.TOPIC == "turn.queued@1")

    told = document("replay", "--to", queued.position, "--show", "queue")

    assert [entry["key"] for entry in told["state"]["reply"]] == [queued.key]
    assert told["state"]["work"] == []
    shown = ov_es("replay", "--to", queued.position, "--show", "queue").stdout
    assert queued.key in shown


@pytest.mark.usefixtures("day")
def test_one_aggregate_is_shown_as_it_was(document: Document, ov_es: Call) -> None:
    seen = next(e for e in a_day().events if e.body.TOPIC == "ticket.seen@1")

    told = document("replay", "--to", seen.position, "--show", "COR-5")

    assert told["state"]["key"] == "ticket:1:5"
    assert (told["state"]["state"], told["state"]["version"]) == ("seen", 1)
    assert "ticket:1:5 is seen" in ov_es("replay", "--to", seen.position, "--show", "COR-5").stdout


@pytest.mark.usefixtures("day")
def test_people_get_counts(ov_es: Call) -> None:
    assert "1 reported" in ov_es("replay").stdout


@pytest.mark.usefixtures("day")
def test_decisions_that_come_out_alike_exit_with_0(document: Document, ov_es: Call) -> None:
    told = document("replay", "--verify")

    assert told["verified"] is True
    assert told["differs"] == []
    assert told["decisions"] > 0
    assert "come out as recorded" in ov_es("replay", "--verify").stdout


def damaged_day(home: Path) -> None:
    """Keep a log in which a command's answer isn't what the rules say."""
    events = a_day().new_events()
    place = next(n for n, e in enumerate(events) if isinstance(e.body, DeliveryDelivered))
    body = DeliveryDelivered(message_id=999, proof="answered")
    events[place] = replace(events[place], body=body)
    with closing(open_log(f"sqlite:///{home / 'ada.db'}")) as log:
        log.append(events)


def test_a_decision_that_comes_out_otherwise_exits_with_1(home: Path, ov_es: Call) -> None:
    damaged_day(home)

    told = ov_es("replay", "--verify", "--json")

    assert told.exit_code == 1
    found = orjson.loads(told.stdout)
    assert found["verified"] is False
    (difference,) = found["differs"]
    assert difference.keys() >= {"position", "recorded", "now"}
    assert difference["recorded"][0]["data"]["message_id"] == 999
    assert difference["now"][0]["data"]["message_id"] == 205
    assert '"message_id":205' in ov_es("replay", "--verify").stdout


@pytest.mark.usefixtures("day")
def test_another_checkout_decides_in_a_process_of_its_own(document: Document) -> None:
    told = document("replay", "--against", ROOT)

    assert told["verified"] is True
    assert told == document("replay", "--verify")


def test_a_checkout_with_other_rules_differs(keep: Keep, ov_es: Call, tmp_path: Path) -> None:
    keep(a_day())
    other = tmp_path / "other"
    for room in ("domain", "projections", "adapters"):
        shutil.copytree(ROOT / room, other / room, ignore=shutil.ignore_patterns("__pycache__"))
    rules = other / "domain" / "ov_es_domain" / "ticket" / "aggregate.py"
    changed = re.sub(r"title=command\.title", "title=command.title.upper()", rules.read_text())
    assert changed != rules.read_text()
    rules.write_text(changed)

    told = ov_es("replay", "--against", other, "--json")

    assert told.exit_code == 1
    (difference,) = orjson.loads(told.stdout)["differs"]
    assert difference["now"][0]["data"]["title"] == "FIX THE LOGIN FORM"


@pytest.mark.usefixtures("day")
def test_what_is_no_checkout_is_a_bad_call(ov_es: Call, tmp_path: Path) -> None:
    told = ov_es("replay", "--against", tmp_path)

    assert told.exit_code == 2
    assert "is no checkout of ov-es" in told.stderr


@pytest.mark.usefixtures("day")
def test_a_checkout_that_can_not_verify_says_why(ov_es: Call, tmp_path: Path) -> None:
    for room in ("domain", "projections", "adapters"):
        (tmp_path / "empty" / room).mkdir(parents=True)
    package = tmp_path / "empty" / "adapters" / "ov_es_adapters" / "cli"
    package.mkdir(parents=True)
    (package / "main.py").write_text("raise SystemExit('no such thing here')\n")

    told = ov_es("replay", "--against", tmp_path / "empty")

    assert told.exit_code == 2
    assert "no such thing here" in told.stderr


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize("arguments", [("--to", "5"), ("--show", "queue")])
def test_verification_shows_no_state(ov_es: Call, arguments: tuple[str, ...]) -> None:
    assert ov_es("replay", "--verify", *arguments).exit_code == 2


def test_a_log_with_nothing_in_it_has_nothing_to_verify(keep: Keep, document: Document) -> None:
    keep(Book())

    assert document("replay", "--verify")["decisions"] == 0
    assert document("replay")["position"] == 0
