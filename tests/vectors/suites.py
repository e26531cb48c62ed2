"""The recorded answers of the replaced programs: which suites there are, and their cases.

The folder is `tests/recorded/oracle`, or what OV_ES_VECTORS names. A suite has a runner in
`tests/vectors/test_<suite>.py`, which asks for its cases with `load`.
"""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

KNOWN = {"process_stop", "queue_bounded", "queue_serial", "queue_config", "mcp_client"}
"""The suites that have a runner. A file of any other suite fails `test_suites.py`."""

SKIPPED_TAGS = {
    "js_number": "the original reads texts as numbers; ov-es refuses them",
    "js_unicode": "the original's notion of blanks and letter case beyond ASCII",
    "type": "an argument of a type that no caller passes",
}
DISPUTED_TAGS = {"original_defect": "the original is wrong here; ov-es does the right thing"}
Case = dict[str, Any]


def folder() -> Path:
    """Return the folder of the suites."""
    named = os.environ.get("OV_ES_VECTORS")
    return Path(named) if named else Path(__file__).parent.parent / "recorded" / "oracle"


def files() -> Iterator[Path]:
    """Yield the files of the folder that hold a suite."""
    for path in sorted(folder().iterdir()):
        if path.name.endswith((".json", ".json.gz")):
            yield path


def suite_of(path: Path) -> str:
    """Return the name of the suite that a file holds, from its name."""
    return path.name.removesuffix(".gz").removesuffix(".json")


def read(path: Path) -> dict[str, Any]:
    """Return the whole document of a file."""
    raw = path.read_bytes()
    document: dict[str, Any] = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    return document


def load(suite: str) -> list[Any]:
    """Return the cases of a suite as pytest parameters, with their ids and marks.

    A folder without that suite gives none, so that OV_ES_VECTORS may name a part of them.
    """
    for path in files():
        if suite_of(path) == suite:
            return [_parameter(case) for case in read(path)["cases"]]
    return []


def _parameter(case: Case) -> Any:
    marks: list[pytest.MarkDecorator] = []
    for tag in case.get("tags", ()):
        if tag in SKIPPED_TAGS:
            marks.append(pytest.mark.skip(reason=SKIPPED_TAGS[tag]))
        elif tag in DISPUTED_TAGS:
            marks.append(pytest.mark.xfail(reason=DISPUTED_TAGS[tag], strict=False))
    return pytest.param(case, id=case["id"], marks=marks)
