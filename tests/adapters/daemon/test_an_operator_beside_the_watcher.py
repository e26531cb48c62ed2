"""An operator decides in a process of their own, while the watcher runs: it takes notice."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

from ov_es_adapters.demo.stage import demo_team, set_stage
from ov_es_adapters.team.faults import Fault, FaultKind, FaultPlan
from ov_es_domain.recorded import Recorded


def _ignore(event: Recorded) -> None:
    del event


async def test_a_reply_that_was_given_up_goes_out_once_an_operator_wants_it(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    async with set_stage(home, _ignore, team={**demo_team(), "tickets": []}) as stage:
        refused = Fault(tool="post_message", call=1, kind=FaultKind.ERROR)
        stage.team.faults = FaultPlan([refused])
        await stage.start_watcher()
        stage.say(900, 1, "@Ada are you there?")
        await stage.until(
            "the refusal",
            lambda events: any(e.body.TOPIC == "delivery.abandoned@1" for e in events),
        )

        resolve = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "ov_es_adapters.cli.main", "--home", str(home)),
            *("resolve", "reply:10:900", "--as", "retry", "--because", "the server is well again"),
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
        )
        _, err = await asyncio.wait_for(resolve.communicate(), 30)
        await stage.until(
            "the reply",
            lambda events: any(e.body.TOPIC == "delivery.delivered@1" for e in events),
        )
        await stage.stop_watcher()

        assert (resolve.returncode, err) == (0, err)
        assert [post["content"] for post in stage.team.world.posts] == ["ok"]
