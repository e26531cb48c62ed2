"""`ov-es audit`: every invariant over the whole log, with figures."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from ov_es_adapters.cli.exit_status import ExitStatus
from ov_es_adapters.cli.main import GlobalOptions
from ov_es_adapters.cli.moments import Moment, MomentType, position_at
from ov_es_adapters.cli.opening import json_option, name_option, reading

if TYPE_CHECKING:
    from ov_es_adapters.event_log.log import EventLog
    from ov_es_domain.recorded import Recorded
    from ov_es_projections.audit import AuditReport

FORMATS = ("text", "json", "md", "html")
UNCHECKED = (
    "the posts that the team's server shows weren't compared: an audit reads the log alone",
    "what was changed outside of the log, such as commits and pushes, wasn't looked at",
)


@dataclass(frozen=True, slots=True)
class Audited:
    """A report, with what it doesn't cover."""

    report: "AuditReport"
    since: int
    """Findings and figures are those of what came after this position."""
    unchecked: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """Return the fields of `audit --json`."""
        return {**self.report.as_data(), "since": self.since, "unchecked": list(self.unchecked)}


@click.command()
@click.option(
    "--since", type=MomentType(), metavar="N|TIME", help="Report only what came after it."
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True,
    help="How it's printed.",
)  # fmt: skip
@name_option
@json_option
@click.pass_context
def command(
    ctx: click.Context, since: Moment | None, form: str, agent: str | None, *, as_json: bool
) -> None:
    """Check every invariant over the whole log, and exit with 1 where one is broken.

    Example: ov-es audit --format html > audit.html
    """
    from ov_es_adapters.cli import audit_formats  # noqa: PLC0415 - `--help` stays fast
    from ov_es_adapters.cli.output import print_json  # noqa: PLC0415 - likewise

    options = ctx.find_object(GlobalOptions)
    if options is None:
        raise AssertionError("the group makes the options")
    with reading(options, agent) as log:
        after = 0 if since is None else position_at(since, log.stream())
        audited = audit_log(log, after, now=time.time(), is_quiet=options.verbosity < 0)
    match "json" if as_json else form:
        case "json":
            print_json(audited.as_data())
        case "md":
            click.echo(audit_formats.markdown(audited.as_data()), nl=False)
        case "html":
            latencies = audited.report.figures.latencies
            click.echo(audit_formats.html(audited.as_data(), latencies), nl=False)
        case _:
            audit_formats.print_text(audited.as_data())
    ctx.exit(int(ExitStatus.DONE if audited.report.is_clean else ExitStatus.FOUND))


def audit_log(log: "EventLog", since: int, *, now: float, is_quiet: bool = False) -> Audited:
    """Run every invariant over the log, and hold its projections against a rebuild.

    Raises: CorruptLogError where the log itself can't be read through.
    """
    from ov_es_adapters.cli.progress import progress  # noqa: PLC0415 - `--help` stays fast
    from ov_es_adapters.cli.projection_check import compare_projections  # noqa: PLC0415 - likewise
    from ov_es_projections.audit import audit  # noqa: PLC0415 - likewise
    from ov_es_projections.audit.figures import Figures  # noqa: PLC0415 - likewise

    log.check()
    figures = Figures()
    head = log.position()
    with progress("events", head, is_quiet=is_quiet) as advance:

        def seen() -> "Iterator[Recorded]":
            for event in log.stream(until=head):
                if event.position > since:
                    figures.see(event)
                advance(event.position)
                yield event

        report = audit(seen(), at=now)
    with progress("projections", head, is_quiet=is_quiet) as advance:
        compared = compare_projections(log, progress=advance)
    told = [found for found in report.findings if found.position > since or not found.position]
    whole = replace(report, findings=(*told, *compared), figures=figures)
    return Audited(whole, since, UNCHECKED)
