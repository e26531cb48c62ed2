"""Who is meant by a message: names, prefixes, quotes, code, addresses, and stand-downs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ov_es_adapters.vocabulary.reading import english
from ov_es_domain.policy.addressing import Audience, address, asks_to_stop, own_words


def _audience(text: str, *aliases: str) -> Audience:
    names = aliases or ("alpha",)
    return address(own_words(text), aliases=names, own_id=None, mentions=None).audience


@pytest.mark.parametrize(
    ("text", "audience"),
    [
        ("@alpha2 hello", Audience.OTHERS),
        ("@alpha, hello", Audience.US),
        ("@alpha-two hello", Audience.OTHERS),
        ("@alpha.two hello", Audience.OTHERS),
        ("@alpha. Hello", Audience.US),
        ("@ALPHA hello", Audience.US),
    ],
)
def test_adr_01_a_name_that_is_a_prefix_of_another_is_not_that_other(
    text: str, audience: Audience
) -> None:
    assert _audience(text) is audience


@pytest.mark.parametrize(
    "text",
    [
        "mail deploy@alpha.example",
        "git@alpha:repo.git",
        "look at\n```\n@alpha do it\n```\nplease",
        "> @alpha said\nagreed",
        "the decorator `@alpha` is odd",
        "see https://example.org/@alpha",
    ],
)
def test_adr_03_an_address_a_quote_or_code_is_nobodys_name(text: str) -> None:
    assert _audience(text) is Audience.NOBODY


@pytest.mark.parametrize(
    "text",
    [
        "x" * 900 + " @alpha please fix",
        "。@alpha，请看",
        "@alpha请看",
        "@Alpha Engineer: fix",
        "@alpha-engineer fix",
    ],
)
def test_adr_05_a_name_counts_wherever_it_stands(text: str) -> None:
    assert _audience(text, "alpha", "Alpha Engineer") is Audience.US


def test_adr_03_a_list_of_mentions_decides_alone() -> None:
    said = "@alpha look"

    ours = address(said, aliases=["alpha"], own_id=7, mentions=(7, 8))
    others = address(said, aliases=["alpha"], own_id=7, mentions=(8,))

    assert ours.audience is Audience.US
    assert others.audience is Audience.OTHERS


def test_th_5_a_message_that_names_us_and_others_is_for_us_too() -> None:
    found = address("@alpha and @bob: look", aliases=["alpha"], own_id=None, mentions=None)

    assert found.audience is Audience.US
    assert found.others == ("bob",)


@pytest.mark.parametrize(
    "text",
    [
        "@alpha stop",
        "@alpha, please stop working on this. Thanks!",
        "alpha: never mind",
        "stand down please",
        "@alpha STOP!!",
    ],
)
def test_th_7_a_stand_down_is_about_the_work_as_a_whole(text: str) -> None:
    assert asks_to_stop(text, aliases=["alpha"], vocabulary=english())


@pytest.mark.parametrize(
    "text",
    [
        "@alpha stop using tabs",
        "@alpha the server won't stop",
        "@alpha cancel the subscription of user 5",
        "@alpha how do I stop the build?",
        "@alpha",
        "@alpha thanks",
        '@alpha what does "stand down" mean?',
    ],
)
def test_th_7_in_doubt_the_work_goes_on(text: str) -> None:
    assert not asks_to_stop(text, aliases=["alpha"], vocabulary=english())


@given(text=st.text())
def test_any_text_has_an_audience(text: str) -> None:
    assert _audience(text) in Audience
    assert asks_to_stop(text, aliases=["alpha"], vocabulary=english()) in {True, False}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ada", "İstanbul ofisi: @Ada sunucu açık mı?"),
        ("Ada", "ŉ ﬃ ẞ İİİ @ADA?"),
        ("Strauß", "@Strauß how is it?"),
        ("Strauß", "@STRAUSS how is it?"),
        ("Zoë", "@Zoe\u0308 how is it?"),
        ("Zoe\u0308", "@Zoë how is it?"),
        ("İpek", "@İpek, nasılsın?"),
        ("Ada", "\uff20Ada how is it?"),
    ],
)
def test_th_2_a_name_is_found_however_its_letters_are_made_up(name: str, text: str) -> None:
    assert address(text, aliases=[name], own_id=None, mentions=None).audience is Audience.US


@pytest.mark.parametrize("name", ["Stras", "Straussi", "Ad", "Zo"])
def test_adr_01_half_a_letter_is_no_end_of_a_name(name: str) -> None:
    found = address("@Straß @Ada @Zoë", aliases=[name], own_id=None, mentions=None)

    assert found.audience is Audience.OTHERS


@pytest.mark.parametrize(
    "text",
    [
        "@Bob hmm~~~ @Ada what do you think?",
        "@Bob one ` here\n\n@Ada and one ` there",
        "@Bob use ``` for code.\n@Ada how is it?",
        "@Bob 请@ada看login.py",
        "@Bob please,(@Ada,login.py)",
        "@Bob [@Ada](https://x.example/u/7) hi",
    ],
)
def test_adr_03_what_only_resembles_code_or_an_address_hides_nobody(text: str) -> None:
    assert address(text, aliases=["Ada"], own_id=None, mentions=None).audience is Audience.US


@pytest.mark.parametrize(
    "text",
    [
        "```@ada```",
        "```\n@ada\n```",
        "look:\n```py\n@ada\n",
        "~~~\n@ada\n~~~",
        "mail me@ada.example or a.b+c@ada.co.uk",
        "git@ada.example:core.git",
        "https://x.example/@ada",
    ],
)
def test_adr_03_code_and_addresses_still_name_nobody(text: str) -> None:
    assert address(text, aliases=["ada"], own_id=None, mentions=None).audience is Audience.NOBODY


def test_th_3_a_name_behind_a_letter_of_another_script_is_a_name_too() -> None:
    found = address("请@bob看一下", aliases=["ada"], own_id=None, mentions=None)

    assert found.audience is Audience.OTHERS
