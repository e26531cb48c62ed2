"""What commands print: one JSON document for scripts, or lines and tables for people."""

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec
import orjson

from ov_es_domain.recorded import Recorded

if TYPE_CHECKING:
    from rich.console import Console

_WIDTH_WITHOUT_TERMINAL = 200


def print_json(document: object) -> None:
    """Print the one JSON document of a command."""
    _write(orjson.dumps(plain(document), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def print_json_line(document: object) -> None:
    """Print one line of JSON Lines, at once: whoever follows waits for it."""
    _write(orjson.dumps(plain(document), option=orjson.OPT_APPEND_NEWLINE))


def _write(line: bytes) -> None:
    click.echo(line, nl=False)


def plain(value: object) -> object:
    """Return a value as JSON has it: dataclasses as objects, enumerations as their values."""
    return msgspec.to_builtins(value, str_keys=True)


def event_data(event: Recorded) -> dict[str, object]:
    """Return an event as `ov-es log --json` prints it; the names are a contract."""
    return {
        "position": event.position,
        "recorded_at": moment(event.at),
        "type": event.body.TOPIC,
        "key": event.key,
        "version": event.version,
        "cause": event.cause,
        "correlation": event.correlation,
        "data": plain(event.body),
    }


def event_line(event: Recorded) -> str:
    """Return an event as one line for people."""
    from ov_es_projections.event_summaries import summary  # noqa: PLC0415 - loads every event

    said = printable(summary(event))
    return f"{event.position:>6}  {moment(event.at)}  {printable(event.key)}  {said}"


def moment(at: float) -> str:
    """Return a time as ISO-8601 in UTC.

    >>> moment(0.5)
    '1970-01-01T00:00:00.500Z'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def age(seconds: float) -> str:
    """Return a duration as people say it.

    >>> [age(s) for s in (0.2, 75, 4000, 200000)]
    ['0 s', '1 min', '1 h 6 min', '2 d 7 h']
    """
    whole = max(0, int(seconds))
    if whole < 60:  # noqa: PLR2004 - a minute
        return f"{whole} s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if hours == 0:
        return f"{minutes} min"
    return f"{hours} h {minutes % 60} min" if days == 0 else f"{days} d {hours % 24} h"


def printable(text: str) -> str:
    r"""Return text from outside so that a terminal only shows it, and never obeys it.

    >>> printable("a\x1b[2Jb\nc")
    'a\\x1b[2Jb c'
    """
    folded = " ".join(text.split())
    if folded.isprintable():
        return folded
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in folded)


def console(*, stderr: bool = False) -> "Console":
    """Return rich's console: without colours where NO_COLOR is set, or where nobody looks."""
    from rich.console import Console  # noqa: PLC0415 - slow to load, and only people need it

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL
    return Console(file=stream, width=width, highlight=False, emoji=False, markup=False)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "", empty: str = ""
) -> None:
    """Print a table for people; `empty` is said where there's no row."""
    from rich import box  # noqa: PLC0415 - likewise
    from rich.table import Table  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    shown = [[Text(printable(_cell(value))) for value in row] for row in rows]
    screen = console()
    if title:
        screen.print(Text(title, style="bold"))
    if not shown:
        screen.print(Text(empty))
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in shown:
        table.add_row(*row)
    screen.print(table)


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def say(text: str = "") -> None:
    """Print one line for people on stdout."""
    click.echo(printable(text))
