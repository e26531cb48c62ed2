"""Writes the page of all rules of the watcher, each with the tests that show it."""

from collections.abc import Iterator

from rule_coverage import AREAS, Rule, rules, shown_by

TESTS_SHOWN = 3


def rules_page() -> Iterator[str]:
    """Yield the lines of the page."""
    tests = shown_by()
    yield "# The rules"
    yield ""
    yield "What the watcher decides, rule by rule, and the tests that show it: whom it answers,"
    yield "what counts as done, what is posted and what isn't. The code, the tests and `ov-es why`"
    yield "name rules by these IDs. A rule that no test shows says why; so does one of which some"
    yield "is otherwise."
    yield ""
    for name, area in AREAS.items():
        yield f"## {name}: {area.title}"
        yield ""
        yield "| rule | what ov-es does | shown by |"
        yield "|---|---|---|"
        for rule in rules(name):
            yield f"| {rule.id} | {_words(rule)} | {_places(tests.get(rule.id, ()))} |"
        yield ""


def _words(rule: Rule) -> str:
    words = f"{rule.says} *But:* {rule.because}" if rule.because else rule.says
    return words.replace("|", r"\|")


def _places(tests: tuple[str, ...]) -> str:
    if not tests:
        return "no test"
    shown = [_place(test) for test in tests[:TESTS_SHOWN]]
    if more := len(tests) - len(shown):
        shown.append(f"and {more} more")
    return "<br>".join(shown)


def _place(test: str) -> str:
    path, _, function = test.partition("::")
    short = path.removeprefix("tests/")
    return f"`{short}`: {_readable(function)}" if function else f"`{short}`"


def _readable(function: str) -> str:
    r"""Return a test's name as words: they say what it shows."""
    return function.removeprefix("test_").replace("_", " ")
