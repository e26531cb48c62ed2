"""The word lists, and what they make of what people write: in doubt, the careful thing."""

from pathlib import Path

import pytest

from ov_es_adapters.errors import BadInputError
from ov_es_adapters.vocabulary.reading import TEAM_FILE, english, load_vocabulary
from ov_es_domain.policy.addressing import asks_to_stop
from ov_es_domain.policy.lanes import kind_of_mention, kind_of_ticket


def _stops(text: str) -> bool:
    return asks_to_stop(text, aliases=["ada", "Ada"], vocabulary=english())


@pytest.mark.parametrize(
    "text",
    [
        "@Ada stop",
        "@Ada please stop.",
        "Ada, never mind, thanks",
        "@ada stop working on this",
        "@Ada cancel that, sorry",
    ],
)
def test_th_7_a_message_that_is_nothing_but_a_stop_stands_down(text: str) -> None:
    assert _stops(text)


@pytest.mark.parametrize(
    "text",
    [
        "@Ada stop using tabs",
        "@Ada don't stop",
        "@Ada cancel the subscription endpoint's retry",
        "@Ada the server stopped, please look",
        "@Ada please add a stop button",
        "@Ada abort signals aren't handled",
        "> @Ada stop\nno, go on",
        "@Ada `stop`",
    ],
)
def test_th_7_in_doubt_the_run_goes_on(text: str) -> None:
    assert not _stops(text)


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("Ask the design team for the logo", "coord"),
        ("Remind everybody of the retro", "coord"),
        ("Post a summary of the week", "coord"),
        ("Uploading files as messages", "full"),
        ("Ask for confirmation before deleting: fix the dialog", "full"),
        ("Notify users in notify.py", "full"),
        ("Message queue drops posts", "full"),
        ("Summaries are wrong", "full"),
        ("Asking twice for the password", "full"),
        ("", "full"),
    ],
)
def test_tk_26_tk_27_coordination_has_to_be_asked_for_outright(title: str, kind: str) -> None:
    assert kind_of_ticket(title, "", vocabulary=english()).value == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("@Ada please fix login.py", "full"),
        ("@Ada could you add a test for the parser?", "full"),
        ("@Ada how is the fix?", "fast"),
        ("@Ada did the tests change?", "fast"),
        ("@Ada fix it", "fast"),
        ("@Ada what does this function do", "fast"),
    ],
)
def test_th_13_coding_takes_an_action_and_a_target(text: str, kind: str) -> None:
    found = kind_of_mention(text, has_workspace=True, vocabulary=english())

    assert found.value == kind


def test_a_team_adds_its_own_words(tmp_path: Path) -> None:
    (tmp_path / TEAM_FILE).write_text('{"stand_down": ["Lass  es"], "courtesies": ["bitte"]}')

    words = load_vocabulary(tmp_path)

    assert asks_to_stop("@Ada lass es bitte", aliases=["ada"], vocabulary=words)
    assert asks_to_stop("@Ada stop", aliases=["ada"], vocabulary=words)
    assert words.actions == english().actions


def test_without_a_file_of_its_own_a_team_has_the_english_words(tmp_path: Path) -> None:
    assert load_vocabulary(tmp_path) is english()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[", "is no JSON"),
        ('{"stop_words": []}', "stop_words"),
        ('{"stand_down": [""]}', r"stand_down\[0\]"),
        ('{"stand_down": "stop"}', "stand_down"),
    ],
)
def test_a_slip_in_a_teams_file_is_told_with_its_place(
    tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / TEAM_FILE).write_text(text)

    with pytest.raises(BadInputError, match=says):
        load_vocabulary(tmp_path)


def test_every_list_has_words_and_no_word_twice() -> None:
    words = english()

    for name in ("stand_down", "courtesies", "actions", "targets", "coordination"):
        listed = getattr(words, name)
        assert listed
        assert len(set(listed)) == len(listed)
        assert all(word == " ".join(word.casefold().split()) for word in listed)
