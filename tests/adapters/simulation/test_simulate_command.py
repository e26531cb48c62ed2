"""`ov-es simulate`: its document, its exit statuses, and its one-line refusals."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from ov_es_adapters.cli.main import cli

STORIES = Path(__file__).parents[2] / "stories"
STORY = STORIES / "duplicated_mention.json"


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["simulate", *map(str, arguments)])


def _document(result: Result) -> Any:
    return json.loads(result.stdout)


def test_one_run_prints_one_document_and_exits_with_0() -> None:
    result = _run(STORY, "--json")

    told = _document(result)
    assert result.exit_code == 0, result.output
    assert list(told) == [
        "name",
        "seed",
        "ended_at",
        "events",
        "posts",
        "ticket_updates",
        "comments",
        "runs",
        "signals",
        "tickets",
        "deliveries",
        "left",
        "violations",
        "expect",
    ]
    assert told["posts"] == [
        {
            "at": pytest.approx(5.1, abs=0.02),
            "channel_id": 10,
            "parent_id": 100,
            "content": "It's in review.",
            "delivery": "reply:10:100",
            "run": 1,
        }
    ]
    assert told["expect"] == {"met": True, "unmet": []}


def test_several_runs_print_a_list() -> None:
    told = _document(_run(STORY, STORIES / "two_threads.json", "--seeds", 2, "--json"))

    assert [(one["name"][:12], one["seed"]) for one in told] == [
        ("a duplicated", 0),
        ("a duplicated", 1),
        ("two mentions", 0),
        ("two mentions", 1),
    ]


def test_an_expectation_that_is_not_met_exits_with_1(tmp_path: Path) -> None:
    story = json.loads(STORY.read_text())
    story["expect"] = {"posts": [{"channel_id": 11}]}
    path = tmp_path / "story.json"
    path.write_text(json.dumps(story))

    as_json, as_text = _run(path, "--json"), _run(path)

    assert (as_json.exit_code, as_text.exit_code) == (1, 1)
    assert _document(as_json)["expect"] == {
        "met": False,
        "unmet": ["posts[0].channel_id: expected 11, got 10"],
    }
    assert "not as expected: posts[0].channel_id: expected 11, got 10" in as_text.output


def test_crashes_everywhere_are_part_of_the_same_document() -> None:
    result = _run(STORY, "--crash-everywhere", "--json")

    told = _document(result)
    assert result.exit_code == 0, result.output
    assert told["violations"] == []
    assert told["commits"] > 5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"agnt": {}}', "unknown field 'agnt'"),
        ("{", "line 1, column 2"),
        (
            '{"agent": {"identifier": "ada"}, "steps": [{"at": 1, "frame2": {}}]}',
            "steps[0].frame2",
        ),
    ],
)
def test_a_bad_file_is_one_clear_line_and_exits_with_2(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "story.json"
    path.write_text(text)

    result = _run(path, "--json")

    assert result.exit_code == 2
    assert told in result.stderr
    assert str(path) in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


def test_a_wrong_call_exits_with_2() -> None:
    assert _run().exit_code == 2
    assert _run(STORY, "--seeds", 0).exit_code == 2
    assert _run(STORY, "--crash-before").exit_code == 2
    assert _run("absent.json").exit_code == 2


def test_people_read_what_was_posted() -> None:
    result = _run(STORY)

    assert "a duplicated mention is answered once, seed 0: as expected" in result.stdout
    assert "channel 10, thread 100: It's in review." in result.stdout
