"""What's still listened to after its call was given up, and what is made of it."""

import asyncio
from collections.abc import Mapping

from ov_es_adapters.mcp.failures import FailureKind, RequestFailedError
from ov_es_adapters.mcp.late_answers import LateAnswers
from ov_es_adapters.redaction import Redactor


async def test_out_06_only_a_success_is_offered() -> None:
    heard: list[object] = []

    def hear(tool: str, arguments: Mapping[str, object], found: object) -> None:
        heard.append((tool, arguments, found))

    late = LateAnswers(hear, Redactor())

    async def success() -> dict[str, object]:
        return {"structuredContent": {"id": 101}}

    async def refusal() -> dict[str, object]:
        return {"isError": True, "content": []}

    async def failure() -> dict[str, object]:
        raise RequestFailedError(FailureKind.CUT, "tools/call", "cut")

    tasks = [asyncio.create_task(each()) for each in (refusal, failure, success)]
    for number, task in enumerate(tasks):
        late.listen(task, "post_message", {"n": number})
    await asyncio.wait(tasks)
    await late.close()

    assert heard == [("post_message", {"n": 2}, {"id": 101})]


async def test_nothing_is_listened_to_after_the_end() -> None:
    heard: list[object] = []

    def hear(tool: str, arguments: Mapping[str, object], found: object) -> None:
        heard.append((tool, arguments, found))

    late = LateAnswers(hear, Redactor())
    forever = asyncio.get_running_loop().create_future()

    async def wait() -> dict[str, object]:
        await forever
        return {}

    task = asyncio.create_task(wait())
    late.listen(task, "post_message", {})

    await late.close()

    assert task.cancelled()
    assert heard == []
