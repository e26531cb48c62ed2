"""Whether what was concluded from a stream contradicts what really happened.

None contradicts nothing: it says that the stream can't tell. A number or a yes or no has to be
true. How much may be unknown is another question, asked in `test_recordings.py`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ov_es_domain.observation import StreamObservation, StreamOutcome

POST = "post_message"
TASK_READS = {"get_ticket", "list_tasks"}
CODE_CALLS = {
    "create_codebase_branch",
    "create_codebase_commit",
    "write_codebase_file",
    "create_pull_request",
}


def contradictions(seen: StreamObservation, meta: Mapping[str, Any]) -> list[str]:
    """Return what can't be true, in words; an empty list is what a reader is for."""
    truth: Mapping[str, Any] = meta["truth"]
    return [
        *_posts(seen, truth),
        *_ticket(seen, truth),
        *_calls(seen, truth),
        *_changes(seen, meta),
        *_outcome(seen, meta),
    ]


def has_hidden_calls(seen: StreamObservation) -> bool:
    """Tell whether the reader says that calls may be missing from the stream as a whole."""
    return seen.posts is None and not any(
        call.tool == POST and call.ok is None for call in seen.calls
    )


def _posts(seen: StreamObservation, truth: Mapping[str, Any]) -> Iterator[str]:
    really = len(truth["messages_posted"])
    if seen.posts is not None and seen.posts != really:
        yield f"posts is {seen.posts}, but there were {really}"


def _ticket(seen: StreamObservation, truth: Mapping[str, Any]) -> Iterator[str]:
    updated = bool(truth["ticket_updated"])
    if seen.ticket_updated is not None and seen.ticket_updated != updated:
        yield f"ticket_updated is {seen.ticket_updated}, but it is {updated}"
    # A read that the server answered may still have failed on the way: then it wasn't a read.
    answered = any(_was_answered(call) and call["tool"] in TASK_READS for call in _made(truth))
    failed = any(call.ok is False and call.tool in TASK_READS for call in seen.calls)
    if seen.ticket_read is True and not answered:
        yield "ticket_read is True, but nobody read it"
    if seen.ticket_read is False and answered and not failed:
        yield "ticket_read is False, but it was read"


def _calls(seen: StreamObservation, truth: Mapping[str, Any]) -> Iterator[str]:
    made = Counter(call["tool"] for call in _made(truth))
    done = Counter(call["tool"] for call in _made(truth) if call["ok"])
    for tool in sorted({call.tool for call in seen.calls} | made.keys()):
        oks = Counter(call.ok for call in seen.calls if call.tool == tool)
        if oks[True] > done[tool]:
            yield f"{tool}: {oks[True]} done, but {done[tool]} really were"
        if not has_hidden_calls(seen) and done[tool] > oks[True] + oks[None]:
            yield f"{tool}: {done[tool]} were done, but only {oks[True] + oks[None]} may have been"
        if not has_hidden_calls(seen) and made[tool] > oks.total():
            yield f"{tool}: {made[tool]} were made, but only {oks.total()} are known"


def _changes(seen: StreamObservation, meta: Mapping[str, Any]) -> Iterator[str]:
    changed = meta["truth"]["did_repo_mutation"]
    if seen.edits and not changed:
        yield f"edits is {seen.edits}, but nothing changed"
    # codex tells nothing of a command that its sandbox stops half-way.
    has_other_cause = (
        bool(seen.commands)
        or meta["cli"].startswith("codex")
        or any(call.tool in CODE_CALLS for call in seen.calls)
    )
    if changed and seen.edits == 0 and not has_other_cause:
        yield "edits is 0 and no command ran, but something changed"


def _outcome(seen: StreamObservation, meta: Mapping[str, Any]) -> Iterator[str]:
    if seen.outcome is not StreamOutcome.OK:
        return
    if meta["ended_by"].startswith(("SIG", "time limit", "the client closed stdin in the middle")):
        yield f"outcome is ok, but it was ended by {meta['ended_by']}"
    if meta["exit"]["signal"] or meta["exit"]["code"]:
        yield f"outcome is ok, but its exit was {meta['exit']}"
    if not seen.text.strip():
        yield "outcome is ok, but there is no answer"


def _made(truth: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(truth["mcp_calls"])


def _was_answered(call: Mapping[str, Any]) -> bool:
    return call["ok"] is True
