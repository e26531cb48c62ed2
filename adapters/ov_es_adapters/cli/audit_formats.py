"""An audit for people: as text, as Markdown, and as one HTML page that needs nothing else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ov_es_adapters.cli.output import age, print_table, printable, say

_BUCKETS = (1, 2, 5, 10, 30, 60, 300, 900, 3600)
"""Upper bounds of the bars of waiting times, in seconds."""
_BAR_WIDTH, _BAR_STEP = 420, 24
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color: #16202b; background: #ffffff; }
h1, h2 { line-height: 1.2; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d5dae1;
  vertical-align: top; overflow-wrap: anywhere; }
.error { color: #a11414; font-weight: 600; } .warning { color: #7a4d00; font-weight: 600; }
.fine { color: #14602c; font-weight: 600; }
"""


def verdict(told: Mapping[str, Any]) -> str:
    """Return what an audit comes to, in one sentence."""
    counts = Counter(finding["severity"] for finding in told["findings"])
    wrong = {name: count for name, count in counts.items() if name != "note"}
    if not wrong:
        return f"All invariants hold over {told['events']} events, as far as they were checked."
    named = " and ".join(f"{n} {name}{'s' if n > 1 else ''}" for name, n in sorted(wrong.items()))
    return f"{named} in {told['events']} events."


def figures(told: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the numbers of an audit with their names."""
    latency = told["latency"]
    return [
        ("agents", ", ".join(told["agents"]) or "none"),
        ("tickets", str(told["tickets"])),
        ("turns", _counts(told["turns"])),
        ("messages", _counts(told["deliveries"])),
        ("posted twice", str(told["duplicates"])),
        ("lost", str(told["lost"])),
        ("stuck", str(told["stuck"])),
        ("suppressed", _counts(told["suppressed"])),
        ("refused", _counts(told["refused"])),
        (
            "waiting for a reply",
            (
                f"{latency['replies']} replies; half within {_seconds(latency['p50'])},"
                f" 90 % within {_seconds(latency['p90'])}, 99 % within {_seconds(latency['p99'])}"
            ),
        ),
    ]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def _seconds(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:.1f} s" if value < 60 else age(value)  # noqa: PLR2004 - a minute


def _rows(told: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    return [
        (f["severity"], f["rule"], f["key"], str(f["position"] or ""), f["message"])
        for f in told["findings"]
    ]


_COLUMNS = ("severity", "rule", "key", "position", "what")


def print_text(told: Mapping[str, Any]) -> None:
    """Print an audit for people at a terminal."""
    say(verdict(told))
    say()
    print_table(("figure", "value"), figures(told))
    say()
    print_table(_COLUMNS, _rows(told), title="Findings", empty="none")
    say()
    for line in told["unchecked"]:
        say(f"Not checked: {line}")


def markdown(told: Mapping[str, Any]) -> str:
    """Return an audit as Markdown; text from outside can't break its tables."""
    lines = ["# Audit", "", verdict(told), "", "| figure | value |", "|---|---|"]
    lines += [f"| {_cell(name)} | {_cell(value)} |" for name, value in figures(told)]
    lines += ["", "## Findings", ""]
    if told["findings"]:
        lines += [f"| {' | '.join(_COLUMNS)} |", "|---|---|---|---|---|"]
        lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in _rows(told)]
    else:
        lines.append("None.")
    lines += ["", "## Not checked", "", *(f"- {_cell(line)}" for line in told["unchecked"])]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    r"""Return text so that Markdown shows it as it is.

    >>> _cell("a|b <i>*x*")
    'a\\|b &lt;i&gt;\\*x\\*'
    """
    shown = escape(printable(text), quote=False)
    return "".join(f"\\{c}" if c in "\\|*_`[]" else c for c in shown)


def html(told: Mapping[str, Any], latencies: Sequence[float]) -> str:
    """Return an audit as one page without scripts, links or anything to load."""
    is_fine = all(finding["severity"] == "note" for finding in told["findings"])
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        (
            '<meta http-equiv="Content-Security-Policy"'
            " content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        ),
        f"<title>Audit</title><style>{_STYLE}</style></head><body><main><h1>Audit</h1>",
        f'<p class="{"fine" if is_fine else "error"}">{_shown(verdict(told))}</p>',
        "<h2>Figures</h2><table>",
        *(
            f'<tr><th scope="row">{_shown(name)}</th><td>{_shown(value)}</td></tr>'
            for name, value in figures(told)
        ),
        "</table>",
        _bars("Seconds from a message to its reply", histogram(latencies)),
        _bars("Turns by how they ended", list(told["turns"].items())),
        _bars("Messages by what became of them", list(told["deliveries"].items())),
        "<h2>Findings</h2>",
        _findings(told),
        "<h2>Not checked</h2><ul>",
        *(f"<li>{_shown(line)}</li>" for line in told["unchecked"]),
        "</ul></main></body></html>\n",
    ]
    return "\n".join(parts)


def _shown(text: str) -> str:
    return escape(printable(text))


def _findings(told: Mapping[str, Any]) -> str:
    if not told["findings"]:
        return "<p>None.</p>"
    head = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
    body = "".join(
        f'<tr><td class="{_shown(row[0])}">{_shown(row[0])}</td>'
        + "".join(f"<td>{_shown(value)}</td>" for value in row[1:])
        + "</tr>"
        for row in _rows(told)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def histogram(latencies: Sequence[float]) -> list[tuple[str, int]]:
    """Return how many replies took how long.

    >>> histogram([0.5, 3.0, 4.0, 9999.0])
    [('up to 1', 1), ('up to 5', 2), ('more than 3600', 1)]
    """
    counts: Counter[int] = Counter(
        next((n for n, bound in enumerate(_BUCKETS) if latency <= bound), len(_BUCKETS))
        for latency in latencies
    )
    names = [*(f"up to {bound}" for bound in _BUCKETS), f"more than {_BUCKETS[-1]}"]
    return [(names[place], counts[place]) for place in sorted(counts)]


def _bars(title: str, values: Sequence[tuple[str, int]]) -> str:
    """Draw horizontal bars, with all numbers as text as well."""
    if not values:
        return ""
    most = max(count for _, count in values)
    height = len(values) * _BAR_STEP + 4
    told = ", ".join(f"{name}: {count}" for name, count in values)
    bars = "".join(
        f'<text x="150" y="{n * _BAR_STEP + 16}" text-anchor="end" font-size="13">{_shown(name)}'
        f'</text><rect x="160" y="{n * _BAR_STEP + 3}" height="16" fill="#4a78c2"'
        f' width="{max(1, count * _BAR_WIDTH // most)}"/>'
        f'<text x="{166 + max(1, count * _BAR_WIDTH // most)}" y="{n * _BAR_STEP + 16}"'
        f' font-size="13">{count}</text>'
        for n, (name, count) in enumerate(values)
    )
    return (
        f'<h2>{_shown(title)}</h2><svg role="img" width="660" height="{height}"'
        f' aria-label="{_shown(told)}"><title>{_shown(title)}</title>'
        f"<desc>{_shown(told)}</desc>{bars}</svg>"
    )
