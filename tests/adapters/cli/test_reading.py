"""`why`, `show`, `log`, `queue`, `status`: what the log says, for scripts and for people."""

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.adapters.cli.conftest import Call
from tests.projections.histories import Book, a_day

from ov_es_adapters.cli.output import moment
from ov_es_domain.ticket.commands import PauseTicket

Keep = Callable[..., Path]
Document = Callable[..., Any]


# --- why -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("day")
def test_why_gives_the_chain_from_the_frame_to_the_post(document: Document) -> None:
    told = document("why", "205")

    assert told.keys() == {"subject", "outcome", "chain", "siblings"}
    assert told["subject"] == "delivery:reply:10:100"
    assert told["chain"][0].keys() == {"position", "type", "key", "cause", "summary"}
    assert told["chain"][0]["cause"] == "socket:agent:mention"
    assert told["chain"][-1]["type"] == "delivery.delivered@1"


def test_why_says_the_same_before_and_after_projections_have_caught_up(
    keep: Keep, document: Document
) -> None:
    keep(a_day(), "ada")
    keep(a_day(), "bob", catch_up=True)

    for subject in ("205", "mention:10:111", "COR-5"):
        assert document("why", subject, "--name", "ada") == document(
            "why", subject, "--name", "bob"
        )


@pytest.mark.usefixtures("day")
def test_why_tells_people_in_one_sentence(ov_es: Call) -> None:
    told = ov_es("why", "mention:10:101")

    assert told.exit_code == 0
    assert "Nothing was posted: it's refused, explicit-other-recipient (TH-3)." in told.stdout


@pytest.mark.usefixtures("day")
def test_why_shows_people_what_is_easily_taken_for_it(ov_es: Call) -> None:
    told = ov_es("why", "mention:10:100")

    assert "another arrival of the same source" in told.stdout


@pytest.mark.usefixtures("day")
def test_why_of_something_unknown_says_what_was_looked_for_and_what_comes_near(
    ov_es: Call,
) -> None:
    told = ov_es("why", "mention:10:10")

    assert told.exit_code == 2
    assert "nothing in the log is called 'mention:10:10'" in told.stderr
    assert "did you mean" in told.stderr
    assert "mention:10:101" in told.stderr
    assert len(told.stderr.splitlines()) == 1


@pytest.mark.usefixtures("day")
def test_why_of_something_far_from_all_names_the_log(ov_es: Call) -> None:
    told = ov_es("why", "§§§")

    assert told.exit_code == 2
    assert "`ov-es log` shows all there is" in told.stderr


# --- show ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("day")
def test_show_gives_an_aggregate_with_its_fields_and_events(document: Document) -> None:
    told = document("show", "ticket:1:5")

    assert told.keys() == {"key", "type", "state", "version", "fields", "events"}
    assert (told["key"], told["type"], told["state"]) == ("ticket:1:5", "ticket", "reported")
    assert told["version"] == len(told["events"]) == 4
    assert told["fields"]["slug"] == "COR-5"
    assert "state" not in told["fields"]


@pytest.mark.usefixtures("day")
def test_show_takes_what_people_call_it(document: Document, ov_es: Call) -> None:
    assert document("show", "cor-5")["key"] == "ticket:1:5"

    told = ov_es("show", "COR-5")
    assert "ticket:1:5 is reported, after 4 events" in told.stdout


@pytest.mark.usefixtures("day")
def test_show_of_an_unknown_key_is_a_bad_call(ov_es: Call) -> None:
    assert ov_es("show", "ticket:9:9").exit_code == 2


# --- log -------------------------------------------------------------------------------------


def lines(ov_es: Call, *arguments: object) -> list[Any]:
    told = ov_es("log", "--json", *arguments)
    assert told.exit_code == 0, told.output
    return [orjson.loads(line) for line in told.stdout.splitlines()]


@pytest.mark.usefixtures("day")
def test_log_prints_every_event_as_a_line_of_json(ov_es: Call) -> None:
    found = lines(ov_es)
    events = a_day().events

    assert len(found) == len(events)
    assert found[2] == {
        "position": 3,
        "recorded_at": moment(events[2].at),
        "type": "signal.accepted@1",
        "key": "signal:mention:10:100",
        "version": 1,
        "cause": "socket:agent:mention",
        "correlation": "thread:10:100",
        "data": found[2]["data"],
    }
    assert found[2]["data"]["arrival"]["text"] == "@Ada how is it going?"
    assert found[2]["recorded_at"].endswith("Z")


@pytest.mark.usefixtures("day")
def test_log_is_filtered(ov_es: Call) -> None:
    whole = lines(ov_es)
    ticket = [e for e in whole if e["key"] == "ticket:1:5"]
    story = [e for e in whole if e["correlation"] == "ticket:1:5"]

    assert lines(ov_es, "--since", 10) == whole[10:]
    assert lines(ov_es, "--since", whole[9]["recorded_at"]) == whole[10:]
    assert lines(ov_es, "--aggregate", "ticket:1:5") == ticket
    assert (
        lines(ov_es, "--aggregate", "ticket:1:5", "--since", ticket[1]["position"]) == ticket[2:]
    )
    assert lines(ov_es, "--correlation", "ticket:1:5") == story
    assert lines(ov_es, "--limit", 2) == whole[:2]
    for kind in ("turn.started@1", "turn.started"):
        assert {e["type"] for e in lines(ov_es, "--type", kind)} == {"turn.started@1"}
    assert {e["type"].split(".")[0] for e in lines(ov_es, "--type", "turn")} == {"turn"}
    assert lines(ov_es, "--type", "turn", "--correlation", "nothing") == []


@pytest.mark.usefixtures("day")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--type", "turn.begun"), "did you mean"),
        (("--type", "§"), "use one of"),
        (("--aggregate", "nonsense"), "is no key"),
        (("--aggregate", "place:1"), "of no known type"),
        (("--since", "yesterday"), "neither a position"),
        (("--since", "-1"), "neither a position"),
        (("--limit", "0"), "0 is not in the range"),
    ],
)
def test_log_refuses_what_it_can_not_filter_by(
    ov_es: Call, arguments: tuple[str, ...], said: str
) -> None:
    told = ov_es("log", *arguments)

    assert told.exit_code == 2
    assert said in told.stderr


@pytest.mark.usefixtures("day")
def test_log_for_people_has_one_line_for_each_event(ov_es: Call) -> None:
    told = ov_es("log", "--type", "delivery.delivered")

    assert len(told.stdout.splitlines()) == 2
    assert "message 205 is out (proof: answered)" in told.stdout


def test_text_from_outside_can_not_steer_the_terminal(keep: Keep, ov_es: Call) -> None:
    book = Book()
    book.mention(100, "@Ada \x1b[2J\x1b]0;gone\x07 and\nmore \u202e backwards")
    keep(book)

    for arguments in (("log",), ("why", "100"), ("show", "signal:mention:10:100"), ("queue",)):
        told = ov_es(*arguments)
        assert told.exit_code == 0, told.output
        assert "\x1b" not in told.stdout
        assert "\x07" not in told.stdout
        assert "\u202e" not in told.stdout


# --- queue and status ------------------------------------------------------------------------


def busy_day() -> Book:
    book = a_day()
    running = book.ticket(6)
    book.ticket(7)
    book.start(running, "run-6")
    book.mention(120)
    book.ticket(8, group="/src/COR-8")
    book.say("ticket:1:8", PauseTicket(reason="time-limit", revision=None))
    return book


def test_queue_gives_both_lanes_in_the_order_of_starting(keep: Keep, document: Document) -> None:
    keep(busy_day())

    told = document("queue")

    assert told.keys() == {"work", "reply"}
    assert [(e["key"], e["deferral"]) for e in told["work"]] == [
        ("turn:ticket:1:8:1", None),
        ("turn:ticket:1:7:1", "group-busy"),
    ]
    assert [e["key"] for e in told["reply"]] == ["turn:mention:10:120:1"]
    assert all(e["age"] > 0 and "group" in e for e in told["work"])


def test_queue_is_told_how_much_room_there_is(keep: Keep, document: Document) -> None:
    keep(busy_day())

    told = document("queue", "--concurrency", 1)

    assert {e["deferral"] for e in told["work"]} == {"lane-full"}


def test_queue_shows_people_behind_whom_a_turn_waits(keep: Keep, ov_es: Call) -> None:
    keep(busy_day())

    told = ov_es("queue")

    assert "work: 2 waiting" in told.stdout
    assert "turn:ticket:1:6:1" in told.stdout


def test_status_gives_all_that_is_going_on(keep: Keep, document: Document) -> None:
    keep(busy_day())

    told = document("status")

    assert {"agents", "turns", "queues", "deliveries", "projections"} <= told.keys()
    assert [(a["agent"], a["state"]) for a in told["agents"]] == [("ada", "connected")]
    assert [turn["key"] for turn in told["turns"]] == ["turn:ticket:1:6:1"]
    assert [len(told["queues"][lane]) for lane in ("work", "reply")] == [2, 1]
    assert [ticket["key"] for ticket in told["tickets"]] == ["ticket:1:8"]
    assert told["deliveries"]["states"] == {"delivered": 2, "owed": 3}
    assert {p["name"]: p["lag"] > 0 for p in told["projections"]}["story"]


def test_status_tells_people_the_same(keep: Keep, ov_es: Call) -> None:
    keep(busy_day(), catch_up=True)

    told = ov_es("status")

    assert told.exit_code == 0
    for said in ("ada", "connected", "turn:ticket:1:6:1", "COR-8", "paused", "all up to date"):
        assert said in told.stdout


def test_status_of_an_empty_log_says_that_there_is_nothing(keep: Keep, ov_es: Call) -> None:
    keep(Book())

    told = ov_es("status")

    assert told.exit_code == 0
    assert "nobody has ever watched" in told.stdout
    assert "nothing runs" in told.stdout


# --- which log, and that it isn't touched ------------------------------------------------------


def test_with_several_logs_the_agent_has_to_be_named(keep: Keep, ov_es: Call) -> None:
    keep(a_day(), "ada")
    keep(Book(), "bob")

    told = ov_es("status")

    assert told.exit_code == 2
    assert "ada, bob" in told.stderr
    assert ov_es("show", "COR-5", "--name", "ada").exit_code == 0


def test_a_home_without_a_log_says_what_to_run(ov_es: Call) -> None:
    told = ov_es("status")

    assert told.exit_code == 3
    assert "ov-es demo" in told.stderr


@pytest.mark.usefixtures("day")
def test_an_agent_without_a_log_is_not_configured(ov_es: Call) -> None:
    assert ov_es("status", "--name", "bob").exit_code == 3
    assert ov_es("status", "--name", "../ada").exit_code == 2


def test_a_store_by_url_wins_over_home(day: Path, ov_es: Call, tmp_path: Path) -> None:
    moved = tmp_path / "other.db"
    shutil.move(day, moved)

    assert ov_es("--store", f"sqlite:///{moved}", "show", "COR-5").exit_code == 0
    assert ov_es("--store", f"sqlite:///{tmp_path}/none.db", "status").exit_code == 3
    assert not (tmp_path / "none.db").exists()
    assert ov_es("--store", "mysql://x", "status").exit_code == 2


def test_a_file_that_is_no_log_is_told_in_one_line(home: Path, ov_es: Call) -> None:
    (home / "ada.db").write_bytes(b"this isn't a database" * 100)

    told = ov_es("status")

    assert told.exit_code == 4
    assert len(told.stderr.splitlines()) == 1


def test_a_hole_in_the_log_is_corruption_with_its_position(day: Path, ov_es: Call) -> None:
    with sqlite3.connect(day) as database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f'DROP TRIGGER "{name}"')
        (table,) = next(
            row
            for row in database.execute(
                "SELECT tbl_name FROM sqlite_master WHERE sql LIKE '%originator_version%'"
            )
        )
        gone = f'DELETE FROM "{table}" WHERE originator_id = ?'  # noqa: S608 - its own name
        database.execute(gone, ["ticket:1:5"])
    database.close()

    for arguments in (("log",), ("audit",), ("replay", "--verify")):
        told = ov_es(*arguments)
        assert told.exit_code == 4, told.output
        assert "the log is corrupt at position" in told.stderr


def test_rows_of_another_version_are_not_read_and_events_are(day: Path, ov_es: Call) -> None:
    with sqlite3.connect(day) as database:
        database.execute("DROP TABLE watches")
        database.execute("DELETE FROM projections WHERE name = 'known_watches'")
    database.close()

    told = ov_es("status")

    assert told.exit_code == 3
    assert "another version of ov-es has written known_watches" in told.stderr
    assert ov_es("log").exit_code == 0
    assert ov_es("replay", "--verify").exit_code == 0
    assert ov_es("rebuild").exit_code == 0
    assert ov_es("status").exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [("status",), ("queue",), ("log",), ("why", "205"), ("show", "COR-5"), ("audit",)],
)
def test_reading_changes_nothing(day: Path, ov_es: Call, arguments: tuple[str, ...]) -> None:
    before = day.read_bytes()

    assert ov_es(*arguments).exit_code == 0
    assert day.read_bytes() == before
