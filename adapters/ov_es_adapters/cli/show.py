"""`ov-es show`: one aggregate with its state, its fields and its events."""

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.opening import json_option, name_option, reading


@click.command()
@click.argument("key")
@name_option
@json_option
@click.pass_obj
def command(options: GlobalOptions, key: str, agent: str | None, *, as_json: bool) -> None:
    """Show one aggregate: its state, its fields and its events.

    KEY is a natural key such as ticket:1:5, or what people call it: a ticket's slug, a message id.

    Example: ov-es show ticket:1:5
    """
    from ov_es_adapters.cli.log_history import LogHistory  # noqa: PLC0415 - `--help` stays fast
    from ov_es_adapters.cli.naming import named_key  # noqa: PLC0415 - likewise
    from ov_es_adapters.cli.shown import print_shown  # noqa: PLC0415 - likewise

    with reading(options, agent) as log:
        found = named_key(key, LogHistory(log))
        print_shown(found, log.load(found), as_json=as_json)
