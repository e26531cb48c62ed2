"""Each command has a help text, an example that can be pasted, and `--json`."""

import click
import pytest

from ov_es_adapters.cli.main import COMMANDS, cli

PROTOCOLS = {"mcp-proxy"}
"""Commands whose stdout is a protocol's."""


def _command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does_and_shows_an_example(name: str) -> None:
    said = _command(name).help or ""

    assert said.splitlines()[0].endswith(".")
    assert "Example: ov-es " in said.replace("Examples:", "Example:")


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - PROTOCOLS))
def test_a_command_gives_json(name: str) -> None:
    options = {word for option in _command(name).params for word in option.opts}

    assert "--json" in options


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_the_same_as_their_help(name: str) -> None:
    first = (_command(name).help or "").splitlines()[0]

    assert first.split()[0] == COMMANDS[name].split()[0]
