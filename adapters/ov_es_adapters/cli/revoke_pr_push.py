"""`ov-es revoke-pr-push`: takes the authorization of a repository back (GIT-105)."""

from pathlib import Path

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.opening import json_option


@click.command()
@json_option
@click.pass_obj
def command(options: GlobalOptions, *, as_json: bool) -> None:
    """Take the authorization of this repository back.

    Example: ov-es revoke-pr-push
    """
    from ov_es_adapters.cli.output import print_json, printable  # noqa: PLC0415 - `--help` is fast
    from ov_es_adapters.git.codex_rule import forget_push_helper  # noqa: PLC0415 - likewise
    from ov_es_adapters.git.push_authorizations import PushAuthorizations  # noqa: PLC0415
    from ov_es_adapters.git.push_target import repository_root  # noqa: PLC0415 - likewise
    from ov_es_adapters.settings import home_folder  # noqa: PLC0415 - likewise

    root = repository_root(Path.cwd())
    authorizations = PushAuthorizations(home_folder(options.home))
    known = {each.root: each for each in authorizations.all()}
    was_there = authorizations.revoke(root)
    if not authorizations.all():
        forget_push_helper()
    if as_json:
        remote = known[root].remote if was_there else None
        print_json({"root": root, "remote": remote, "branch": None})
    elif was_there:
        click.echo(f"agents can't push from {printable(root)} any more")
    else:
        click.echo(f"{printable(root)} wasn't authorized; nothing has changed")
