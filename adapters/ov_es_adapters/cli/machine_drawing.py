"""Draws a machine from its table: as Mermaid text, and as SVG without any other program."""

from collections.abc import Mapping, Sequence
from html import escape

from ov_es_domain.transitions import Table

_BOX_WIDTH, _BOX_HEIGHT = 132, 36
_COLUMN, _ROW, _MARGIN = 250, 96, 40
_LETTER = 5.6
"""How wide a letter of a label is, in user units."""


def mermaid(table: Table) -> str:
    """Return a `stateDiagram-v2`.

    >>> from ov_es_domain.watch.machine import WATCH_TABLE
    >>> print(mermaid(WATCH_TABLE).splitlines()[2])
        [*] --> idle
    """
    lines = ["---", f"title: {table.machine}", "---", "stateDiagram-v2", "direction LR"]
    lines.append(f"    [*] --> {table.initial}")
    lines += [
        f"    {source} --> {target}: {', '.join(names)}"
        for (source, target), names in _arrows(table).items()
    ]
    lines += [f"    {state} --> [*]" for state in table.states if state in table.final]
    return "\n".join(lines) + "\n"


def _arrows(table: Table) -> Mapping[tuple[str, str], list[str]]:
    """Return the names of all transitions between two states, in the order of declaration."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for arrow in table.transitions:
        arrows.setdefault((arrow.source, arrow.target), []).append(arrow.name)
    return arrows


def layers(table: Table) -> Sequence[Sequence[str]]:
    """Return the states by their distance from the initial one; the last layer is out of reach.

    >>> from ov_es_domain.watch.machine import WATCH_TABLE
    >>> layers(WATCH_TABLE)
    [['idle'], ['held']]
    """
    found: list[list[str]] = []
    seen: set[str] = set()
    frontier = [table.initial]
    while frontier:
        found.append(frontier)
        seen.update(frontier)
        steps = [
            to for source in frontier for (of, _), to in table.targets.items() if of == source
        ]
        frontier = list(dict.fromkeys(state for state in steps if state not in seen))
    rest = [state for state in table.states if state not in seen]
    return [*found, rest] if rest else found


def svg(table: Table) -> str:
    """Return a picture that stands for itself, with words for those who can't see it."""
    columns = layers(table)
    places = {
        state: (_MARGIN + x * _COLUMN, _MARGIN + y * _ROW + (x % 2) * _ROW // 2)
        for x, column in enumerate(columns)
        for y, state in enumerate(column)
    }
    width = 2 * _MARGIN + (len(columns) - 1) * _COLUMN + _BOX_WIDTH + _COLUMN // 2
    height = 2 * _MARGIN + max(len(column) for column in columns) * _ROW + _ROW // 2
    told = "; ".join(
        f"{source} to {target} by {', '.join(names)}"
        for (source, target), names in _arrows(table).items()
    )
    name = escape(table.machine)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" aria-labelledby="{name}-title {name}-desc"'
            ' font-family="system-ui, sans-serif">'
        ),
        f'<title id="{name}-title">The life of a {name}</title>',
        f'<desc id="{name}-desc">It begins as {escape(table.initial)}. {escape(told)}.</desc>',
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"'
            ' markerHeight="8" orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 z"'
            ' fill="#5b6470"/></marker></defs>'
        ),
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    arrows = _arrows(table)
    parts += [_path(pair, names, places) for pair, names in arrows.items()]
    parts += [_box(state, places[state], table) for state in table.states]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _box(state: str, place: tuple[int, int], table: Table) -> str:
    x, y = place
    fill = (
        "#dff3e4" if state in table.final else "#e8effc" if state == table.initial else "#f4f5f7"
    )
    stroke = 2.5 if state == table.initial else 1.2
    return (
        f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="8" fill="{fill}"'
        f' stroke="#2d3540" stroke-width="{stroke}"/>'
        f'<text x="{x + _BOX_WIDTH / 2}" y="{y + _BOX_HEIGHT / 2 + 5}" font-size="14"'
        f' text-anchor="middle" fill="#16202b">{escape(state)}</text>'
    )


def _path(
    pair: tuple[str, str], names: Sequence[str], places: Mapping[str, tuple[int, int]]
) -> str:
    """Draw an arrow; those that lead back, or up and down, bend so that none hides another."""
    (x1, y1), (x2, y2) = places[pair[0]], places[pair[1]]
    half = _BOX_HEIGHT / 2
    if pair[0] == pair[1]:
        top, middle = y1, x1 + _BOX_WIDTH / 2
        line = f"M{middle - 18} {top} C{middle - 34} {top - 30} {middle + 34} {top - 30}"
        return _stroke(f"{line} {middle + 18} {top}", middle, top - 26, names)
    if x2 > x1:
        start, end = (x1 + _BOX_WIDTH, y1 + half - 5), (x2, y2 + half - 5)
        bend = 0.0
    elif x2 < x1:
        start, end = (x1, y1 + half + 7), (x2 + _BOX_WIDTH, y2 + half + 7)
        bend = 34.0
    else:
        side = x1 + _BOX_WIDTH
        start, end = (side, y1 + half), (side, y2 + half)
        middle_x = side + 46.0
        line = f"M{start[0]} {start[1]} C{middle_x} {start[1]} {middle_x} {end[1]}"
        return _stroke(f"{line} {end[0]} {end[1]}", middle_x, (start[1] + end[1]) / 2, names)
    middle_x, middle_y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + bend
    line = f"M{start[0]} {start[1]} Q{middle_x} {middle_y + bend} {end[0]} {end[1]}"
    # Labels stand nearer to where the arrow begins: in the middle too many of them would meet.
    near_x, near_y = (
        start[0] + (middle_x - start[0]) * 0.8,
        start[1] + (middle_y - start[1]) * 0.8,
    )
    return _stroke(line, near_x, near_y, names)


def _stroke(line: str, x: float, y: float, names: Sequence[str]) -> str:
    label = escape(", ".join(names))
    width = len(label) * _LETTER + 6
    return (
        f'<path d="{line}" fill="none" stroke="#5b6470" stroke-width="1.3"'
        ' marker-end="url(#tip)"/>'
        f'<rect x="{x - width / 2:.1f}" y="{y - 9:.1f}" width="{width:.1f}" height="14"'
        ' fill="#ffffff" fill-opacity="0.85"/>'
        f'<text x="{x:.1f}" y="{y + 2:.1f}" font-size="10.5" text-anchor="middle"'
        f' fill="#3a4552">{label}</text>'
    )
