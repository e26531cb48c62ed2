"""Scripts: what each step reads as, and what a slip is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.scripted_model.playing import Playing, filled
from ov_es_adapters.scripted_model.script import (
    Call,
    CutShort,
    Decline,
    Drop,
    Edit,
    Fail,
    Garble,
    McpTool,
    NamedTool,
    Read,
    Refuse,
    Say,
    Shell,
    Stall,
    Write,
    parse_steps,
)

WORDS = st.sampled_from(
    ["say", "call", "refuse", "times", "stall", "drop", "fail", "mcp", "shell", "write", "steps"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)


def test_every_step_can_be_written() -> None:
    steps = parse_steps(
        {
            "steps": [
                {"say": "Hello"},
                {
                    "call": [
                        {"mcp": "get_ticket", "arguments": {"ticket_id": 5}},
                        {"mcp": "look", "server": "other"},
                        {"shell": "ls"},
                        {"write": "a.txt", "content": ""},
                        {"edit": "a.txt", "old": "a", "new": ""},
                        {"read": "a.txt"},
                        {"tool": "Task", "arguments": {"prompt": "Go"}},
                    ],
                    "say": "Let me see.",
                },
                {"refuse": 429},
                {"refuse": 500, "times": 3},
                {"refuse": 401, "times": "forever"},
                {"stall": 2.5, "say": "Well"},
                {"drop": True},
                {"fail": "It broke.", "code": "overloaded"},
                {"decline": "No."},
                {"cut_short": "And then"},
                {"garble": "<html>"},
            ]
        }
    )

    assert steps == (
        Say("Hello"),
        Call(
            (
                McpTool("get_ticket", {"ticket_id": 5}),
                McpTool("look", {}, "other"),
                Shell("ls"),
                Write("a.txt", ""),
                Edit("a.txt", "a", ""),
                Read("a.txt"),
                NamedTool("Task", {"prompt": "Go"}),
            ),
            "Let me see.",
        ),
        Refuse(429),
        Refuse(500, 3),
        Refuse(401, None),
        Stall(2.5, "Well"),
        Drop(),
        Fail("overloaded", "It broke."),
        Decline("No."),
        CutShort("And then"),
        Garble("<html>"),
    )


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("say", "steps: must be a list"),
        ({"step": []}, "script: unknown field 'step'"),
        ([7], r"steps\[0\]: a step is an object"),
        ([{"say": "Hi"}, {"speak": "Hi"}], r"steps\[1\]: .*found: speak"),
        ([{"say": "Hi", "drop": True, "stall": 1}], r"steps\[0\]: .*found: stall, drop"),
        ([{"say": 7}], r"steps\[0\]\.say: must be a text"),
        ([{"call": []}], r"steps\[0\]\.call: .*at least one"),
        ([{"call": {"shell": "ls"}}], r"steps\[0\]\.call: must be a list"),
        ([{"call": [{"bash": "ls"}]}], r"steps\[0\]\.call\[0\]: .*found: bash"),
        ([{"call": [{"write": "a"}]}], r"steps\[0\]\.call\[0\]: the field 'content' is missing"),
        ([{"refuse": 200}], r"steps\[0\]\.refuse: must be an HTTP status"),
        ([{"refuse": 500, "times": 0}], r"steps\[0\]\.times: .*at least 1"),
        ([{"refuse": 500, "times": "always"}], r"steps\[0\]\.times: .*'forever'"),
        ([{"stall": 1e9}], r"steps\[0\]\.stall: must be 3600 seconds at most"),
        ([{"drop": False}], r"steps\[0\]\.drop: must be true"),
    ],
)
def test_a_slip_is_named_with_its_place(script: object, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        parse_steps(script)


@given(VALUES)
def test_any_value_is_a_script_or_refused(value: object) -> None:
    try:
        steps = parse_steps(value)
    except BadInputError:
        return
    assert Playing(steps, {}).left == len(steps)


def test_variables_are_filled_in_at_any_depth() -> None:
    use = McpTool("post", {"to": ["{{who}}"], "in": {"path": "{{ where }}/{{where}}"}})

    step = filled(Call((use, Shell("cd {{where}}")), "For {{who}}"), {"who": "Ada", "where": "/w"})

    assert step == Call(
        (McpTool("post", {"to": ["Ada"], "in": {"path": "{{ where }}//w"}}), Shell("cd /w")),
        "For Ada",
    )


@given(st.lists(st.one_of(st.builds(Say, st.text()), st.builds(Refuse, st.just(500)))))
def test_steps_come_in_their_order_and_then_never_again(steps: list[Say | Refuse]) -> None:
    playing = Playing(steps, {})

    assert [playing.take() for _ in steps] == steps
    assert playing.left == 0
    assert [playing.take() for _ in range(2)] == [Say("The script is over.")] * 2


def test_a_step_that_goes_on_for_ever_is_no_longer_left_once_it_was_met() -> None:
    playing = Playing([Refuse(500, None), Say("Never")], {})

    assert playing.left == 2
    assert [playing.take() for _ in range(5)] == [Refuse(500, None)] * 5
    assert playing.left == 1
