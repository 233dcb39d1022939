from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labtui.cli.step_text import step_lines
from labtui.plain_markdown import CODE_INDENT, plain_lines, plain_text
from labtui.terminal_text import visible
from lessons.finding import find_lesson
from lessons.walk import steps

LESSONS = [find_lesson("diffusiongemma"), find_lesson("kv-cache-line")]


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("**About 50 GB** of `memory`, *at once*", "About 50 GB of memory, at once"),
        ("see [the page](https://x.y/z) <https://a.b/> <me@x.y>", "see the page (https://x.y/z) https://a.b/ me@x.y"),
        ("[https://x.y](https://x.y) ![a chart](c.png)", "https://x.y [picture: a chart]"),
        ("an_under_score, 2 * 3 * 4 and \\*this\\*", "an_under_score, 2 * 3 * 4 and *this*"),
        ("## Head\n\ntext  \nof two", "Head\n\ntext\nof two"),
        ("1. one\n2. two\n   - `in` it\n", "1. one\n2. two\n   - in it"),
        ("3. three\n\n   more\n\n4. four", "3. three\n\n   more\n\n4. four"),
        ("* a\n* **b**", "- a\n- b"),
        ("| a | b |\n|---|---|\n| `x` | **long** |", "a  b\nx  long"),
        ("```sh\nvllm serve **x** `y`\n```", f"{CODE_INDENT}vllm serve **x** `y`"),
        ("> said *so*", "> said so"),
        ("<b>no markup</b>", "<b>no markup</b>"),
        ("", ""),
    ],
)
def test_what_a_person_reads_stands_there_without_its_signs(markdown, plain) -> None:
    assert "\n".join(plain_lines(markdown)) == plain


def test_on_one_line() -> None:
    assert plain_text("**Is** it\ntrue?\n\n- `yes`\n- no") == "Is it true? - yes - no"


def test_lines_are_wrapped_and_the_lines_of_an_entry_stand_below_it() -> None:
    assert list(plain_lines("- one two three four five six seven", 20)) == ["- one two three four", "  five six seven"]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_no_step_of_a_lesson_shows_its_signs_and_all_fit_in_80_columns(lesson) -> None:
    for line in chain.from_iterable(step_lines(lesson, step) for step in steps(lesson)):
        assert "**" not in line and "](" not in line
        assert "`" not in line
        assert len(line) <= 80 or line.strip().startswith(("http", "Intent")) or line.startswith(" " * 6), line


@given(st.text(alphabet=st.sampled_from("ab1 \n*_`[](){}<>#>-+.|!\\&;x\x1b\u202e\t~"), max_size=80), st.integers(1, 90))
@example("&#x1b;]0;owned&#7; &#x202e;", 20)
def test_nothing_steers_the_terminal_and_nothing_breaks(markdown, width) -> None:
    for line in plain_lines(markdown, width):
        assert visible(line) == line
        assert "\n" not in line
