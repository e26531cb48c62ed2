"""What every log promises, whichever store is below: one suite for all of them."""

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from tests.contracts.event_histories import connected, histories
from tests.contracts.postgres_server import PostgresServer

from ov_es_adapters.errors import (
    BadInputError,
    ConcurrentWriteError,
    CorruptLogError,
    FencedError,
    NotConfiguredError,
    StoreError,
)
from ov_es_adapters.event_log import recorder_log
from ov_es_adapters.event_log.comparison import Difference, compare_with_rebuild
from ov_es_adapters.event_log.log import EventLog, Fence
from ov_es_adapters.event_log.open_log import open_log
from ov_es_domain.recorded import NewEvent, Recorded
from ov_es_domain.ticket.events import TicketRevisionNoted, TicketSeen
from ov_es_domain.watch.events import WatchConnected
from ov_es_projections.inline import INLINE
from ov_es_projections.projection import (
    ColumnType,
    MemoryTables,
    Projection,
    Put,
    Row,
    RowChange,
    Table,
    Value,
)
from ov_es_projections.story import TRACKED

CHILD = Path(__file__).with_name("writing_child.py")
ROOMS = [str(Path(__file__).parents[2] / room) for room in ("domain", "projections", "adapters")]


@dataclass
class Place:
    """Somewhere to keep logs."""

    new_url: Callable[[], str]
    url: str = field(init=False)

    def __post_init__(self) -> None:
        """Begin with a place of its own."""
        self.url = self.new_url()

    @contextmanager
    def log(self, *, url: str | None = None, **options: Any) -> Iterator[EventLog]:
        with closing(open_log(url or self.url, **options)) as log:
            yield log


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    numbers = itertools.count(1)
    if request.param == "memory":
        return Place(lambda: "sqlite:///:memory:")
    if request.param == "file":
        return Place(lambda: f"sqlite:///{tmp_path}/log-{next(numbers)}.db")
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return Place(server.url)


POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)
everywhere = pytest.mark.parametrize("place", ["file", "memory", POSTGRES], indirect=True)
where_others_can_come = pytest.mark.parametrize("place", ["file", POSTGRES], indirect=True)
on_postgres = pytest.mark.parametrize("place", [POSTGRES], indirect=True)
quickly = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def seen(ticket: int, version: int = 1, title: str = "Fix") -> NewEvent:
    return NewEvent(
        key=f"ticket:1:{ticket}",
        version=version,
        body=TicketSeen(
            project_id=1,
            ticket_id=ticket,
            slug=f"COR-{ticket}",
            title=title,
            revision="1",
            reason="assigned",
        ),
        at=2.5,
        cause="operator:ada",
        correlation=f"ticket:1:{ticket}",
    )


def rows_of(log: EventLog, projections: Sequence[Projection]) -> dict[str, list[Row]]:
    return {
        table.name: log.select(table.name, order=table.key)
        for projection in projections
        for table in projection.tables
    }


def rows_from_zero(log: EventLog, projections: Sequence[Projection]) -> dict[str, list[Row]]:
    memory = MemoryTables(tuple(projections))
    for event in log.stream():
        memory.apply(event)
    return {
        table.name: sorted(
            memory.select(table.name), key=lambda row: [str(row[name]) for name in table.key]
        )
        for projection in projections
        for table in projection.tables
    }


def same_rows(found: dict[str, list[Row]], wanted: dict[str, list[Row]], log: EventLog) -> None:
    """Compare as sets, with a NUL as the store shows it."""

    def held(value: Value) -> Value:
        is_postgres = "postgresql" in cast(recorder_log.RecorderLog, log).store.name
        return value.replace("\0", "\ufffd") if is_postgres and isinstance(value, str) else value

    def bag(rows: list[Row]) -> list[str]:
        return sorted(repr({name: held(value) for name, value in row.items()}) for row in rows)

    assert {name: bag(rows) for name, rows in found.items()} == {
        name: bag(rows) for name, rows in wanted.items()
    }


# --- appending and reading -----------------------------------------------------------------------


@everywhere
def test_an_empty_log_has_nothing(place: Place) -> None:
    with place.log() as log:
        assert log.position() == 0
        assert list(log.stream()) == []
        assert log.load("watch:ada") == []
        assert log.at(1) is None
        assert log.find("watch:ada", 1) is None
        log.check()
        assert set(log.lag().values()) == {0}


@everywhere
def test_what_is_appended_is_read_as_it_was(place: Place) -> None:
    with place.log() as log:
        recorded = log.append([connected(1), seen(5), connected(2)])

        assert [event.reference for event in recorded] == [
            "watch:ada@1",
            "ticket:1:5@1",
            "watch:ada@2",
        ]
        assert list(log.stream()) == recorded
        assert [event.position for event in recorded] == [1, 2, 3]
        assert log.load("watch:ada") == [recorded[0], recorded[2]]
        assert log.at(2) == recorded[1]
        assert log.find("watch:ada", 2) == recorded[2]
        assert log.find("watch:ada", 3) is None
        assert log.position() == 3


@everywhere
def test_a_stream_begins_and_ends_where_it_is_told(place: Place) -> None:
    with place.log() as log:
        recorded = log.append([connected(version) for version in range(1, 8)])

        assert list(log.stream(after=2, until=5)) == recorded[2:5]
        assert list(log.stream(after=6)) == recorded[6:]
        assert list(log.stream(after=7)) == []


@everywhere
def test_a_stream_goes_on_over_pages(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_log, "_PAGE", 3)
    with place.log() as log:
        recorded = log.append([connected(version) for version in range(1, 10)])

        assert list(log.stream()) == recorded
        assert list(log.stream(until=6)) == recorded[:6]


@everywhere
@quickly
@given(commits=histories)
def test_any_history_is_read_as_it_was_written(
    place: Place, commits: list[list[NewEvent]]
) -> None:
    with place.log(url=place.new_url()) as log:
        for events in commits:
            log.append(events)
        stored = list(log.stream())

        wanted = [event for events in commits for event in events]
        assert [event.body for event in stored] == [event.body for event in wanted]
        assert [event.command for event in stored] == [event.command for event in wanted]
        assert [event.at for event in stored] == [event.at for event in wanted]


@everywhere
def test_an_append_of_nothing_is_nothing(place: Place) -> None:
    with place.log() as log:
        assert log.append([]) == []
        assert log.position() == 0


@everywhere
def test_a_change_is_noticed_and_a_look_is_none(place: Place) -> None:
    with place.log() as log:
        before = log.changes()
        log.select("tickets")
        assert log.changes() == before

        log.append([connected(1)])

        assert log.changes() != before


@where_others_can_come
def test_a_change_by_somebody_else_is_noticed(place: Place) -> None:
    with place.log() as log, place.log() as other:
        before = log.changes()

        other.append([connected(1)])

        assert log.changes() != before
        assert log.position() == 1


# --- rows ----------------------------------------------------------------------------------------


@everywhere
def test_rows_are_written_with_their_events(place: Place) -> None:
    with place.log() as log:
        log.append([seen(5), seen(6, title="Ship")])

        assert log.select("tickets", {"key": "ticket:1:6"})[0]["title"] == "Ship"
        assert len(log.select("tickets")) == 2


@everywhere
def test_rows_are_selected_by_value_by_values_and_by_none(place: Place) -> None:
    with place.log() as log:
        log.append([seen(number) for number in (3, 1, 2)])

        def keys(**options: Any) -> list[Value]:
            return [row["key"] for row in log.select("tickets", **options)]

        assert keys(where={"slug": "COR-2"}) == ["ticket:1:2"]
        assert keys(where={"slug": ["COR-1", "COR-3"]}, order=["key"]) == [
            "ticket:1:1",
            "ticket:1:3",
        ]
        assert keys(where={"slug": []}) == []
        assert len(keys(where={"turn": None})) == 3
        assert keys(order=["since", "key"], limit=2) == ["ticket:1:1", "ticket:1:2"]
        with pytest.raises(KeyError, match="no column"):
            log.select("tickets", {"nonsense": 1})


# --- one transaction -----------------------------------------------------------------------------


@everywhere
def test_evt_04_a_conflict_writes_nothing_of_the_whole_transaction(place: Place) -> None:
    with place.log() as log:
        log.append([connected(1)])
        before = rows_of(log, INLINE)

        with pytest.raises(ConcurrentWriteError):
            log.append([seen(5), connected(1, number=99)], raises="watch:ada")

        assert log.position() == 1
        assert log.load("ticket:1:5") == []
        assert rows_of(log, INLINE) == before
        assert log.select("fences") == []
        assert log.append([seen(5), connected(2)])[-1].version == 2


@everywhere
def test_a_fenced_off_writer_writes_nothing(place: Place) -> None:
    with place.log() as log:
        log.append([connected(1)], raises="watch:ada")
        log.append([connected(2)], fence=Fence("watch:ada", 1))
        log.append([connected(3)], raises="watch:ada")

        with pytest.raises(FencedError, match="watch:ada was taken over"):
            log.append([connected(4), seen(5)], fence=Fence("watch:ada", 1))

        assert log.position() == log.load("watch:ada")[-1].position
        assert len(list(log.stream())) == 3
        assert log.select("tickets") == []
        assert log.append([connected(4)], fence=Fence("watch:ada", 2))


@everywhere
def test_a_fence_that_was_never_raised_is_at_nought(place: Place) -> None:
    with place.log() as log:
        log.append([connected(1)], fence=Fence("watch:ada", 0))

        with pytest.raises(FencedError):
            log.append([connected(2)], fence=Fence("watch:ada", 1))


@everywhere
def test_what_could_not_be_read_back_is_not_written(place: Place) -> None:
    with place.log() as log:
        unreadable = replace(connected(1), body=WatchConnected(number=cast(int, float("nan"))))

        with pytest.raises(StoreError, match="nothing was written"):
            log.append([seen(5), unreadable])

        assert log.position() == 0


# --- projections ---------------------------------------------------------------------------------


@everywhere
@quickly
@given(commits=histories)
def test_rows_built_from_zero_equal_those_that_grew(
    place: Place, commits: list[list[NewEvent]]
) -> None:
    with place.log(url=place.new_url()) as log:
        for events in commits:
            log.append(events)
            log.catch_up()
        everything = (*INLINE, *TRACKED)
        grown = rows_of(log, everything)

        same_rows(grown, rows_from_zero(log, everything), log)
        log.rebuild()
        same_rows(rows_of(log, everything), grown, log)
        assert set(log.lag().values()) == {0}


def _counting(version: int, step: int = 1) -> Projection:
    table = Table(
        name="counts",
        columns={"key": ColumnType.TEXT, "value": ColumnType.INTEGER},
        key=("key",),
    )

    def apply(event: Recorded) -> list[RowChange]:
        return [Put("counts", {"key": event.key, "value": event.version * step})]

    return Projection(name="counting", version=version, tables=(table,), apply=apply)


@everywhere
def test_a_tracked_projection_is_folded_in_batches_behind_its_checkpoint(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder_log, "_PAGE", 4)
    told: list[int] = []
    with place.log(tracked=(_counting(1),)) as log:
        log.append([connected(version) for version in range(1, 11)])
        assert log.lag()["counting"] == 10

        assert log.catch_up(told.append) == 10

        assert told == [4, 8, 10]
        assert log.lag()["counting"] == 0
        assert log.select("counts") == [{"key": "watch:ada", "value": 10}]
        assert log.catch_up() == 0
        log.append([connected(11)])
        assert log.catch_up() == 1


@where_others_can_come
def test_a_projection_of_another_version_is_built_anew_when_the_log_is_opened(
    place: Place,
) -> None:
    with place.log(inline=(_counting(1),), tracked=()) as log:
        log.append([connected(1), connected(2)])
        assert log.select("counts") == [{"key": "watch:ada", "value": 2}]

    with place.log(inline=(_counting(2, step=100),), tracked=()) as log:
        assert log.select("counts") == [{"key": "watch:ada", "value": 200}]


@where_others_can_come
def test_a_tracked_projection_of_another_version_begins_at_zero(place: Place) -> None:
    with place.log(tracked=(_counting(1),)) as log:
        log.append([connected(1), connected(2)])
        log.catch_up()

    with place.log(tracked=(_counting(2, step=100),)) as log:
        assert log.select("counts") == []
        assert log.lag()["counting"] == 2
        log.catch_up()
        assert log.select("counts") == [{"key": "watch:ada", "value": 200}]


@everywhere
@quickly
@given(commits=histories)
def test_stored_rows_are_those_of_a_rebuild(place: Place, commits: list[list[NewEvent]]) -> None:
    with place.log(url=place.new_url()) as log:
        for events in commits:
            log.append(events)
        assert compare_with_rebuild(log) == []

        log.catch_up()

        assert compare_with_rebuild(log) == []


@everywhere
def test_aud_02_a_row_altered_by_hand_is_shown_with_both_values(place: Place) -> None:
    with place.log() as log:
        log.append([seen(5), seen(6)])
        right = log.select("tickets", {"key": "ticket:1:5"})[0]
        gone = log.select("tickets", {"key": "ticket:1:6"})[0]
        with cast(recorder_log.RecorderLog, log).store.transaction(commit=True) as cursor:
            cursor.execute("UPDATE tickets SET state = 'reported' WHERE key = 'ticket:1:5'")
            cursor.execute("DELETE FROM tickets WHERE key = 'ticket:1:6'")
            cursor.execute("INSERT INTO tickets (key, state) VALUES ('ticket:9:9', 'seen')")

        found = compare_with_rebuild(log)

        assert found == [
            Difference(
                table="tickets",
                key=("ticket:1:5",),
                stored={**right, "state": "reported"},
                rebuilt=right,
            ),
            Difference(table="tickets", key=("ticket:1:6",), stored=None, rebuilt=gone),
            Difference(
                table="tickets",
                key=("ticket:9:9",),
                stored={**dict.fromkeys(right), "key": "ticket:9:9", "state": "seen"},
                rebuilt=None,
            ),
        ]
        log.rebuild()
        assert compare_with_rebuild(log) == []


@where_others_can_come
def test_evt_11_rows_that_other_rules_made_are_reported(place: Place) -> None:
    with place.log(inline=(_counting(1),), tracked=()) as log:
        log.append([connected(1), connected(2)])

        found = compare_with_rebuild(log, inline=(_counting(1, step=100),), tracked=())

        assert [(each.stored, each.rebuilt) for each in found] == [
            ({"key": "watch:ada", "value": 2}, {"key": "watch:ada", "value": 200})
        ]


@where_others_can_come
def test_rows_are_compared_while_others_write(place: Place) -> None:
    with place.log() as log:
        child = _start_child(place.url, "a", 40)
        while child.poll() is None:
            assert compare_with_rebuild(log) == []

        assert child.wait() == 0
        assert len(log.select("tickets")) == 1


# --- who opens it, and how -----------------------------------------------------------------------


@where_others_can_come
def test_a_log_is_still_there_when_it_is_opened_again(place: Place) -> None:
    with place.log() as log:
        recorded = log.append([seen(5), connected(1)])

    with place.log(create=False) as log:
        assert list(log.stream()) == recorded
        assert log.append([connected(2)])[0].version == 2


@where_others_can_come
def test_a_log_that_is_not_there_is_only_made_when_that_is_wanted(place: Place) -> None:
    with pytest.raises(NotConfiguredError, match="there is no log at"):
        open_log(place.url, create=False)
    with pytest.raises(NotConfiguredError, match="there is no log at"):
        open_log(place.url, read_only=True)


@where_others_can_come
def test_a_reader_cannot_write(place: Place) -> None:
    with place.log() as log:
        log.append([connected(1)])
        with place.log(read_only=True) as reader:
            assert len(list(reader.stream())) == 1
            assert reader.select("fences") == []

            with pytest.raises(StoreError):
                reader.append([connected(2)])
            with pytest.raises(StoreError):
                reader.rebuild()
        assert log.position() == 1


@pytest.mark.parametrize("url", ["mysql://ada:hunter2@db/x", "", "log.db"])
def test_a_store_of_no_known_kind_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BadInputError) as caught:
        open_log(url)

    assert "hunter2" not in str(caught.value)


@everywhere
def test_an_event_that_is_of_another_kind_than_its_aggregate_is_found_by_a_check(
    place: Place,
) -> None:
    with place.log() as log:
        log.append([connected(1), connected(1, key="turn:1:1"), connected(2)])

        with pytest.raises(CorruptLogError, match=r"turn:1:1.*watch\.connected@1") as caught:
            log.check()

        assert caught.value.position == 2


# --- several writers -----------------------------------------------------------------------------


def _start_child(url: str, name: str, count: int) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(ROOMS)}
    command = [sys.executable, str(CHILD), url, name, str(count)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


def _tail(log: EventLog, children: "list[subprocess.Popen[bytes]]") -> list[Recorded]:
    """Follow the log's end until all writers are gone."""
    read: list[Recorded] = []
    are_gone = False
    while True:
        read.extend(log.stream(after=read[-1].position if read else 0))
        if are_gone:
            return read
        are_gone = all(child.poll() is not None for child in children)


@where_others_can_come
def test_evt_01_processes_that_write_at_once_lose_nothing_and_double_nothing(
    place: Place,
) -> None:
    with place.log() as log:
        children = [_start_child(place.url, name, 60) for name in ("a", "b", "c")]

        tailed = _tail(log, children)

        assert [child.wait(60) for child in children] == [0, 0, 0]
        everything = list(log.stream())
        assert tailed == everything
        assert [event.version for event in log.load("watch:shared")] == list(range(1, 181))
        for name in ("a", "b", "c"):
            assert [event.version for event in log.load(f"ticket:1:{name}")] == list(range(1, 61))
            assert log.select("tickets", {"key": f"ticket:1:{name}"})[0]["revision"] == "60"
        positions = [event.position for event in everything]
        assert positions == sorted(set(positions))
        same_rows(rows_of(log, INLINE), rows_from_zero(log, INLINE), log)


@on_postgres
def test_evt_01_a_hole_after_a_rollback_holds_no_reader_up(place: Place) -> None:
    with place.log() as log:
        log.append([connected(1)])
        with pytest.raises(ConcurrentWriteError):
            log.append([connected(1)])
        log.append([connected(2)])

        assert [event.position for event in log.stream()] == [1, 3]
        assert log.at(2) is None
        assert log.catch_up() == 2 * len(TRACKED)
        assert set(log.lag().values()) == {0}


@where_others_can_come
def test_evt_04_of_two_handlers_that_read_the_same_state_one_writes(place: Place) -> None:
    with place.log() as x, place.log() as y:
        x.append([connected(1)])
        versions = len(x.load("watch:ada")), len(y.load("watch:ada"))

        y.append([connected(versions[1] + 1, number=7)])
        with pytest.raises(ConcurrentWriteError):
            x.append([connected(versions[0] + 1, number=8)])

        assert [cast(WatchConnected, event.body).number for event in x.load("watch:ada")] == [1, 7]


@where_others_can_come
def test_evt_09_a_rebuild_adds_nothing_to_the_log(place: Place) -> None:
    with place.log() as log:
        log.append([seen(5), replace(seen(5, 2), body=TicketRevisionNoted(revision="2"))])
        before, token = list(log.stream()), log.position()

        log.rebuild()

        assert list(log.stream()) == before
        assert log.position() == token
