"""`ov-es push-pr-branch`: the one push that an agent may make (GIT-106)."""

from pathlib import Path

import click

from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.opening import json_option


@click.command()
@json_option
@click.pass_obj
def command(options: GlobalOptions, *, as_json: bool) -> None:
    """Push the agent/… branch that is checked out here to the branch of that name on origin.

    Never by force, never another branch, never another remote, and only from a repository that a
    person has authorized.

    Example: ov-es push-pr-branch
    """
    from ov_es_adapters.cli.output import print_json, printable  # noqa: PLC0415 - `--help` is fast
    from ov_es_adapters.git.push_authorizations import PushAuthorizations  # noqa: PLC0415
    from ov_es_adapters.git.push_helper import (  # noqa: PLC0415 - likewise
        MARKER,
        PushNotAuthorizedError,
        push,
    )
    from ov_es_adapters.settings import home_folder  # noqa: PLC0415 - likewise

    try:
        done = push(Path.cwd(), PushAuthorizations(home_folder(options.home)))
    except PushNotAuthorizedError as error:
        # The watcher finds this line in what the run's command printed, and pauses the ticket.
        click.echo(f"{MARKER}: {printable(error.root)}", err=as_json)
        raise
    if as_json:
        print_json({"root": done.root, "remote": done.remote, "branch": done.branch})
    else:
        click.echo(f"{printable(done.branch)} is at {printable(done.remote)}")
