"""`ov-es rebuild`: throws all projections away, and builds them again from the log."""

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.opening import json_option, name_option, writing


@click.command()
@name_option
@json_option
@click.pass_obj
def command(options: GlobalOptions, agent: str | None, *, as_json: bool) -> None:
    """Throw away all projections and build them again from the log; the log itself never changes.

    Example: ov-es rebuild --name ada
    """
    from ov_es_adapters.cli.output import print_json  # noqa: PLC0415 - `--help` stays fast
    from ov_es_adapters.cli.progress import progress  # noqa: PLC0415 - likewise

    with writing(options, agent) as log:
        position = log.position()
        with progress("events", position, is_quiet=options.verbosity < 0) as advance:
            log.rebuild(advance)
        names = sorted(log.lag())
    if as_json:
        print_json({"position": position, "projections": names})
    else:
        click.echo(f"{len(names)} projections are built again from {position} events")
