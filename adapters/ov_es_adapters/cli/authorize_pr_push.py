"""`ov-es authorize-pr-push`: a person lets agents push their branches from this repository."""

from pathlib import Path

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.opening import json_option


@click.command()
@json_option
@click.pass_obj
def command(options: GlobalOptions, *, as_json: bool) -> None:
    """Let agents push their agent/… branches from this repository to its origin.

    Run it inside the repository, once. It holds for exactly this place, this address of origin,
    and the way in which git connects now; when one of them changes, ask again.

    Example: ov-es authorize-pr-push
    """
    from ov_es_adapters.cli.output import print_json, printable  # noqa: PLC0415 - `--help` is fast
    from ov_es_adapters.errors import NotConfiguredError  # noqa: PLC0415 - likewise
    from ov_es_adapters.git.codex_rule import allow_push_helper  # noqa: PLC0415 - likewise
    from ov_es_adapters.git.push_authorizations import PushAuthorizations  # noqa: PLC0415
    from ov_es_adapters.git.push_helper import authorize  # noqa: PLC0415 - likewise
    from ov_es_adapters.runtimes.enclosing_run import is_inside_a_run  # noqa: PLC0415
    from ov_es_adapters.settings import home_folder  # noqa: PLC0415 - likewise

    if is_inside_a_run():
        raise NotConfiguredError("a run can't authorize itself: a person has to do this")
    target = authorize(Path.cwd(), PushAuthorizations(home_folder(options.home)))
    rule = allow_push_helper()
    if as_json:
        print_json({"root": target.root, "remote": target.remote, "branch": None})
        return
    click.echo(f"agents may push agent/… branches from {printable(target.root)}")
    click.echo(f"  to {printable(target.remote)}, by `ov-es push-pr-branch` alone")
    if rule is not None:
        click.echo(f"  codex is told so by {printable(str(rule))}")
