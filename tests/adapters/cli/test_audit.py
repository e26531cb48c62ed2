"""`audit`: findings and figures, in every format, with an exit status that scripts can use."""

import sqlite3
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.adapters.cli.conftest import Call
from tests.projections.histories import Book, a_day

from ov_es_domain.watch.commands import BeginWatch

Keep = Callable[..., Path]
Document = Callable[..., Any]
FIELDS = {
    "events",
    "agents",
    "tickets",
    "turns",
    "deliveries",
    "duplicates",
    "lost",
    "stuck",
    "suppressed",
    "refused",
    "latency",
    "findings",
}


def bad_day() -> Book:
    """Return a day on which one message proves two posts."""
    book = a_day()
    book.answered(120, 205, "No | <script>alert(1)</script>")
    return book


@pytest.mark.usefixtures("day")
def test_a_clean_log_exits_with_0(document: Document) -> None:
    told = document("audit")

    assert told.keys() >= FIELDS
    assert told["findings"] == []
    assert told["tickets"] == 1


@pytest.mark.usefixtures("day")
def test_an_audit_says_what_it_could_not_check(document: Document, ov_es: Call) -> None:
    assert any("server" in line for line in document("audit")["unchecked"])
    assert "Not checked: the posts that the team's server shows" in ov_es("audit").stdout


def test_a_broken_invariant_exits_with_1(keep: Keep, ov_es: Call) -> None:
    keep(bad_day())

    told = ov_es("audit", "--json")

    assert told.exit_code == 1
    found = orjson.loads(told.stdout)
    assert found["duplicates"] == 1
    assert found["findings"][0].keys() == {"rule", "severity", "key", "position", "message"}
    assert found["findings"][0]["rule"] == "posted-twice"


def test_since_leaves_out_what_was_before(keep: Keep, ov_es: Call) -> None:
    book = bad_day()
    keep(book)
    last = len(book.events)

    told = ov_es("audit", "--since", last, "--format", "json")

    assert told.exit_code == 0
    assert orjson.loads(told.stdout)["events"] == 0
    assert orjson.loads(told.stdout)["since"] == last
    assert ov_es("audit", "--since", last - 1).exit_code == 1
    assert ov_es("audit", "--since", "2026-01-01T11:00:00Z").exit_code == 1


def test_a_projection_that_differs_from_a_rebuild_is_found(day: Path, ov_es: Call) -> None:
    with sqlite3.connect(day) as database:
        database.execute("UPDATE tickets SET state = 'paused'")
        database.execute("DELETE FROM signals WHERE source = 'mention:10:101'")
        database.execute("INSERT INTO open_turns (key) VALUES ('turn:made:up:1')")
    database.close()

    told = ov_es("audit", "--json")

    assert told.exit_code == 1
    found = orjson.loads(told.stdout)["findings"]
    assert {finding["rule"] for finding in found} == {"projection-differs"}
    assert {finding["key"] for finding in found} == {
        "ticket:1:5",
        "mention:10:101",
        "turn:made:up:1",
    }
    assert ov_es("rebuild").exit_code == 0
    assert ov_es("audit").exit_code == 0


@pytest.mark.parametrize("catch_up", [False, True])
def test_tracked_projections_are_compared_up_to_their_checkpoint(
    keep: Keep, document: Document, *, catch_up: bool
) -> None:
    keep(a_day(), catch_up=catch_up)

    assert document("audit")["findings"] == []


def test_text_and_markdown_show_figures_and_findings(keep: Keep, ov_es: Call) -> None:
    keep(bad_day())

    text, markdown = ov_es("audit"), ov_es("audit", "--format", "md")

    assert "1 error in" in text.stdout
    assert "posted-twice" in text.stdout
    assert "# Audit" in markdown.stdout
    assert "| error | posted-twice |" in markdown.stdout
    assert "## Not checked" in markdown.stdout


class Page(HTMLParser):
    """Reads a page strictly: every element that is opened is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.loads: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in {"meta", "rect"}:
            self.open.append(tag)
        self.loads += [name for name, _ in attrs if name in {"src", "href"}]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_stands_for_itself_and_escapes_everything(keep: Keep, ov_es: Call) -> None:
    book = bad_day()
    hostile = "turn-of <script>alert(1)</script>"
    book.say("watch:" + hostile, _begin(hostile), cause="start")
    keep(book)

    told = ov_es("audit", "--format", "html")

    page = Page(told.stdout)
    assert told.exit_code == 1
    assert page.open == []
    assert page.loads == []
    assert "script" not in page.tags
    assert page.tags.count("svg") == 3
    assert "&lt;script&gt;" in told.stdout
    assert "posted-twice" in told.stdout


def _begin(agent: str) -> Any:
    return BeginWatch(agent=agent, host="laptop", pid=1, program="ov-es 0.1")


@pytest.mark.usefixtures("day")
def test_a_clean_page_says_how_far_that_goes(ov_es: Call) -> None:
    told = ov_es("audit", "--format", "html")

    assert told.exit_code == 0
    assert "as far as they were checked" in told.stdout
    assert "<p>None.</p>" in told.stdout
