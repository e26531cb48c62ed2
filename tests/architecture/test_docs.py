"""What the docs show is what happens: examples are run, links lead somewhere."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.architecture.doc_examples import Example, examples, files

ROOT = Path(__file__).resolve().parents[2]
DAY = ("demo", "--keep", "first-day")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("[!_]*/**/*.md"))]
WITH_EXAMPLES = [path for path in PAGES if "<!-- run -->" in path.read_text(encoding="utf-8")]
Ran = subprocess.CompletedProcess[str]


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the folder in which the examples are run."""
    return tmp_path_factory.mktemp("docs")


@pytest.fixture(scope="module")
def run(folder: Path) -> Callable[[list[str]], Ran]:
    """Run ov-es in that folder, where the demo's day lies that the pages talk about."""
    rooms = [str(ROOT / room) for room in ("domain", "projections", "adapters")]
    settings = {"PYTHONPATH": os.pathsep.join(rooms), "OV_ES_HOME": str(folder / "home")}

    def call(arguments: list[str]) -> Ran:
        return subprocess.run(
            [sys.executable, "-m", "ov_es_adapters.cli.main", *arguments],
            cwd=folder,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    day = call(list(DAY))

    def run(arguments: list[str]) -> Ran:
        """Return the day's own output when a page plays it; else run the command."""
        return day if tuple(arguments) == DAY else call(arguments)

    return run


@pytest.mark.slow
@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=_short)
def test_an_example_in_the_docs_prints_what_is_written(
    path: Path, folder: Path, run: Callable[[list[str]], Ran]
) -> None:
    text = path.read_text(encoding="utf-8")
    for name, content in files(text):
        (folder / name).write_text(content, encoding="utf-8")

    for example in examples(text):
        ran = run(example.arguments)

        assert ran.returncode == example.status, f"$ {example.command}\n{ran.stderr}"
        assert example.is_told_by(ran.stdout), _difference(example, ran.stdout)


def _difference(example: Example, output: str) -> str:
    return f"$ {example.command}\nis written to print\n{example.output}\nand prints\n{output}"


@pytest.mark.parametrize("path", PAGES, ids=_short)
def test_a_link_leads_to_a_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    targets = [found.partition("#")[0] for found in re.findall(r"\]\(([^)\s]+)\)", text)]

    inside = [target for target in targets if target and "://" not in target]
    assert [target for target in inside if not (path.parent / target).exists()] == []


def test_the_readme_fits_on_two_screens() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 90


def test_each_decision_has_a_number_of_its_own() -> None:
    numbers = [path.name[:4] for path in (ROOT / "docs" / "decisions").glob("0*.md")]

    assert sorted(numbers) == sorted(set(numbers))


def test_the_map_names_only_files_that_exist() -> None:
    text = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    there = {
        tuple(path.relative_to(ROOT).parts)
        for room in ("domain", "projections", "adapters", "tools")
        for path in (ROOT / room).rglob("*.py")
    }

    named = [tuple(name.split("/")) for name in re.findall(r"`([\w/]+\.py)`", text)]

    missing = [name for name in named if not any(path[-len(name) :] == name for path in there)]
    assert missing == []
