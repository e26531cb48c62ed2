"""What a durable command costs, against a bare loop that writes the same bytes and rows.

The base is as quick as Python's sqlite3 can be with the same promise: one connection, one
transaction for each command, `synchronous=FULL`, statements and values made beforehand.
"""

import argparse
import itertools
import sqlite3
import sys
import tempfile
import time  # noqa: TID251 - a bench measures
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from mentions import COMMITS_EACH, EVENTS_EACH, commits_of
from rounds import print_results, run_rounds

from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.event_log.recorder_log import RecorderLog
from ov_es_adapters.event_log.serialization import encode
from ov_es_adapters.event_log.sqlite_recorder import CREATE, FORBID
from ov_es_adapters.event_log.tables import SQLITE, tables_of
from ov_es_domain.recorded import NewEvent, Recorded
from ov_es_projections.inline import INLINE

INSERT = (
    "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
    " VALUES (?, ?, ?, ?)"
)
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "cache_size=-65536", "mmap_size=268435456")
Statement = tuple[str, Sequence[Any]]


def _statements(events: Sequence[NewEvent], position: int) -> list[Statement]:
    """Return all that a commit executes, with the values that it writes."""
    tables = tables_of(INLINE)
    made: list[Statement] = [
        (INSERT, (event.key, event.version, event.body.TOPIC, encode(event))) for event in events
    ]
    for number, event in enumerate(events):
        recorded = Recorded.of(event, position + number)
        for projection in INLINE:
            made.extend(
                SQLITE.change(tables[change.table], change)
                for change in projection.apply(recorded)
            )
    return made


class Bench:
    """Two logs that grow side by side."""

    def __init__(self, folder: Path, mentions: int, synchronous: str) -> None:
        self._mentions = mentions
        self._first = itertools.count(1, mentions)
        self._log = cast(RecorderLog, open_log(f"sqlite:///{folder}/log.db"))
        self._bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
        for pragma in PRAGMAS:
            self._bare.execute(f"PRAGMA {pragma}")
        tables = [statement for t in tables_of(INLINE).values() for statement in SQLITE.create(t)]
        for statement in (CREATE, *FORBID, *tables):
            self._bare.execute(statement)
        if synchronous != "FULL":
            # Only to see what is left of the difference when the disk takes no part in it.
            self._bare.execute(f"PRAGMA synchronous={synchronous}")
            with self._log.store.transaction(commit=False) as cursor:
                cursor.execute(f"PRAGMA synchronous={synchronous}")
        self._work: list[list[NewEvent]] = []
        self._position = 1

    def ours(self) -> float:
        """Append through the log; it comes first in a round, and makes the round's work."""
        self._work = commits_of(next(self._first), self._mentions)
        append = self._log.append
        start = time.perf_counter()
        for events in self._work:
            append(events)
        return (time.perf_counter() - start) / len(self._work)

    def bare(self) -> float:
        """Write the same by hand."""
        prepared: list[list[Statement]] = []
        for events in self._work:
            prepared.append(_statements(events, self._position))
            self._position += len(events)
        cursor = self._bare.cursor()
        execute = cursor.execute
        start = time.perf_counter()
        for statements in prepared:
            execute("BEGIN IMMEDIATE")
            for statement, values in statements:
                execute(statement, values)
            execute("COMMIT")
        return (time.perf_counter() - start) / len(self._work)

    def close(self) -> None:
        """Make sure that both wrote the same, and close."""
        select = "SELECT * FROM stored_events ORDER BY id"
        with self._log.store.transaction(commit=False) as cursor:
            cursor.execute(select)
            same = cursor.fetchall() == self._bare.execute(select).fetchall()
        self._log.close()
        self._bare.close()
        if not same:
            raise AssertionError("the two wrote different things")


@contextmanager
def _bench(parent: Path | None, mentions: int, synchronous: str) -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        bench = Bench(Path(folder), mentions, synchronous)
        try:
            yield bench
        finally:
            bench.close()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mentions", type=int, default=50, help="how many for each round")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--synchronous", choices=["FULL", "OFF"], default="FULL")
    parser.add_argument("--folder", type=Path, help="where the logs are made; on a real disk")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with _bench(options.folder, options.mentions, options.synchronous) as bench:
        results = run_rounds(
            {"ov-es, append": bench.ours, "sqlite3, the same by hand": bench.bare},
            base="sqlite3, the same by hand",
            rounds=options.rounds,
        )
    facts = {
        "commits a round": options.mentions * COMMITS_EACH,
        "events a round": options.mentions * EVENTS_EACH,
        "synchronous": options.synchronous,
    }
    print_results("One durable command", results, as_json=options.json, facts=facts)


if __name__ == "__main__":
    sys.exit(main())
