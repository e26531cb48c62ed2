"""Variants measured in turn, round by round, so that a busy machine hurts all of them alike."""

import json
import platform
import sqlite3
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Measure = Callable[[], float]
"""Does its work once, and returns the seconds for one unit of it."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one variant took, in microseconds for each unit, and against the base's same round."""

    name: str
    micros: Sequence[float]
    ratios: Sequence[float]

    def as_data(self) -> dict[str, Any]:
        """Return the figures as JSON has them."""
        return {
            "name": self.name,
            "micros": _spread(self.micros),
            "ratio": _spread(self.ratios),
        }

    def as_line(self) -> str:
        """Return the figures as a person reads them."""
        micros, ratio = _spread(self.micros), _spread(self.ratios)
        return (
            f"{self.name:<34} {micros['median']:>10.2f} µs"
            f"   x {ratio['median']:.2f} ({ratio['min']:.2f}-{ratio['max']:.2f})"
        )


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 3),
        "min": round(min(values), 3),
        "max": round(max(values), 3),
    }


def run_rounds(variants: Mapping[str, Measure], *, base: str, rounds: int) -> list[Result]:
    """Run each variant once a round, after one round that doesn't count."""
    for measure in variants.values():
        measure()
    taken: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, measure in variants.items():
            taken[name].append(measure() * 1e6)
    return [
        Result(name, micros, [m / b for m, b in zip(micros, taken[base], strict=True)])
        for name, micros in taken.items()
    ]


def print_results(
    title: str, results: Sequence[Result], *, as_json: bool, facts: Mapping[str, Any]
) -> None:
    """Print the figures, with what they were measured on."""
    machine = {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        **facts,
    }
    if as_json:
        data = {"title": title, "machine": machine, "results": [r.as_data() for r in results]}
        sys.stdout.write(json.dumps(data) + "\n")
        return
    said = ", ".join(f"{name} {value}" for name, value in machine.items())
    sys.stdout.write(f"{title}\n{said}\n")
    for result in results:
        sys.stdout.write(f"  {result.as_line()}\n")
