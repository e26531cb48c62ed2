"""The benchmarks run, and what they compare is the same work; their figures aren't judged here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[3] / "tools" / "bench"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("append.py", ["--mentions", "3", "--rounds", "2"]),
        ("replay.py", ["--events", "90", "--rounds", "2"]),
        ("startup.py", ["--events", "90", "--few", "9", "--rounds", "2"]),
        ("spawn.py", ["--rounds", "2"]),
    ],
)
def test_a_benchmark_prints_ratios_with_their_spread(
    name: str, options: list[str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, str(BENCH / name), "--json", "--folder", str(tmp_path), *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    results = json.loads(done.stdout)["results"]
    assert len(results) >= 2
    for result in results:
        assert result["ratio"]["min"] <= result["ratio"]["median"] <= result["ratio"]["max"]
    assert [*tmp_path.iterdir()] == []
