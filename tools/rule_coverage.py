"""Finds which test shows which rule: the rules are data in docs/, the tests name their IDs."""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "docs" / "reference" / "rules"


@dataclass(frozen=True, slots=True)
class Area:
    """A group of rules, which are numbered without gaps."""

    title: str
    numbers: range


AREAS: Mapping[str, Area] = {
    "WS": Area("What arrives", range(1, 23)),
    "TK": Area("Tickets", range(1, 31)),
    "TH": Area("Threads, and who is meant", range(1, 18)),
    "Q": Area("The two queues", range(101, 122)),
    "CY": Area("Cycles, and what they're told", range(1, 54)),
    "EV": Area("Evidence", range(1, 26)),
    "DL": Area("Deliveries", range(1, 23)),
    "BL": Area("Blockers", range(1, 18)),
    "RC": Area("Reconciliation", range(1, 17)),
    "MEM": Area("Memory", range(1, 12)),
}

_ANY_AREA = "|".join(AREAS)
_IN_TEXT = re.compile(rf"\b({_ANY_AREA})-(\d+)\b")
_IN_NAME = re.compile(rf"_({_ANY_AREA.lower()})_(\d+)(?=_|\s|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What ov-es does, and what of the rule isn't so, with the reason."""

    id: str
    says: str
    because: str = ""


def rules(area: str) -> tuple[Rule, ...]:
    """Read an area's rules, in their order.

    Raises: TypeError for a rule with other fields than those of `Rule`.
    """
    entries = json.loads((RULES / f"{area.lower()}.json").read_text(encoding="utf-8"))
    return tuple(Rule(**entry) for entry in entries)


def shown_by() -> dict[str, tuple[str, ...]]:
    """Return each rule's tests, as `path::function`, and stories, as a path."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for rule, where in _named():
        found[rule][where] = None
    return {rule: tuple(places) for rule, places in found.items()}


def _named() -> Iterator[tuple[str, str]]:
    tests = ROOT / "tests"
    for path in sorted(tests.rglob("test_*.py")):
        place = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith(
                "test_"
            ):
                names = [node.name, *_parameters(node)]
                for rule in _ids(" ".join(names), ast.get_docstring(node) or ""):
                    yield rule, f"{place}::{node.name}"
    for path in sorted(tests.glob("stories/*.json")):
        name = json.loads(path.read_text(encoding="utf-8"))["name"]
        for rule in _ids("", name):
            yield rule, path.relative_to(ROOT).as_posix()


def _parameters(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the ids of a test's parameters, as in `pytest.param(…, id="cy_25")`."""
    for decorator in test.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.keyword) and node.arg == "id":
                yield f"_{ast.unparse(node.value)}".replace("'", "")


def _ids(name: str, text: str) -> Iterator[str]:
    for area, number in [*_IN_NAME.findall(name), *_IN_TEXT.findall(text)]:
        yield f"{area.upper()}-{int(number)}"
