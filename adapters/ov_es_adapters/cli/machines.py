"""`ov-es machines`: the state machines, drawn or listed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ov_es_adapters.cli.opening import json_option
from ov_es_adapters.errors import BadInputError

if TYPE_CHECKING:
    from ov_es_domain.transitions import Table

FORMATS = ("table", "mermaid", "svg")


@click.command()
@click.argument("name", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="How they're shown to people.",
)
@json_option
def command(name: str | None, form: str, *, as_json: bool) -> None:
    """Show the state machines: all of them, or the one of this name.

    Example: ov-es machines delivery --format mermaid
    """
    from ov_es_domain.catalogue import LIFECYCLES  # noqa: PLC0415 - `--help` stays fast

    tables = {lifecycle.name: lifecycle.table for lifecycle in LIFECYCLES.values()}
    if name is not None:
        if name not in tables:
            raise BadInputError(f"there is no machine {name!r}; use one of {', '.join(tables)}")
        tables = {name: tables[name]}
    if as_json:
        from ov_es_adapters.cli.output import print_json  # noqa: PLC0415 - likewise

        print_json({each: document(table) for each, table in tables.items()})
    elif form == "table":
        _print_tables(tables)
    else:
        _print_drawings(tables, form)


def document(table: "Table") -> dict[str, object]:
    """Return a machine with the fields of `machines --json`."""
    return {
        "states": list(table.states),
        "initial": table.initial,
        "final": sorted(table.final),
        "transitions": [
            {"name": arrow.name, "source": arrow.source, "target": arrow.target}
            for arrow in table.transitions
        ],
    }


def _print_tables(tables: Mapping[str, "Table"]) -> None:
    from ov_es_adapters.cli.output import print_table, say  # noqa: PLC0415 - likewise

    for name, table in tables.items():
        print_table(
            ("from", "transition", "to"),
            [(arrow.source, arrow.name, arrow.target) for arrow in table.transitions],
            title=f"{name}: begins as {table.initial}",
        )
        say()


def _print_drawings(tables: Mapping[str, "Table"], form: str) -> None:
    from ov_es_adapters.cli.machine_drawing import mermaid, svg  # noqa: PLC0415 - likewise

    if form == "mermaid":
        click.echo("\n".join(mermaid(table) for table in tables.values()), nl=False)
        return
    if len(tables) > 1:
        raise BadInputError(f"an SVG shows one machine: name one of {', '.join(tables)}")
    click.echo("".join(svg(table) for table in tables.values()), nl=False)
