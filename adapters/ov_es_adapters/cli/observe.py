"""`ov-es observe`: says what a recorded stream of an agent program proves."""

import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, BinaryIO

import click

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.streams import DIALECTS

if TYPE_CHECKING:
    from ov_es_domain.observation import StreamObservation

READ_BYTES = 256 * 1024
TEXT_CHARACTERS_MAX = 2000
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@contextmanager
def _opened(name: str) -> Generator[BinaryIO]:
    """Open the file, or stdin for `-`."""
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - `-` shows that it needn't be a path
            yield file
    except OSError as error:
        raise BadInputError(
            f"observe {name}: {error.strerror}; FILE is a program's recorded stdout, or -"
        ) from error


def observe(dialect: str, name: str, exit_status: int | None) -> "StreamObservation":
    """Read a recorded stream, piece by piece, and conclude.

    Raises:
        BadInputError: The file can't be read.
    """
    from dataclasses import replace  # noqa: PLC0415 - with the two below

    from ov_es_adapters.runtimes.jsonl import LineSplitter  # noqa: PLC0415 - `--help` is fast
    from ov_es_adapters.runtimes.streams import parser_for  # noqa: PLC0415 - likewise

    parser, splitter = parser_for(dialect), LineSplitter()
    with _opened(name) as file:
        while chunk := file.read(READ_BYTES):
            for line in splitter.feed(chunk):
                parser.feed(line)
    for line in splitter.close():
        parser.feed(line)
    seen = parser.conclude(exit_status)
    return replace(seen, unreadable_lines=seen.unreadable_lines + splitter.dropped_count)


def as_document(seen: "StreamObservation") -> dict[str, object]:
    """Return the document that scripts read; its fields are a contract."""
    return {
        "outcome": seen.outcome.value,
        "text": seen.text,
        "conversation": seen.conversation,
        "calls": [asdict(call) for call in seen.calls],
        "commands": [asdict(command) for command in seen.commands],
        "edits": seen.edits,
        "posts": seen.posts,
        "ticket_read": seen.ticket_read,
        "ticket_updated": seen.ticket_updated,
        "usage": asdict(seen.usage) if seen.usage else None,
        "unreadable_lines": seen.unreadable_lines,
        "unknown_events": seen.unknown_events,
    }


def _shown(value: object) -> str:
    """Return a fact in people's words; unknown is said to be unknown."""
    match value:
        case None:
            return "unknown"
        case True:
            return "yes"
        case False:
            return "no"
        case _:
            return str(value)


def _harmless(said: str) -> str:
    """Return an agent's words without what a terminal would obey."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", said)


def _print_summary(seen: "StreamObservation") -> None:
    from rich.console import Console  # noqa: PLC0415 - slow to load, and only for people
    from rich.table import Table  # noqa: PLC0415 - likewise
    from rich.text import Text  # noqa: PLC0415 - likewise

    facts = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")

    def add(name: str, value: object) -> None:
        facts.add_row(name, Text(_harmless(_shown(value))))

    add("outcome", seen.outcome.value)
    add("conversation", seen.conversation or "none")
    for call in seen.calls:
        because = f" ({call.reason})" if call.reason else ""
        add("call", f"{call.tool}: {_call_words(call.ok)}{because}")
    for command in seen.commands:
        add("command", f"exit {_shown(command.exit)}")
    add("edits", seen.edits)
    add("posts", seen.posts)
    add("ticket read", seen.ticket_read)
    add("ticket updated", seen.ticket_updated)
    if seen.usage:
        used = seen.usage
        cached = f", {used.cached_input_tokens} of it cached" if used.cached_input_tokens else ""
        add("tokens", f"{used.input_tokens} in{cached}, {used.output_tokens} out")
    if seen.policy_block is not None:
        add("blocked", f"a push needs an authorization {seen.policy_block}".rstrip())
    add("unreadable lines", seen.unreadable_lines)
    add("unknown events", seen.unknown_events)
    shown = seen.text[:TEXT_CHARACTERS_MAX]
    more = len(seen.text) - len(shown)
    add("text", (shown or "none") + (f"\n… and {more} characters more" if more else ""))
    Console(highlight=False).print(facts)


def _call_words(ok: bool | None) -> str:  # noqa: FBT001 - a fact, not a switch
    return {True: "done", False: "had no effect", None: "unknown"}[ok]


@click.command()
@click.argument("runtime", type=click.Choice(DIALECTS))
@click.argument("file")
@click.option(
    "--exit",
    "exit_status",
    type=int,
    metavar="N",
    help="The program's exit status, negative for a signal; without it, it counts as unknown.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(runtime: str, file: str, exit_status: int | None, *, as_json: bool) -> None:
    """Say what FILE, the recorded stdout of an agent program, proves about its run.

    FILE may be - for stdin. What the stream can't tell is null, or "unknown": a failed call may
    have had its effect all the same.

    Example: ov-es observe claude run.jsonl --exit 0 --json
    """
    seen = observe(runtime, file, exit_status)
    if not as_json:
        _print_summary(seen)
        return
    import orjson  # noqa: PLC0415 - only here

    document = orjson.dumps(as_document(seen), option=orjson.OPT_INDENT_2)
    click.echo(document.decode())
