"""Draws a machine from its table: as Mermaid text, and as SVG without any other program.

The picture has a line for each state, by its distance from the first one, and a row for each
arrow: many arrows then lie below each other, and none hides another or its name.
"""

from collections.abc import Mapping, Sequence
from html import escape

from ov_es_domain.transitions import Table

_BOX_WIDTH, _BOX_HEIGHT = 104, 30
_COLUMN, _ROW, _MARGIN = 122, 30, 24
_LOOP = 26
"""How far an arrow to its own state reaches out."""
_LETTER = 6.2
"""How wide a letter of a name is at most, in user units."""


def mermaid(table: Table) -> str:
    """Return a `stateDiagram-v2`.

    >>> from ov_es_domain.watch.machine import WATCH_TABLE
    >>> print(mermaid(WATCH_TABLE).splitlines()[5])
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
    >>> [[str(state) for state in layer] for layer in layers(WATCH_TABLE)]
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
    order = [state for layer in layers(table) for state in layer]
    lines = {state: _MARGIN + n * _COLUMN + _BOX_WIDTH // 2 for n, state in enumerate(order)}
    arrows = sorted(_arrows(table).items(), key=lambda arrow: order.index(arrow[0][0]))
    longest = max(len(", ".join(names)) for _, names in arrows) * _LETTER
    width = 2 * _MARGIN + (len(order) - 1) * _COLUMN + _BOX_WIDTH + int(longest / 2)
    foot = _MARGIN + _BOX_HEIGHT + (len(arrows) + 1) * _ROW
    height = foot + _MARGIN
    told = "; ".join(f"{source} to {to} by {', '.join(names)}" for (source, to), names in arrows)
    name = escape(table.machine)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}"'
            f' height="{height}" viewBox="0 0 {width} {height}"'
            f' aria-labelledby="{name}-title {name}-desc" font-family="system-ui, sans-serif">'
        ),
        f'<title id="{name}-title">The life of a {name}</title>',
        f'<desc id="{name}-desc">It begins as {escape(table.initial)}. {escape(told)}.</desc>',
        (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"'
            ' markerHeight="8" orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 z"'
            ' fill="#2d5da8"/></marker></defs>'
        ),
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *(
            f'<line x1="{x}" y1="{_MARGIN + _BOX_HEIGHT}" x2="{x}" y2="{foot}" stroke="#c3cad4"/>'
            for x in lines.values()
        ),
        *(
            _arrow(lines[source], lines[to], _MARGIN + _BOX_HEIGHT + (n + 1) * _ROW, names)
            for n, ((source, to), names) in enumerate(arrows)
        ),
        *(_box(state, lines[state], table) for state in table.states),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _box(state: str, x: int, table: Table) -> str:
    fill = (
        "#dff3e4" if state in table.final else "#e8effc" if state == table.initial else "#f4f5f7"
    )
    stroke = 2.5 if state == table.initial else 1.2
    return (
        f'<rect x="{x - _BOX_WIDTH // 2}" y="{_MARGIN}" width="{_BOX_WIDTH}"'
        f' height="{_BOX_HEIGHT}" rx="8" fill="{fill}" stroke="#2d3540" stroke-width="{stroke}"/>'
        f'<text x="{x}" y="{_MARGIN + 20}" font-size="13" text-anchor="middle"'
        f' fill="#16202b">{escape(state)}</text>'
    )


def _arrow(start: int, end: int, y: int, names: Sequence[str]) -> str:
    """Draw one row: a dot on the line of the source, and the tip on that of the target."""
    label = escape(", ".join(names))
    if start == end:
        line = f"M{start} {y - 5} h{_LOOP} v10 H{end + 2}"
        x, anchor = start + _LOOP + 6, "start"
        shade = x - 2.0
    else:
        line = f"M{start} {y} H{end}"
        x, anchor = (start + end) // 2, "middle"
        shade = x - len(label) * _LETTER / 2
    middle = y + 4 if start == end else y - 5
    return (
        f'<circle cx="{start}" cy="{y - 5 if start == end else y}" r="3.5" fill="#2d5da8"/>'
        f'<path d="{line}" fill="none" stroke="#2d5da8" stroke-width="1.4"'
        ' marker-end="url(#tip)"/>'
        f'<rect x="{shade:.0f}" y="{middle - 10}" width="{len(label) * _LETTER:.0f}" height="12"'
        ' fill="#ffffff" fill-opacity="0.85"/>'
        f'<text x="{x}" y="{middle}" font-size="11.5" text-anchor="{anchor}"'
        f' fill="#16202b">{label}</text>'
    )
