"""Who is answered: repetitions, our own words, talk among others, agents that go on for ever."""

from dataclasses import replace

import pytest

from ov_es_domain.lifecycle import handle
from ov_es_domain.policy.addressing import is_talk_among_others
from ov_es_domain.policy.admission import (
    Admitted,
    MentionOutcome,
    Ourselves,
    Refused,
    Suppressed,
    admit_mention,
)
from ov_es_domain.policy.team_facts import RenderedMessage
from ov_es_domain.policy.vocabulary import Vocabulary
from ov_es_domain.signal.aggregate import SIGNAL, Signal
from ov_es_domain.signal.arrival import Arrival, ArrivalKind, Sender, Via
from ov_es_domain.signal.commands import AcceptSignal, RefuseSignal
from ov_es_domain.thread.aggregate import THREAD, Thread
from ov_es_domain.thread.commands import HearThread, NoteThreadTurn, PauseThread

_US = Ourselves(aliases=("ada", "Ada"), identifier="ada", id=7)
_MAYA = Sender(id=1, name="Maya")
_BOB = Sender(id=8, name="Bob", is_agent=True)


def _said(
    text: str, *, message_id: int | None = 100, sender: Sender = _MAYA, at: float = 0.0
) -> Arrival:
    return Arrival(
        kind=ArrivalKind.MENTION,
        via=Via.SOCKET,
        at=at,
        channel_id=10,
        message_id=message_id,
        parent_id=90,
        text=text,
        sender=sender,
        digest="d1",
    )


def _admit(
    arrival: Arrival,
    *,
    signal: Signal = SIGNAL.initial,
    thread: Thread = THREAD.initial,
    is_own_post: bool = False,
) -> MentionOutcome:
    return admit_mention(
        arrival,
        signal=signal,
        signal_key="signal:x@1",
        thread=thread,
        has_work_in_thread=False,
        ourselves=_US,
        vocabulary=Vocabulary(),
        agent_turns_max=3,
        is_own_post=is_own_post,
    )


def _accepted(arrival: Arrival) -> Signal:
    accept = AcceptSignal(arrival=arrival, reason="addressed", rule="TH-1")
    return handle(SIGNAL, SIGNAL.initial, accept)[1]


def _after(*commands: NoteThreadTurn | HearThread | PauseThread) -> Thread:
    thread = THREAD.initial
    for command in commands:
        _, thread = handle(THREAD, thread, command)
    return thread


# --- repetitions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("later", "expected"), [(1.0, Suppressed), (599.0, Suppressed), (601.0, Admitted)]
)
def test_ws_15_words_without_an_id_are_one_message_for_ten_minutes(
    later: float, expected: type[MentionOutcome]
) -> None:
    first = _said("@Ada ping", message_id=None)

    again = _admit(replace(first, at=later), signal=_accepted(first))

    assert isinstance(again, expected)


def test_ws_15_the_same_words_with_another_id_are_another_message() -> None:
    assert isinstance(_admit(_said("@Ada ping", message_id=101)), Admitted)


def test_ws_14_a_message_with_an_id_is_itself_for_ever() -> None:
    first = _said("@Ada ping")

    assert isinstance(_admit(replace(first, at=1e9), signal=_accepted(first)), Suppressed)


def test_dup_12_an_edit_starts_something_only_if_it_was_never_for_us() -> None:
    first = _said("@Bob look")
    refuse = RefuseSignal(arrival=first, reason="explicit-other-recipient", rule="TH-3")
    _, refused = handle(SIGNAL, SIGNAL.initial, refuse)
    edited = _said("@Ada look")

    assert refused.seen_text == "@Bob look"
    assert isinstance(_admit(edited, signal=refused), Admitted)
    again = _admit(edited, signal=_accepted(_said("@Ada lok")))
    assert isinstance(again, Suppressed)
    assert again.reason == "edited-after-acceptance"


def test_lup_01_what_we_posted_is_ours_whoever_it_is_shown_as() -> None:
    found = _admit(_said("@Ada done", sender=_BOB), is_own_post=True)

    assert isinstance(found, Refused)
    assert found.reason == "own-message"


# --- talk among others ---------------------------------------------------------------------------


def test_adr_06_an_answer_that_names_nobody_belongs_to_the_talk_that_it_is_in() -> None:
    among_others = _after(HearThread(source="mention:10:99", by_agent=False, for_others=True))

    found = _admit(_said("yes"), thread=among_others)

    assert isinstance(found, Refused)
    assert found.reason == "talk-among-others"
    assert isinstance(_admit(_said("@Ada and you?"), thread=among_others), Admitted)
    assert isinstance(_admit(_said("yes")), Admitted)


def test_adr_06_once_we_are_asked_again_the_talk_is_ours() -> None:
    thread = _after(
        HearThread(source="mention:10:99", by_agent=False, for_others=True),
        NoteThreadTurn(source="mention:10:100", by_agent=False),
    )

    assert isinstance(_admit(_said("thanks, and tests?"), thread=thread), Admitted)


@pytest.mark.parametrize(
    ("before", "is_others"),
    [
        ([("@Bob useful?", None)], True),
        ([("@Bob useful?", None), ("yes", None)], True),
        ([("@Ada useful?", None), ("yes", None)], False),
        ([("@Bob useful?", None), ("I think so", 7)], False),
        ([("@Bob useful?", None), ("It is", 8)], True),
        ([("Topic", None)], False),
        ([], False),
    ],
)
def test_adr_06_the_last_message_that_names_somebody_says_whose_talk_it_is(
    before: list[tuple[str, int | None]], *, is_others: bool
) -> None:
    messages = [
        RenderedMessage(
            id=number,
            channel_id=10,
            parent_id=90,
            author_agent_id=agent,
            author_identifier="",
            author_name="",
            is_agent=agent is not None,
            text=text,
            created_at=None,
        )
        for number, (text, agent) in enumerate(before)
    ]

    found = is_talk_among_others(
        messages, aliases=_US.aliases, own_id=_US.id, identifier=_US.identifier
    )

    assert found is is_others


# --- agents that go on for ever ------------------------------------------------------------------


def _thanked(times: int) -> Thread:
    return _after(*(NoteThreadTurn(source=f"mention:10:{n}", by_agent=True) for n in range(times)))


def test_lup_02_an_agent_has_three_turns_without_a_persons_word() -> None:
    by_bob = _said("@Ada thanks", sender=_BOB)

    assert isinstance(_admit(by_bob, thread=_thanked(2)), Admitted)
    found = _admit(by_bob, thread=_thanked(3))
    assert isinstance(found, Refused)
    assert found.reason == "agent-turns-used-up"
    assert isinstance(_admit(_said("@Ada go on"), thread=_thanked(3)), Admitted)


def test_lup_02_people_are_told_once_and_a_persons_word_starts_anew() -> None:
    paused = handle(THREAD, _thanked(3), PauseThread(source="mention:10:9"))[1]
    again, still = handle(THREAD, paused, PauseThread(source="mention:10:10"))

    heard = HearThread(source="mention:10:11", by_agent=False, for_others=False)
    _, woken = handle(THREAD, still, heard)

    assert again == []
    assert paused.is_paused
    assert (woken.agent_turns, woken.is_paused) == (0, False)


def test_lup_02_another_agents_word_to_others_changes_no_count() -> None:
    heard = HearThread(source="mention:10:11", by_agent=True, for_others=True)

    assert handle(THREAD, _thanked(3), heard)[1].agent_turns == 3
    assert handle(THREAD, _after(heard), heard)[0] == []
