"""What a scripted agent does, read strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.runtimes.playbook import (
    Commit,
    Edit,
    Flood,
    PolicyBlock,
    Raw,
    ScriptedRun,
    Shell,
    Step,
    Text,
    Tool,
    arguments_for,
    parse_playbook,
    parse_run,
    write_run,
)

WORDS = st.text(min_size=1, max_size=8)
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(Text, text=st.text(max_size=8)),
    st.builds(
        Tool, tool=WORDS, args=st.dictionaries(WORDS, st.integers() | WORDS), error=st.booleans()
    ),
    st.builds(Edit, path=st.sampled_from(["a.py", "folder/b c.txt", "é"])),
    st.builds(Shell, command=WORDS, exit=st.none() | st.integers(0, 255)),
    st.builds(Commit, message=WORDS),
    st.builds(PolicyBlock, root=st.just("") | WORDS),
    st.builds(Raw, line=st.text(max_size=8)),
    st.builds(Flood, megabytes=st.floats(0, 100)),
)
RUNS = st.builds(
    ScriptedRun,
    source=WORDS,
    takes=st.floats(0, 1e6),
    does=st.lists(STEPS, max_size=4).map(tuple),
    exit=st.integers(0, 255),
    hangs=st.booleans(),
    ignores_term=st.booleans(),
    children=st.integers(0, 5),
)


@given(RUNS)
def test_a_run_that_is_written_reads_as_the_same_run(run: ScriptedRun) -> None:
    assert parse_run(write_run(run), "run") == run


def test_a_recorded_stream_is_written_and_read_as_well() -> None:
    run = parse_run({"source": "ticket:1:5", "plays": "one.jsonl", "dialect": "codex"}, "run")

    assert (run.plays, run.dialect, run.exit) == ("one.jsonl", "codex", 0)
    assert parse_run(write_run(run), "run") == run


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ([], "runs[0]: a run is an object"),
        ({}, "runs[0]: the field 'source' is missing"),
        ({"source": "s", "doe": []}, "runs[0]: unknown field 'doe'"),
        ({"source": "s", "takes": -1}, "runs[0].takes: must be a number of at least 0"),
        ({"source": "s", "takes": True}, "runs[0].takes: must be a number"),
        ({"source": "s", "exit": 1.5}, "runs[0].exit: must be a whole number"),
        ({"source": "s", "children": -1}, "runs[0].children: must be a whole number of at least"),
        ({"source": "s", "hangs": 1}, "runs[0].hangs: must be true or false"),
        ({"source": "s", "does": {}}, "runs[0].does: must be a list"),
        ({"source": "s", "does": ["x"]}, "runs[0].does[0]: a step is an object"),
        ({"source": "s", "does": [{}]}, "exactly one of text, tool"),
        ({"source": "s", "does": [{"sheel": "x"}]}, "found: sheel"),
        ({"source": "s", "does": [{"text": "x", "raw": "y"}]}, "found: text, raw"),
        ({"source": "s", "does": [{"text": "x", "exit": 1}]}, "does[0]: unknown field 'exit'"),
        ({"source": "s", "does": [{"tool": "t", "args": []}]}, "does[0].args: must be an object"),
        ({"source": "s", "does": [{"edit": "../a"}]}, "does[0].edit: '../a' must lead to a file"),
        ({"source": "s", "does": [{"edit": "/a"}]}, "does[0].edit: '/a' must lead to a file"),
        ({"source": "s", "does": [{"commit": False}]}, "does[0].commit: must be a text"),
        ({"source": "s", "does": [{"flood": "x"}]}, "does[0].flood: must be a number"),
        ({"source": "s", "plays": "f", "does": []}, "exclude each other"),
        ({"source": "s", "plays": "f", "dialect": "x"}, "'x' is none of claude, codex, opencode"),
    ],
)
def test_a_slip_is_refused_by_name_and_place(written: object, message: str) -> None:
    with pytest.raises(BadInputError) as refusal:
        parse_playbook([written])

    assert message in str(refusal.value)


def test_a_playbook_that_is_no_list_is_refused() -> None:
    with pytest.raises(BadInputError, match="runs: must be a list"):
        parse_playbook({})


def test_runs_of_one_source_are_its_attempts_in_order_and_the_last_repeats() -> None:
    playbook = parse_playbook(
        [
            {"source": "ticket:1:5", "exit": 1},
            {"source": "mention:10:100"},
            {"source": "ticket:1:5", "exit": 2},
        ]
    )

    assert [playbook.run("ticket:1:5", attempt).exit for attempt in (1, 2, 3)] == [1, 2, 2]


def test_a_source_without_a_run_says_ok_and_ends_well() -> None:
    run = parse_playbook([]).run("ticket:1:9", 1)

    assert run == ScriptedRun(source="ticket:1:9", does=(Text(text="ok"),))


def test_ids_that_are_given_win_over_those_of_the_source() -> None:
    given = arguments_for("ticket:1:5", "get_ticket", {"ticket_id": 6})

    assert given == {"project_id": 1, "ticket_id": 6}
    assert arguments_for("ticket:1:5", "list_agents", {}) == {}
    assert arguments_for("frame:abc", "get_ticket", {}) == {}


def test_the_example_of_every_step_is_read() -> None:
    run = parse_run(
        {
            "source": "ticket:1:5",
            "takes": 60,
            "does": [
                {"tool": "get_ticket"},
                {"edit": "login.py"},
                {"shell": "pytest -q", "exit": 0},
                {"commit": True},
                {"policy_block": True},
                {"raw": "no json"},
                {"flood": 8},
                {"text": "Fixed."},
            ],
        },
        "runs[0]",
    )

    assert run.does == (
        Tool(tool="get_ticket", args={}),
        Edit(path="login.py"),
        Shell(command="pytest -q", exit=0),
        Commit(message="Work"),
        PolicyBlock(root=""),
        Raw(line="no json"),
        Flood(megabytes=8.0),
        Text(text="Fixed."),
    )
