from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.checkers.choice import Choice, check_choice, what_it_says
from exercises.tasks import task_set_for

BARE = (("yes",), ("no",))
LAB = next(task for task in task_set_for("bf16", False).tasks if task.id == "vision").variants[0].settings
WORDS = (tuple(LAB["when_true"]), tuple(LAB["when_false"]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Yes.", True),
        ("yes, the roof is lower than the bar", True),
        ("**Yes**, it passes.", True),
        ("Yes", True),
        ("YES!", True),
        ("Answer: yes", True),
        ("The answer is yes.", True),
        ("The vehicle passes.", True),
        ("It clears the bar with room to spare.", True),
        ("The van is not too tall, so it fits.", True),
        ("No.", False),
        ("No, it does not pass.", False),
        ("No. The truck is too tall to pass under the bar.", False),
        ("The vehicle does not pass.", False),
        ("It doesn't pass.", False),
        ("It doesn’t fit.", False),
        ("It can't pass.", False),
        ("It cannot pass", False),
        ("It won't clear the bar", False),
        ("The bus is too tall to fit", False),
        ("The roof is above the bar, so the bus would hit the bar.", False),
        ("It will not be able to pass", False),
        ("It fails to clear the bar", False),
        ("The roof is higher than the bar. The answer is no.", False),
        ("There is not enough room for it to pass", False),
        ("At first glance it passes. Final answer: no", False),
        ("Does it pass? The roof is 3 m high. Therefore: no, it does not pass.", False),
        ("", None),
        ("It is a red van.", None),
        ("Yes and no", None),
        ("Yes or no, hard to say.", None),
        ("I cannot answer yes or no.", None),
        ("The roof is not too tall to pass", True),
        ("It does not touch the bar and passes", True),
        ("It is lower than the bar, so nothing stops it, it passes", True),
        ("Yes. No.", None),
        ("It passes. It does not pass.", None),
    ],
)
def test_what_answers_say(text, said):
    assert what_it_says(text, *WORDS) is said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Yes, the van is lower.", True),
        ("No, the van is higher.", False),
        ("no", False),
        ("There is no doubt, the van passes.", None),
        ("No doubt it passes.", None),
        ("The van is notable; yes.", True),
        ("Yesterday, nobody knew.", None),
    ],
)
def test_bare_words(text, said):
    assert what_it_says(text, *BARE) is said


def test_the_facts():
    right = check_choice("No, it does not pass.", Choice(*WORDS, answer=False))
    assert right.passed
    wrong = check_choice("No, it does not pass.", Choice(*WORDS, answer=True))
    assert not wrong.passed
    assert wrong.facts[1].detail == "says 'no', the truth is 'yes'"
    silent = check_choice("A van.", Choice(*WORDS, answer=True))
    assert [fact.passed for fact in silent.facts] == [False]


words = st.lists(
    st.sampled_from(["yes", "no", "not", "pass", "passes", "too", "tall", "cannot", "don't", ".", ",", ":", "answer"])
).map(" ".join)


@given(st.one_of(st.text(), words), st.booleans())
def test_no_text_makes_it_raise(text, answer):
    check_choice(text, Choice(*WORDS, answer=answer))
    check_choice(text, Choice(*BARE, answer=answer))
