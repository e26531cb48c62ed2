"""A log that a later version wrote: nothing is done on the strength of half-understood events."""

import asyncio
import sqlite3
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

from ov_es_adapters.demo.stage import demo_team, set_stage
from ov_es_adapters.event_log.open_log import open_log
from ov_es_domain.recorded import NewEvent, Recorded
from ov_es_domain.turn.events import TurnQueued
from ov_es_domain.turn.kinds import TurnKind


def _ignore(event: Recorded) -> None:
    del event


def _queued() -> NewEvent:
    body = TurnQueued(
        source="mention:10:100",
        generation=1,
        kind=TurnKind.FAST,
        group="",
        ticket=None,
        thread="thread:10:100",
        target=None,
        slot="reply:10:100",
        title="",
        text="hello",
        sender="Maya",
        by_agent=False,
        accepted_at=1.0,
    )
    return NewEvent(
        key="turn:mention:10:100:1",
        version=1,
        body=body,
        at=1.0,
        cause="socket:1",
        correlation="thread:10:100",
    )


async def test_evt_07_a_step_of_a_later_version_parks_the_watcher_before_any_call(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    async with set_stage(home, _ignore, team={**demo_team(), "tickets": []}) as stage:
        log = open_log(stage.url)
        log.append([_queued()])
        log.close()
        database = sqlite3.connect(home / "ada.db")
        with database:
            database.execute(
                "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
                " VALUES ('turn:mention:10:100:1', 2, 'turn.bargained@7', '{}')"
            )
        database.close()

        watcher = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ov_es_adapters.cli.main", "--home", str(home)),
            *("watch", "--name", "ada", "--runtime", "scripted", "--once"),
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
        )
        _, err = await asyncio.wait_for(watcher.communicate(), 60)

        assert watcher.returncode == 4
        assert b"position 2" in err
        assert b"turn.bargained@7" in err
        assert stage.team.calls["post_message"] == 0
