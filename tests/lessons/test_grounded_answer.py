import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.finding import PACKAGE
from lessons.grounded_answer import check_answer, wanted_sections
from lessons.loading import load_lesson

LESSON = load_lesson(PACKAGE / "diffusiongemma")
GOOD = """\
# Harness map

The video promises over 1,100 tokens per second (0:34) and runs at full
precision, although 18 GB is said to do (Evidence 2).

| timestamp | claim | what the demo proves | confidence | still to verify |
|---|---|---|---|---|
| 0:34 | over 1,100 tokens per second | that it is said | low | which card |
| 5:49 | the SVG shows | it renders: “now SVG is uh displayed properly” | high | the physics |

Outside context: other figures run from 375 to 1,479.

## Checklist
- 1 warm-up
- [ ] 5 runs

```
vllm serve --max-num-seqs 4
```

## Learning transfer
I measure 5 runs before I believe 1.

## Source check
- Speed is a claim (0:34)
- The picture test is a demo (8:08)
"""


def rules(answer):
    return [(fault.line, fault.rule) for fault in check_answer(LESSON, answer)]


def test_the_sections_come_from_the_prompt():
    assert wanted_sections(LESSON) == ["Learning transfer", "Source check"]


def test_a_good_answer_has_no_fault():
    assert check_answer(LESSON, GOOD) == []
    assert check_answer(LESSON, GOOD.replace("\n", "\r\n")) == []


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("(0:34) and", "(0:35) and", "citation"),
        ("Evidence 2", "Evidence 9", "citation"),
        ("now SVG is uh displayed properly", "the SVG looks entirely right to me", "quotation"),
        ("## Learning transfer", "Then:", "section"),
        ("## Source check", "", "section"),
        ("| 0:34 | over", "| – | over", "table"),
        ("(8:08)", "of the video", "claim"),
        ("Outside context: other", "Other", "claim"),
    ],
)
def test_each_rule(old, new, rule):
    assert old in GOOD
    found = check_answer(LESSON, GOOD.replace(old, new, 1))
    assert rule in {fault.rule for fault in found}
    row = next(number for number, line in enumerate(GOOD.split("\n"), 1) if old in line)
    assert all(fault.line in (0, row, row - 1, row + 1) for fault in found), found
    assert all(fault.message and (fault.text or not fault.line) for fault in found)


def test_a_row_marked_outside_excuses_only_itself():
    rows = "| claim | place |\n|---|---|\n| a, outside context | – |\n| b | – |\n"
    assert (len(GOOD.split("\n")) + 3, "table") in rules(GOOD + rows)
    assert (len(GOOD.split("\n")) + 2, "table") not in rules(GOOD + rows)


def test_an_empty_answer():
    assert rules(" \n") == [(0, "empty")]


def test_a_lesson_without_anchors_is_only_asked_for_its_sections():
    lesson = load_lesson(PACKAGE / "kv-cache-line")
    found = check_answer(lesson, "479,349 tokens at 12:34")
    assert {fault.rule for fault in found} == {"section"}


PARTS = st.lists(
    st.text(max_size=20)
    | st.sampled_from(["|", "|---|", "```", "# ", "0:34", "99:99", "Evidence 3", "“", "”", "- ", "**", ":", "1"]),
    max_size=30,
)


@given(PARTS)
def test_any_answer_is_checked(parts):
    answer = "\n".join(parts)
    for fault in check_answer(LESSON, answer):
        assert 0 <= fault.line <= answer.count("\n") + answer.count("\r") + 1


@given(st.sampled_from(GOOD.split("\n\n")), st.integers(0, 40))
def test_what_is_added_marks_no_other_line(part, at):
    rows = GOOD.split("\n")
    at = min(at, len(rows))
    bad = [*rows[:at], "", "The demo at 3:21 shows it.", "", *rows[at:]]
    found = check_answer(LESSON, "\n".join(bad))
    assert all(fault.line in (0, at + 2) for fault in found if fault.rule == "citation")


def test_whoever_cites_a_place_that_is_not_there_is_told_so_once():
    wrong = GOOD.replace("| 0:34 | over", "| 0:35 | over").replace("Speed is a claim (0:34)", "The video says 5 (0:35)")
    assert [rule for _, rule in rules(wrong)] == ["citation", "citation"]
