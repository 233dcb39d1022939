"""Each task of the lab against answers that are right and answers that look right and are not."""

from __future__ import annotations

import pytest

from exercises.tasks import PreparedTask, find_task, task_set_for

LAB = task_set_for("fp8", False)


def asked(task_id: str, word: str = "") -> PreparedTask:
    """The task with the prompt in which the word stands."""
    task = find_task(task_id, LAB)
    return next(one for one in map(task.prepare, range(60)) if word in one.prompt_text)


def failing(prepared: PreparedTask, answer: str) -> list[str]:
    return [fact.name for fact in prepared.check(answer).facts if not fact.passed]


LABELS = "<text>Oceanic plate</text><text>Continental plate</text><text>Magma</text>"
SLIDES = '<g><animateTransform attributeName="transform" type="translate" from="0 0" to="9 4" dur="4s"/></g>'
CSS_SLIDES = "<style>@keyframes down { to { transform: translate(9px) } } .o { animation: down 3s infinite }</style>"


@pytest.mark.parametrize(
    ("inside", "wrong"),
    [
        (LABELS + SLIDES, []),
        (LABELS + CSS_SLIDES, []),
        (LABELS, ["moves"]),
        (LABELS + SLIDES.replace(' dur="4s"', ""), ["moves"]),
        (LABELS + SLIDES.replace('to="9 4"', 'to="0 0"'), ["moves"]),
        (LABELS + CSS_SLIDES.replace("animation: down", "animation: up"), ["moves"]),
        (LABELS.replace("Magma", "") + SLIDES, ["has 3 labels or more"]),
        (LABELS.replace("Oceanic", "Heavy") + SLIDES, ['is labelled "oceanic"']),
        (f"<title>{LABELS}</title>".replace("text", "desc") + SLIDES, ['is labelled "oceanic"']),
        (f'<g display="none">{LABELS}</g>{SLIDES}', ['is labelled "oceanic"']),
        (LABELS + SLIDES + "<script>move()</script>", ["has no scripts"]),
        (LABELS + SLIDES + '<image href="https://example.org/rock.png"/>', ["refers to nothing outside"]),
        (LABELS + SLIDES + "<g>", ["parses as XML"]),
    ],
)
def test_the_plates(inside, wrong):
    found = failing(
        asked("coding", "oceanic"), f'Here:\n```svg\n<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>\n```'
    )
    assert set(wrong) <= set(found) and bool(found) == bool(wrong)


def test_an_answer_in_words_is_no_plate():
    assert failing(asked("coding", "oceanic"), "I would draw an <svg> with two plates, oceanic and continental.")


TABS = "".join(
    f'<button role="tab" aria-controls="p{at}">{name}</button>'
    for at, name in enumerate(("Convergent", "Divergent", "Transform"))
)
PANELS = "".join(f'<div role="tabpanel" id="p{at}">One. Two.</div>' for at in range(3))
SWITCH = "<script>for (const tab of document.querySelectorAll('[role=tab]')) tab.onclick = () => show(tab);</script>"


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        (TABS + PANELS + SWITCH, ""),
        (TABS + PANELS, "something switches the panels"),
        (TABS.replace("Divergent", "Sideways") + PANELS + SWITCH, "has a tab 'Divergent'"),
        (TABS + PANELS.replace("One. Two.", "") + SWITCH, "every panel has text"),
        (TABS + PANELS[: PANELS.rindex("<div")] + SWITCH, "every tab has its panel"),
        (TABS.replace('role="tab"', 'class="t"') + SWITCH, "every tab has its panel"),
        (TABS + PANELS + SWITCH.replace("show(tab)", "fetch(tab.id)"), "needs nothing from outside"),
        (TABS + PANELS + SWITCH + '<script src="https://cdn.example.org/t.js"></script>', "needs nothing from outside"),
        (TABS + "<div>" + PANELS + SWITCH, "parses"),
    ],
)
def test_the_tabbed_page(body, wrong):
    found = failing(asked("tabs", "Convergent"), f"<!DOCTYPE html><html><body>{body}</body></html>")
    assert (wrong in found) if wrong else not found


MERGE = (
    "def merge_intervals(intervals):\n    out = []\n    for start, end in sorted(intervals):\n"
    "        if out and start <= out[-1][1]:\n            out[-1][1] = max(out[-1][1], end)\n"
    "        else:\n            out.append([start, end])\n    return out\n"
)
ROMAN = (
    "def roman(number):\n    out = ''\n    for value, sign in ((1000, 'M'), (900, 'CM'), (500, 'D'), (400, 'CD'),"
    " (100, 'C'), (90, 'XC'), (50, 'L'), (40, 'XL'), (10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')):\n"
    "        out, number = out + sign * (number // value), number % value\n    return out\n"
)
BALANCED = (
    "def balanced(text):\n    left = []\n    for sign in text:\n"
    "        if sign in '([{':\n            left.append(sign)\n"
    "        elif sign in ')]}' and (not left or left.pop() + sign not in ('()', '[]', '{}')):\n"
    "            return False\n    return not left\n"
)


@pytest.mark.parametrize(
    ("word", "code", "old", "new"),
    [
        ("merge_intervals", MERGE, "start <= out", "start < out"),
        ("merge_intervals", MERGE, "max(out[-1][1], end)", "end"),
        ("merge_intervals", MERGE, "sorted(intervals)", "intervals"),
        ("roman", ROMAN, "(4, 'IV'), ", ""),
        ("roman", ROMAN, "return out", "print(out)"),
        ("roman", ROMAN, "return out", "return out.lower()"),
        ("balanced", BALANCED, "return not left", "return True"),
        ("balanced", BALANCED, "left.pop() + sign not in ('()', '[]', '{}')", "not left.pop()"),
        ("balanced", BALANCED, "return not left", "return 1 - len(left)"),
    ],
)
def test_the_function_with_tests_that_it_has_not_seen(word, code, old, new):
    prepared = asked("coding-python", f"function {word}(")
    assert failing(prepared, f"```python\n{code}```") == []
    assert old in code and failing(prepared, code.replace(old, new))


@pytest.mark.parametrize("passes", [True, False])
def test_the_barrier(passes):
    task = find_task("vision", LAB)
    prepared = next(one for one in map(task.prepare, range(60)) if one.facts["picture"]["passes"] is passes)
    yes = ["Yes, its roof is lower than the bar.", "**Yes.** It clears the bar.", "It passes without touching the bar."]
    no = ["No, it is too tall.", "No – it would hit the bar.", "The truck is taller than the bar, so it does not pass."]
    for answer in yes:
        assert prepared.check(answer).passed is passes, answer
    for answer in no:
        assert prepared.check(answer).passed is not passes, answer
    for answer in ("", "Yes or no?", "A red truck.", "It passes. It does not pass."):
        assert not prepared.check(answer).passed, answer


def test_the_page_in_cursive():
    prepared, other = (find_task("cursive", LAB).prepare(seed) for seed in (1, 2))
    text = prepared.facts["picture"]["text"]
    for right in (text, text.title(), text.replace(", ", ",\n"), f"Here it is:\n{text}", text.replace("e", "a", 4)):
        assert prepared.check(right).passed, right
    for wrong in ("", text[: len(text) // 2], other.facts["picture"]["text"], text.replace("e", "a"), text + text):
        assert not prepared.check(wrong).passed, wrong


@pytest.mark.parametrize("direction", ["left", "right", "up", "down"])
def test_the_clip(direction):
    task = find_task("clip", LAB)
    prepared = next(one for one in map(task.prepare, range(90)) if one.facts["picture"]["direction"] == direction)
    other = {"left": "right", "right": "left", "up": "down", "down": "up"}[direction]
    for right in (f"{direction.title()}.", f"The ball moves {direction}.", f"It goes from {other} to {direction}."):
        assert prepared.check(right).passed, right
    for wrong in ("", other, f"It does not move {direction}.", f"{other}, not {direction}", "It stands still."):
        assert not prepared.check(wrong).passed, wrong
