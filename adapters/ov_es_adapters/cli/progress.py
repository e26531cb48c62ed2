"""How far a long piece of work has come: a bar on stderr, where somebody looks."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def progress(
    label: str, total: int, *, is_quiet: bool = False
) -> Generator[Callable[[int], None]]:
    """Show a bar for the block, and yield the function that moves it."""
    if is_quiet or not sys.stderr.isatty():
        yield _ignore
        return
    from rich.progress import Progress  # noqa: PLC0415 - only where somebody looks

    from ov_es_adapters.cli.output import console  # noqa: PLC0415 - likewise

    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda position: bar.update(task, completed=position)


def _ignore(position: int) -> None:
    del position
