"""The real watcher in a real process against a real team server: kills, stops, refusals."""

import asyncio
import dataclasses
import json
import os
import random
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import pytest

from ov_es_adapters.demo.day import _is_quiet
from ov_es_adapters.demo.proof import prove
from ov_es_adapters.demo.stage import Stage, demo_team, set_stage
from ov_es_adapters.settings import load_connection, save_connection
from ov_es_domain.recorded import Recorded
from ov_es_domain.turn.events import TurnSpawned

CLI = (sys.executable, "-m", "ov_es_adapters.cli.main")
MENTIONS = range(100, 1300, 100)
KILLS = (400, 900)
"""After which mentions the watcher is killed: seldom enough that no message is set aside for
having been there at three crashes (EVT-16)."""


def _ignore(event: Recorded) -> None:
    del event


def _team(**lists: object) -> dict[str, object]:
    return {**demo_team(), "tickets": [], **lists}


def _playbook(folder: Path, runs: list[dict[str, object]]) -> Path:
    path = folder / "playbook.json"
    path.write_text(json.dumps(runs), encoding="utf-8")
    return path


async def _ov_es(home: Path, *words: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        *CLI, "--home", str(home), *words, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


def _answers(stage: Stage) -> dict[object, int]:
    counts: dict[object, int] = {}
    for post in stage.team.world.posts:
        counts[post["parent_id"]] = counts.get(post["parent_id"], 0) + 1
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
async def test_kill_9_at_any_moment_leaves_each_answer_posted_exactly_once(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    runs: list[dict[str, object]] = [
        {"source": f"mention:10:{n}", "takes": 0.2, "does": [{"text": f"Answer {n}."}]}
        for n in MENTIONS
    ]
    async with set_stage(
        tmp_path / "home", _ignore, team=_team(), playbook=_playbook(tmp_path, runs)
    ) as stage:
        await stage.start_watcher()
        for n in MENTIONS:
            stage.say(n, 1, f"@Ada what about {n}?")
            await asyncio.sleep(chance.uniform(0.0, 0.5))
            if n in KILLS:
                await asyncio.sleep(chance.uniform(0.0, 1.5))
                await stage.kill_watcher()
                await stage.start_watcher()
        await stage.until(
            "every answer",
            lambda events: len(_answers(stage)) == len(MENTIONS) and _is_quiet(events),
        )
        await stage.stop_watcher()
        stage.read()
        proof = prove(stage.events, stage.team.world.posts)

    assert proof.differences == ()
    assert proof.report.findings == ()
    assert _answers(stage) == dict.fromkeys(MENTIONS, 1)


async def test_an_orderly_stop_ends_the_run_and_the_next_watcher_runs_it_again(
    tmp_path: Path,
) -> None:
    runs: list[dict[str, object]] = [
        {"source": "mention:10:100", "hangs": True, "children": 2, "does": []},
        {"source": "mention:10:100", "takes": 0, "does": [{"text": "Here it is."}]},
    ]
    async with set_stage(
        tmp_path / "home", _ignore, team=_team(), playbook=_playbook(tmp_path, runs)
    ) as stage:
        await stage.start_watcher()
        stage.say(100, 1, "@Ada what's the status?")
        await stage.until("the run", lambda events: any(
            event.body.TOPIC == "turn.spawned@1" for event in events
        ))  # fmt: skip

        status = await stage.stop_watcher()
        stage.read()
        pids = [event.body.pid for event in stage.events if isinstance(event.body, TurnSpawned)]

        assert status == 143
        assert stage.events[-1].body.TOPIC == "watch.ended@1"
        assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []
        assert any(event.body.TOPIC == "turn.interrupted@1" for event in stage.events)

        await stage.start_watcher()
        await stage.until("the answer", lambda events: any(
            event.body.TOPIC == "delivery.delivered@1" for event in events
        ))  # fmt: skip
        await stage.stop_watcher()

    assert [post["content"] for post in stage.team.world.posts] == ["Here it is."]


async def test_own_01_a_second_watcher_of_the_same_log_is_refused_and_told_who_has_it(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    async with set_stage(home, _ignore, team=_team()) as stage:
        first = await stage.start_watcher()
        await stage.until("the first", bool)

        status, out, err = await _ov_es(
            home, "watch", "--name", "ada", "--runtime", "scripted", "--once"
        )

    assert status == 4
    assert out == ""
    assert str(first.pid) in err
    assert "Traceback" not in err


async def test_mem_7_another_agents_log_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with set_stage(home, _ignore, team=_team()) as stage:
        await (await stage.start_watcher("--once")).wait()
        stage.read()
        known = load_connection(home, "ada")
        save_connection(home, dataclasses.replace(known, agent="grace", name="Grace"))
        before = len(stage.events)
        assert before

        status, _, err = await _ov_es(
            home,
            *("--store", stage.url, "watch", "--name", "grace"),
            *("--runtime", "scripted", "--once"),
        )

        stage.read()
        assert len(stage.events) == before

    assert status == 2
    assert "this log is ada's" in err


async def test_once_drains_what_there_is_and_ends(tmp_path: Path) -> None:
    home = tmp_path / "home"
    message = {"id": 100, "channel_id": 10, "parent_id": None, "person": 1, "content": "@Ada hi"}
    async with set_stage(home, _ignore, team=_team(messages=[message])) as stage:
        status, out, err = await _ov_es(
            home, "watch", "--name", "ada", "--runtime", "scripted", "--once", "--json"
        )

        assert (status, err) == (0, err)
        assert [post["content"] for post in stage.team.world.posts] == ["ok"]
        assert [json.loads(line)["position"] for line in out.splitlines()][:2] == [1, 2]


async def test_wrong_credentials_end_the_watcher_with_a_clear_word(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with set_stage(home, _ignore, team=_team()):
        connection = load_connection(home, "ada")
        wrong = {name: getattr(connection, name) for name in connection.__dataclass_fields__}
        save_connection(home, type(connection)(**{**wrong, "api_key": "wrong-key-0123456789"}))

        status, _, err = await _ov_es(home, "watch", "--name", "ada", "--runtime", "scripted")

    assert status == 3
    assert "refused" in err
    assert "wrong-key" not in err
    assert "Traceback" not in err


@pytest.mark.slow
async def test_the_demo_ends_with_nothing_wrong_although_it_was_killed(tmp_path: Path) -> None:
    status, out, err = await _ov_es(tmp_path, "demo", "--json")

    told = json.loads(out)
    assert (status, err) == (0, "")
    assert told["violations"] == []
    assert told["findings"] == []
    slots = [post["delivery"] for post in told["posts"]]
    assert len(slots) == len(set(slots)) == 5
    assert told["turns"]["cancelled"] == 1
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - the demo keeps nothing unless asked
