"""Writes the page of all machines, with a picture of each, from the compiled tables."""

from collections.abc import Iterator
from importlib import import_module

from statemachine import StateMachine

from ov_es_adapters.cli.machine_drawing import mermaid, svg
from ov_es_domain.catalogue import LIFECYCLES
from ov_es_domain.lifecycle import EVENTS


def machines_page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# The machines"
    yield ""
    yield "Each arrow is an event; a command that would need an arrow that isn't here is refused,"
    yield "and a log that has such an event is corrupt."
    yield "`ov-es machines` shows the same."
    yield ""
    for name, lifecycle in LIFECYCLES.items():
        table = lifecycle.table
        yield f"## {name}"
        yield ""
        yield from _words(name)
        yield ""
        yield f"![The life of a {name}; the table below says the same](machines/{name}.svg)"
        yield ""
        yield "| from | transition | to | event |"
        yield "|---|---|---|---|"
        for arrow in table.transitions:
            topics = ", ".join(f"`{topic}`" for topic in _topics(name, arrow.name))
            yield f"| {arrow.source} | {arrow.name} | {arrow.target} | {topics} |"
        yield ""
        yield "```mermaid"
        yield from mermaid(table).splitlines()
        yield "```"
        yield ""


def machine_pictures() -> Iterator[tuple[str, str]]:
    """Yield each picture with its file's name."""
    for name, lifecycle in LIFECYCLES.items():
        yield f"machines/{name}.svg", svg(lifecycle.table)


def _words(name: str) -> Iterator[str]:
    """Yield what the machine says of itself."""
    for found in vars(import_module(f"ov_es_domain.{name}.machine")).values():
        is_ours = isinstance(found, type) and issubclass(found, StateMachine)
        if is_ours and found is not StateMachine:
            yield from (line.strip() for line in (found.__doc__ or "").strip().splitlines())
            return
    raise AssertionError(f"{name} has no machine")


def _topics(name: str, transition: str) -> Iterator[str]:
    for topic, kind in EVENTS.items():
        if topic.startswith(f"{name}.") and transition == kind.TRANSITION:
            yield topic
