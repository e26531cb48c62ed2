"""Writes the reference pages that follow from the code: commands, machines, events, rules.

`--check` writes nothing, and fails where a page would change.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[1:1] = [str(ROOT / room) for room in ("domain", "projections", "adapters")]

from cli_page import cli_page  # noqa: E402 - it imports the rooms, which the lines above let it find
from events_page import events_page  # noqa: E402 - likewise
from machines_page import machine_pictures, machines_page  # noqa: E402 - likewise
from rules_page import rules_page  # noqa: E402 - likewise

REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- This page is written by tools/write_reference.py; change the code instead. -->"


def pages() -> Iterator[tuple[str, str]]:
    """Yield each file's name and content."""
    for name, lines in {
        "cli.md": cli_page(),
        "machines.md": machines_page(),
        "events.md": events_page(),
        "rules.md": rules_page(),
    }.items():
        yield name, "\n".join([NOTE, "", *lines]).rstrip("\n") + "\n"
    yield from machine_pictures()


def main() -> int:
    """Write the pages, or compare them; return 1 where one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    is_check = parser.parse_args().check
    made = dict(pages())
    stale = [name for name, content in made.items() if _read(name) != content]
    pictures = (str(p.relative_to(REFERENCE)) for p in REFERENCE.glob("machines/*.svg"))
    gone = [name for name in pictures if name not in made]
    if is_check:
        for name in [*stale, *gone]:
            print(f"docs/reference/{name} is stale: run `python tools/write_reference.py`")
        return 1 if stale or gone else 0
    for name in stale:
        path = REFERENCE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(made[name], encoding="utf-8")
    for name in gone:
        (REFERENCE / name).unlink()
    return 0


def _read(name: str) -> str | None:
    path = REFERENCE / name
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
