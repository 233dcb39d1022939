from hypothesis import given
from hypothesis import strategies as st

from lessons.words import holds, longest_shared_run, words_of


def test_words_of_scripts_without_blanks():
    assert words_of("返りです。OK") == ["返", "り", "で", "す", "ok"]
    assert words_of("It’s — Naïve, 3.8!") == ["it's", "naïve", "3", "8"]


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_a_part_stands_in_its_text(before, part, behind):
    assert holds(words_of(f"{before} {part} {behind}"), words_of(part))


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12))
def test_the_longest_shared_run(left, right):
    runs = [left[a:b] for a in range(len(left)) for b in range(a + 1, len(left) + 1) if holds(right, left[a:b])]
    found = longest_shared_run(" ".join(left), " ".join(right))
    assert len(found) == max(map(len, runs), default=0)
    assert holds(left, found)
    assert holds(right, found)
