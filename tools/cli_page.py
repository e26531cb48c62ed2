"""Writes the page of all commands, from the commands themselves.

The layout is ours and not that of click's help, so that a new click changes no page.
"""

import inspect
from collections.abc import Iterator

import click

from ov_es_adapters.cli.exit_status import ExitStatus
from ov_es_adapters.cli.main import COMMANDS, cli


def cli_page() -> Iterator[str]:
    """Yield the lines of the page."""
    context = click.Context(cli, info_name="ov-es")
    yield "# The command line"
    yield ""
    yield from _described(cli, context)
    yield "## Commands"
    yield ""
    yield "| command | does |"
    yield "|---|---|"
    for name in COMMANDS:
        yield f"| [`{name}`](#{name}) | {_cell(_first_line(_command(name, context)))} |"
    yield ""
    for name in COMMANDS:
        command = _command(name, context)
        yield f"## {name}"
        yield ""
        yield from _described(command, click.Context(command, info_name=name, parent=context))
    yield "## Exit status"
    yield ""
    yield "[What each one means](exit-status.md) is a page of its own."
    yield ""
    yield "| status | name |"
    yield "|---|---|"
    for status in ExitStatus:
        yield f"| {int(status)} | {status.name.lower().replace('_', ' ')} |"


def _command(name: str, context: click.Context) -> click.Command:
    command = cli.get_command(context, name)
    if command is None:
        raise AssertionError(f"{name} is listed and doesn't exist")
    return command


def _described(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield a command's usage, its help with the examples as blocks, and its parameters."""
    yield "```text"
    yield f"{context.command_path} {' '.join(command.collect_usage_pieces(context))}"
    yield "```"
    yield ""
    yield from _help(command)
    parameters = [each for each in command.params if not getattr(each, "hidden", False)]
    if parameters:
        yield "| parameter | meaning |"
        yield "|---|---|"
        for parameter in parameters:
            yield f"| {_names(parameter, context)} | {_meaning(parameter)} |"
        yield ""


def _first_line(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "").partition("\n\n")[0].replace("\n", " ")


def _help(command: click.Command) -> Iterator[str]:
    """Yield paragraphs; one that begins with "Example:" or with the program is a block."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        text = paragraph.removeprefix("\b\n")
        word, _, example = text.partition(":")
        if word in {"Example", "Examples"}:
            lines = [line.strip() for line in example.strip().splitlines()]
        elif text.startswith("ov-es "):
            lines = text.splitlines()
        else:
            yield from text.splitlines()
            yield ""
            continue
        yield "```console"
        yield from _commands(lines)
        yield "```"
        yield ""


def _commands(lines: list[str]) -> Iterator[str]:
    """Join what the help's width has wrapped: each example begins with the program."""
    joined: list[str] = []
    for line in lines:
        if line.startswith("ov-es ") or not joined:
            joined.append(line)
        else:
            joined[-1] += f" {line}"
    yield from (f"$ {command}" for command in joined)


def _names(parameter: click.Parameter, context: click.Context) -> str:
    if isinstance(parameter, click.Argument):
        return f"`{parameter.make_metavar(context)}`"
    takes = not isinstance(parameter, click.Option) or not (parameter.is_flag or parameter.count)
    metavar = f" {parameter.make_metavar(context)}" if takes else ""
    return ", ".join(_code(f"{name}{metavar}") for name in parameter.opts)


def _code(text: str) -> str:
    """Return a code span that a table can hold."""
    return f"`{text.replace('|', chr(92) + '|')}`"


def _meaning(parameter: click.Parameter) -> str:
    parts = [_cell(getattr(parameter, "help", None) or "")]
    default = parameter.default
    is_shown = isinstance(default, (int, float, str)) and not isinstance(default, bool)
    if is_shown and default != "" and not getattr(parameter, "count", False):
        parts.append(f"Default: `{default}`.")
    if parameter.envvar:
        parts.append(f"Environment: `{parameter.envvar}`.")
    if parameter.required:
        parts.append("Required.")
    return " ".join(part for part in parts if part)


def _cell(text: str) -> str:
    """Return text that a table of Markdown shows as it is."""
    joined = " ".join(text.split())
    for sign in "\\|*_<[":
        joined = joined.replace(sign, f"\\{sign}")
    return joined
