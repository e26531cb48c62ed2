"""The folder of recorded answers holds nothing that nobody checks."""

from pathlib import Path

import pytest
from tests.vectors.suites import KNOWN, files, read, suite_of


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in files()])
def test_every_suite_in_the_folder_has_a_runner(path: Path) -> None:
    document = read(path)

    assert document["suite"] == suite_of(path)
    assert document["suite"] in KNOWN, f"{path.name} is a suite that nothing here checks"
    assert len(document["cases"]) == document["count"]


def test_the_folder_is_not_empty() -> None:
    assert list(files())
