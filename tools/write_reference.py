"""Writes the reference pages that follow from the code: commands, machines, events.

`--check` writes nothing, and fails where a page would change.
"""

import argparse
import dataclasses
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import click

ROOT = Path(__file__).resolve().parent.parent
for room in ("domain", "projections", "adapters"):
    sys.path.insert(0, str(ROOT / room))

from ov_es_adapters.cli.exit_status import ExitStatus  # noqa: E402 - found by the lines above
from ov_es_adapters.cli.main import COMMANDS, cli  # noqa: E402 - likewise
from ov_es_domain.catalogue import LIFECYCLES  # noqa: E402 - likewise
from ov_es_domain.lifecycle import EVENTS, Event  # noqa: E402 - likewise
from ov_es_domain.transitions import Table  # noqa: E402 - likewise

REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- This page is written by tools/write_reference.py; change the code instead. -->\n"


def cli_page() -> str:
    """Return the page of all commands, from their own help."""
    lines = [NOTE, "# The command line\n"]
    context = click.Context(cli, info_name="ov-es", max_content_width=100, terminal_width=100)
    lines += ["```text", cli.get_help(context), "```\n"]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        if command is None:
            raise AssertionError(f"{name} is listed and doesn't exist")
        own = click.Context(
            command, info_name=name, parent=context, max_content_width=100, terminal_width=100
        )
        lines += [f"## {name}\n", "```text", command.get_help(own), "```\n"]
    lines.append("## Exit status\n")
    lines += ["| status | name |", "|---|---|"]
    lines += [f"| {int(status)} | {status.name.lower().replace('_', ' ')} |" for status in ExitStatus]
    return "\n".join(lines) + "\n"


def machines_page() -> str:
    """Return the page of all machines, from their compiled tables."""
    lines = [NOTE, "# The machines\n"]
    lines.append("Each transition belongs to exactly one event. Anything else is refused.\n")
    for name, lifecycle in LIFECYCLES.items():
        lines += [f"## {name}\n", *_diagram(lifecycle.table), ""]
        lines += ["| from | transition | to |", "|---|---|---|"]
        lines += [
            f"| {arrow.source} | `{arrow.name}` | {arrow.target} |"
            for arrow in lifecycle.table.transitions
        ]
        lines.append("")
    return "\n".join(lines) + "\n"


def _diagram(table: Table) -> Iterator[str]:
    yield "```text"
    yield "stateDiagram-v2"
    yield f"    [*] --> {table.initial}"
    for arrow in table.transitions:
        yield f"    {arrow.source} --> {arrow.target}: {arrow.name}"
    for state in sorted(table.final):
        yield f"    {state} --> [*]"
    yield "```"


def events_page() -> str:
    """Return the page of all events, from their classes."""
    lines = [NOTE, "# The events\n"]
    lines.append(
        "Topics are stable, and append-only: a change that breaks readers is a new version with"
        " an upcast.\n"
    )
    for topic, kind in EVENTS.items():
        if topic.partition(".")[0] not in LIFECYCLES:
            continue
        words = inspect.getdoc(kind) or ""
        lines += [f"## {topic}\n", f"{words.splitlines()[0]} Transition: `{kind.TRANSITION}`.\n"]
        lines += [*_fields(kind), ""]
    return "\n".join(lines) + "\n"


def _fields(kind: type[Event]) -> Iterator[str]:
    hints = get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]  # events are
    if not names:
        return
    yield "| field | type |"
    yield "|---|---|"
    for name in names:
        spelled = getattr(hints[name], "__name__", None) if isinstance(hints[name], type) else None
        said = (spelled or str(hints[name])).replace("ov_es_domain.", "").replace("|", "or")
        yield f"| `{name}` | {said} |"


PAGES = {"cli.md": cli_page, "machines.md": machines_page, "events.md": events_page}


def main() -> int:
    """Write the pages, or compare them; return 1 where one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    options = parser.parse_args()
    stale: list[str] = []
    for name, make in PAGES.items():
        path, content = REFERENCE / name, make()
        if options.check:
            if not path.exists() or path.read_text(encoding="utf-8") != content:
                stale.append(name)
        else:
            path.write_text(content, encoding="utf-8")
    for name in stale:
        print(f"docs/reference/{name} is stale: run `python tools/write_reference.py`")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
