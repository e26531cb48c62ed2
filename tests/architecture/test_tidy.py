"""House rules that a machine can hold: docstrings, sizes, names, arrows, decisions, pages."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("domain", "projections", "adapters")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
LINES_MAX = 400
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", MODULES, ids=_short)
def test_a_file_says_its_subject_in_its_first_line(path: Path) -> None:
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))

    assert said, "no docstring"
    assert said.splitlines()[0].rstrip().endswith((".", "?")), said.splitlines()[0]


@pytest.mark.parametrize("path", MODULES, ids=_short)
def test_a_file_has_one_subject_s_size(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_MAX


def test_names_say_what_a_file_is_for() -> None:
    assert [path for path in MODULES if path.stem in FORBIDDEN_NAMES] == []


def test_arrows_point_one_way() -> None:
    program = Path(sys.executable).with_name("lint-imports")

    ran = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stdout


def test_help_answers_without_loading_what_it_does_not_need() -> None:
    code = (
        "import sys\n"
        "from ov_es_adapters.cli.main import cli\n"
        "cli(['--help'], standalone_mode=False)\n"
        "heavy = {'statemachine', 'eventsourcing', 'mcp', 'rich', 'httpx', 'asyncio'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_reference_pages_are_those_of_the_code() -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "write_reference.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize("path", DECISIONS, ids=_short)
def test_a_decision_says_why_and_what_follows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]

    assert headings[:2] == ["Context", "Decision"]
    assert headings[-1] == "Consequences"
    assert "What else was tried" in headings


def test_ci_and_people_run_the_same_test_command() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    shown = [line for line in readme if line.startswith("$ ") and line.endswith("pytest")]
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    reading = [line for line in steps if line.startswith("test_command=")]

    ran = subprocess.run(
        ["bash", "-c", f"{reading[0]}; printf '$ %s\n' \"$test_command\""],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout.splitlines() == shown
    assert 'bash -c "$test_command"' in steps
