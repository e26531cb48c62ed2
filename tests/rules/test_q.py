"""Q: what waits, what may start, and what runs beside what."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.rules.rc_scenes import message, ticket
from tests.rules.scenes import answers, assigned, frame, lived, mention

from ov_es_adapters.daemon.settings import AgentIdentity, WatchSettings
from ov_es_adapters.errors import BadInputError
from ov_es_adapters.ports import RunRequest
from ov_es_domain.policy.lanes import SHARED_GROUP, Waiting, due
from ov_es_domain.turn.kinds import Lane

CODE = "@Ada please fix the bug in file login.py"


def _work(number: int, takes: float = 20) -> dict[str, object]:
    does = [
        {"tool": "get_ticket"},
        {"edit": "a.py"},
        {"commit": "Fix it"},
        {"tool": "update_ticket", "args": {"status": "in_review"}},
        {"text": "Fixed."},
    ]
    return {"source": f"ticket:1:{number}", "takes": takes, "does": does}


def _tickets(*numbers: int) -> list[dict[str, object]]:
    return [ticket(n, slug=f"COR-{n}") for n in numbers]


def _spans(told: dict[str, Any]) -> dict[str, tuple[float, float]]:
    return {run["source"]: (run["started"], run["ended"]) for run in told["runs"]}


def _most_at_once(runs: Sequence[dict[str, Any]]) -> int:
    starts = [run["started"] for run in runs]
    return max(sum(run["started"] <= moment < run["ended"] for run in runs) for moment in starts)


def _waiting(key: str, group: str = "") -> Waiting:
    return Waiting(key=key, lane=Lane.WORK, group=group, not_before=0.0)


def test_q_101_a_question_is_answered_while_code_is_being_written() -> None:
    asked = message(100)

    told = lived(
        assigned(1, 5),
        mention(5, asked),
        tickets=_tickets(5),
        messages=[asked],
        runs=[_work(5, takes=100), *answers(100)],
        until=300,
    )

    spans = _spans(told)
    assert spans["ticket:1:5"][0] < spans["mention:10:100"][0]
    assert spans["mention:10:100"][1] < spans["ticket:1:5"][1]


def test_q_104_a_turn_is_known_by_its_ticket_or_by_its_message() -> None:
    asked = message(100)

    told = lived(
        assigned(1, 5),
        mention(5, asked),
        tickets=_tickets(5),
        messages=[asked],
        runs=[_work(5), *answers(100)],
    )

    assert sorted(_spans(told)) == ["mention:10:100", "ticket:1:5"]


def test_q_106_a_ticket_whose_turn_has_ended_can_be_queued_again() -> None:
    told = lived(
        assigned(1, 5),
        {
            "at": 100,
            "team": {"tickets": [{"id": 5, "status": "todo", "description": "And the footer."}]},
        },
        frame(101, "task:updated", {"task": {"id": 5, "project_id": 1}}),
        tickets=_tickets(5),
        runs=[_work(5), _work(5)],
        until=400,
    )

    assert [run["source"] for run in told["runs"]] == ["ticket:1:5", "ticket:1:5"]


def test_q_107_three_work_at_once_and_one_replies() -> None:
    said = [message(n, f"@Ada question {n}?") for n in range(100, 104)]

    told = lived(
        *[assigned(1, n) for n in range(1, 6)],
        *[mention(1, each) for each in said],
        tickets=_tickets(*range(1, 6)),
        messages=said,
        runs=[*(_work(n) for n in range(1, 6)), *answers(*range(100, 104))],
        until=400,
    )

    lanes = {
        lane: [run for run in told["runs"] if run["lane"] == lane] for lane in ("work", "reply")
    }
    assert {lane: _most_at_once(runs) for lane, runs in lanes.items()} == {"work": 3, "reply": 1}
    assert [len(runs) for runs in lanes.values()] == [5, 4]


@pytest.mark.parametrize("given", [0, -1, 1.5, True, "3", None])
def test_q_108_any_other_concurrency_is_refused_at_once(given: Any) -> None:
    with pytest.raises(BadInputError, match="concurrency is"):
        WatchSettings(agent=AgentIdentity(identifier="ada", name="Ada"), concurrency=given)


def test_q_110_what_shares_a_directory_never_runs_together() -> None:
    waiting = [_waiting("a", "/w/5"), _waiting("b", "/w/5"), _waiting("c", "/w/6")]

    starting, deferred = due(waiting, running_groups=[], running=0, slots=3, now=0.0)

    assert [entry.key for entry in starting] == ["a", "c"]
    assert [(entry.key, entry.reason) for entry in deferred] == [("b", "group-busy")]


@pytest.mark.parametrize(
    ("groups", "started"), [(("x", "X"), 2), (("x", "x "), 2), (("", ""), 2), (("x", "x"), 1)]
)
def test_q_112_groups_are_compared_as_text_and_an_empty_one_excludes_nothing(
    groups: tuple[str, str], started: int
) -> None:
    waiting = [_waiting(str(at), group) for at, group in enumerate(groups)]

    starting, _ = due(waiting, running_groups=[""], running=0, slots=3, now=0.0)

    assert len(starting) == started


def test_q_113_a_stopped_run_keeps_its_place_until_its_process_is_gone() -> None:
    asked, enough = message(100), message(101, "@Ada stand down.", parent_id=100)
    other = message(102, "@Ada question 102?")
    stubborn = {"source": "mention:10:100", "takes": 100, "ignores_term": True, "does": []}

    told = lived(
        mention(1, asked),
        mention(5, other),
        mention(10, enough),
        messages=[asked, other],
        runs=[stubborn, *answers(102)],
    )

    spans = _spans(told)
    assert spans["mention:10:100"][1] > 10
    assert spans["mention:10:102"][0] >= spans["mention:10:100"][1]


def test_q_114_q_115_a_stand_down_ends_what_waits_and_runs_there_and_nothing_else() -> None:
    asked, again = message(100), message(101, "@Ada and this?", parent_id=100)
    enough = message(102, "@Ada stand down.", parent_id=100)
    other = message(103, "@Ada question 103?")

    told = lived(
        mention(1, asked),
        mention(2, again),
        mention(3, other),
        mention(4, enough),
        messages=[asked, again, other],
        runs=[{"source": "mention:10:100", "takes": 60, "does": []}, *answers(101, 103)],
    )

    assert [post["content"] for post in told["posts"]] == ["Answer 103."]
    spans = _spans(told)
    assert "mention:10:101" not in spans
    assert spans["mention:10:100"][1] < 60


def test_q_116_the_group_is_that_of_the_directory_it_really_runs_in(
    requests: list[RunRequest],
) -> None:
    told = lived(assigned(1, 5), assigned(1, 6), tickets=_tickets(5, 6), runs=[_work(5), _work(6)])

    assert [request.directory for request in requests] == ["/workspace/COR-5", "/workspace/COR-6"]
    assert [run["group"] for run in told["runs"]] == ["/workspace/COR-5", "/workspace/COR-6"]


def test_q_117_coding_that_a_message_asks_for_shares_the_workspace() -> None:
    first, second = message(100, CODE), message(101, CODE)
    work = {"takes": 20, "does": [{"edit": "login.py"}, {"text": "Fixed."}]}

    told = lived(
        mention(1, first),
        mention(2, second),
        messages=[first, second],
        runs=[{**work, "source": f"mention:10:{n}"} for n in (100, 101)],
    )

    assert [run["group"] for run in told["runs"]] == [SHARED_GROUP, SHARED_GROUP]
    assert _most_at_once(told["runs"]) == 1


def test_q_118_each_turn_has_a_program_of_its_own(requests: list[RunRequest]) -> None:
    said = [message(n, f"@Ada question {n}?") for n in (100, 101)]

    lived(*[mention(1, each) for each in said], messages=said, runs=answers(100, 101))

    assert [request.source for request in requests] == ["mention:10:100", "mention:10:101"]
    assert len({request.execution for request in requests}) == 2
    assert {request.conversation for request in requests} == {None}


def test_q_119_what_waits_and_what_runs_are_counted_together() -> None:
    said = [message(n, f"@Ada question {n}?") for n in (100, 101)]
    endless = {"source": "mention:10:100", "takes": 500, "does": []}

    told = lived(*[mention(1, each) for each in said], messages=said, runs=[endless], until=100)

    assert (told["left"]["queued"], told["left"]["running"]) == (1, 1)


def test_q_120_what_was_queued_stays_as_it_was_asked(requests: list[RunRequest]) -> None:
    first, asked = message(100), message(101, "@Ada the first words?")
    edited = {**asked, "content": "@Ada other words?"}
    slow = {"source": "mention:10:100", "takes": 30, "does": [{"text": "Answer 100."}]}

    told = lived(
        mention(1, first),
        mention(2, asked),
        mention(3, edited),
        messages=[first, asked],
        runs=[slow, *answers(101)],
    )

    assert "the first words?" in requests[1].prompt
    assert [(post["parent_id"], post["content"]) for post in told["posts"]][1] == (
        101,
        "Answer 101.",
    )


def test_q_121_what_waits_outlives_the_process() -> None:
    said = [message(n, f"@Ada question {n}?") for n in (100, 101, 102)]

    told = lived(
        *[mention(1, each) for each in said],
        {"at": 2, "crash": True},
        messages=said,
        runs=answers(100, 101, 102),
    )

    assert sorted(post["content"] for post in told["posts"]) == [
        "Answer 100.",
        "Answer 101.",
        "Answer 102.",
    ]
