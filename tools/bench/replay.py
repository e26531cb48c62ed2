"""What reading the whole log costs, typed, against `SELECT` and an untyped `orjson.loads`."""

import argparse
import sqlite3
import sys
import tempfile
import time  # noqa: TID251 - a bench measures
from pathlib import Path
from typing import cast

import orjson
from mentions import EVENTS_EACH, commits_of
from rounds import print_results, run_rounds

from ov_es_adapters.event_log.open_log import open_log
from ov_es_adapters.event_log.recorder_log import RecorderLog
from ov_es_projections.inline import INLINE
from ov_es_projections.projection import MemoryTables

SELECT = "SELECT id, originator_id, originator_version, topic, state FROM stored_events"
_BATCH = 500


def fill(url: str, mentions: int) -> int:
    """Make a log of so many mentions, quickly; return how many events it has."""
    log = cast(RecorderLog, open_log(url))
    with log.store.transaction(commit=False) as cursor:
        cursor.execute("PRAGMA synchronous=OFF")  # the bench's own file: nobody depends on it
    for first in range(1, mentions + 1, _BATCH):
        commits = commits_of(first, min(_BATCH, mentions + 1 - first))
        log.append([event for events in commits for event in events])
    count = log.position()
    log.close()
    return count


class Bench:
    """One log, read in different ways."""

    def __init__(self, path: Path, count: int) -> None:
        self._count = count
        self._log = open_log(f"sqlite:///{path}", read_only=True)
        self._bare = sqlite3.connect(path)
        self._bare.execute("PRAGMA mmap_size=268435456")

    def typed(self) -> float:
        """Stream every event through the log, as audit and rebuild do."""
        start = time.perf_counter()
        count = sum(1 for _ in self._log.stream())
        return self._per_event(start, count)

    def untyped(self) -> float:
        """Read the rows and parse the JSON; nothing knows what it means."""
        start = time.perf_counter()
        count = 0
        for _, _, _, _, state in self._bare.execute(SELECT):
            orjson.loads(state)
            count += 1
        return self._per_event(start, count)

    def folded(self) -> float:
        """Stream every event, and build the rows of all inline projections in memory."""
        start = time.perf_counter()
        tables, count = MemoryTables(INLINE), 0
        for event in self._log.stream():
            tables.apply(event)
            count += 1
        return self._per_event(start, count)

    def _per_event(self, start: float, count: int) -> float:
        if count != self._count:
            raise AssertionError(f"{count} events were read of {self._count}")
        return (time.perf_counter() - start) / count

    def close(self) -> None:
        """Give the file back."""
        self._log.close()
        self._bare.close()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="where the logs are made; on a real disk")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "log.db"
        count = fill(f"sqlite:///{path}", max(1, options.events // EVENTS_EACH))
        bench = Bench(path, count)
        results = run_rounds(
            {
                "SELECT + orjson.loads": bench.untyped,
                "ov-es, typed stream": bench.typed,
                "ov-es, stream + inline rows": bench.folded,
            },
            base="SELECT + orjson.loads",
            rounds=options.rounds,
        )
        bench.close()
        facts = {"events": count, "bytes an event": path.stat().st_size // count}
    print_results("Replay, for each event", results, as_json=options.json, facts=facts)


if __name__ == "__main__":
    sys.exit(main())
