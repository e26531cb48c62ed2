"""What opening a log costs when it's long, against a short one: it should be nothing more.

Opened as the watcher opens it, up to the first decision: rows of inline projections are there,
and only tracked ones, which reports read, may lag.
"""

import argparse
import sys
import tempfile
import time  # noqa: TID251 - a bench measures
from pathlib import Path

from mentions import EVENTS_EACH
from replay import fill
from rounds import Measure, print_results, run_rounds

from ov_es_adapters.event_log.open_log import open_log


def opening(path: Path) -> Measure:
    """Return what opens a log, and reads what a watcher reads first."""

    def measure() -> float:
        start = time.perf_counter()
        log = open_log(f"sqlite:///{path}")
        log.select("open_turns")
        log.select("deliveries", {"state": ["planned", "attempting", "unknown"]})
        log.load("watch:ada")
        log.position()
        taken = time.perf_counter() - start
        log.close()
        return taken

    return measure


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000, help="in the long log")
    parser.add_argument("--few", type=int, default=1000, help="in the short one")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--folder", type=Path, help="where the logs are made; on a real disk")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        paths = {count: Path(folder) / f"{count}.db" for count in (options.few, options.events)}
        for count, path in paths.items():
            fill(f"sqlite:///{path}", max(1, count // EVENTS_EACH))
        names = {count: f"{count:,} events" for count in paths}
        results = run_rounds(
            {names[count]: opening(path) for count, path in paths.items()},
            base=names[options.few],
            rounds=options.rounds,
        )
    print_results("Opening a log", results, as_json=options.json, facts={})


if __name__ == "__main__":
    sys.exit(main())
