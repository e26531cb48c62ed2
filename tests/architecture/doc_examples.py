"""Finds the examples in the docs that are run, and holds their output against what is written.

An example is a block of `console` below the line `<!-- run -->`. Its commands are those of ov-es.
A block below the line `<!-- file: NAME -->` is a file that lies where the commands are run.
In what is written, `...` stands for anything, and a line of its own with `…` for any lines.
Times and counts of events differ from run to run, and are taken as equal.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^<!-- run -->\n+```console\n(?P<lines>.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(
    r"^<!-- file: (?P<name>[\w.-]+) -->\n+```\w+\n(?P<content>.*?)^```$", re.DOTALL | re.MULTILINE
)
_VARIES = (
    (re.compile(r" *\d+(\.\d+)? s\b"), " N s"),
    (re.compile(r"\b\d+ (events|decisions)\b"), r"N \1"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One command, and what is written below it."""

    command: str
    output: str
    status: int
    """What it exits with: 0, unless the line `# exits with N` stands above the command."""

    @property
    def arguments(self) -> list[str]:
        """Return the arguments of ov-es, whichever way it's called."""
        program, *arguments = shlex.split(self.command)
        if Path(program).name != "ov-es":
            raise ValueError(f"only ov-es is run for the docs, and not {program}")
        return arguments

    def is_told_by(self, output: str) -> bool:
        """Tell whether a real output is the one that's written."""
        return re.fullmatch(_pattern(self.output), _settled(output)) is not None


def examples(text: str) -> Iterator[Example]:
    r"""Yield the examples of a page.

    >>> [e] = examples("<!-- run -->\n```console\n$ ov-es --version\nov-es ...\n```\n")
    >>> e.arguments, e.is_told_by("ov-es 0.1.0\n"), e.is_told_by("another 0.1.0\n")
    (['--version'], True, False)
    """
    for block in _BLOCK.finditer(text):
        status, following, command, output = 0, 0, "", list[str]()
        for line in [*block["lines"].splitlines(), "$ "]:
            if line.startswith("# exits with "):
                following = int(line.removeprefix("# exits with "))
            elif not line.startswith("$ "):
                output.append(line)
            else:
                if command:
                    yield Example(command=command, output="\n".join(output), status=status)
                command, output = line.removeprefix("$ "), []
                status, following = following, 0


def files(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield the name and the content of each file that a page shows.

    >>> list(files("<!-- file: a.json -->\n```json\n{}\n```\n"))
    [('a.json', '{}\n')]
    """
    for block in _FILE.finditer(text):
        yield block["name"], block["content"]


def _settled(output: str) -> str:
    """Return output without what differs from run to run, and without space at the ends."""
    for varying, constant in _VARIES:
        output = varying.sub(constant, output)
    return "".join(f"{line.rstrip()}\n" for line in output.strip().splitlines())


def _pattern(written: str) -> str:
    r"""Return what is written as an expression.

    >>> re.fullmatch(_pattern("a\n…\nz ..."), "a\nb\nc\nz 26\n") is not None
    True
    """
    expression = ""
    for line in _settled(written).splitlines():
        if line in {"…", "..."}:
            expression += r"(?:.*\n)*?"
        else:
            parts = line.split("...")
            expression += ".*".join(re.escape(part) for part in parts) + r"\n"
    return expression
