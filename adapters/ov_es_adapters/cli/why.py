"""`ov-es why`: the chain from the frame to the post, or the reason that there was none."""

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.opening import json_option, name_option, reading


@click.command()
@click.argument("subject", metavar="X")
@name_option
@json_option
@click.pass_obj
def command(options: GlobalOptions, subject: str, agent: str | None, *, as_json: bool) -> None:
    """Explain why something was posted, or why nothing was.

    X is a message id, a delivery key, a ticket's key or slug, a turn key or a signal's source.

    Example: ov-es why mention:10:100
    """
    from ov_es_adapters.cli.log_history import LogHistory  # noqa: PLC0415 - `--help` stays fast
    from ov_es_adapters.cli.naming import named_key  # noqa: PLC0415 - likewise
    from ov_es_adapters.cli.output import print_json  # noqa: PLC0415 - likewise
    from ov_es_projections.why import Explanation, explain  # noqa: PLC0415 - likewise

    with reading(options, agent) as log:
        history = LogHistory(log)
        found: Explanation = explain(named_key(subject, history), history)
    if as_json:
        print_json(found)
        return
    from ov_es_adapters.cli.output import print_table, say  # noqa: PLC0415 - only for people

    say(f"{found.subject}")
    say(found.outcome)
    say()
    print_table(
        ("position", "key", "what", "because of"),
        [(link.position, link.key, link.summary, link.cause) for link in found.chain],
    )
    if found.siblings:
        say()
        print_table(
            ("position", "key", "what it is", "what became of it"),
            [(each.position, each.key, each.relation, each.summary) for each in found.siblings],
            title="Easily taken for it",
        )
