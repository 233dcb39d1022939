import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lessons.importing.markdown_escapes import as_markdown

MARKDOWN = MarkdownIt("commonmark").enable("strikethrough")


def shown(markdown: str) -> str:
    """What a reader sees: the text of one paragraph, nothing else."""
    tokens = MARKDOWN.parse(markdown)
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"], markdown
    assert {child.type for child in tokens[1].children or ()} <= {"text", "text_special"}, markdown
    return "".join(child.content for child in tokens[1].children or ())


LINES = st.text(st.sampled_from("ab1 .-+*_`~<>[]()!#&;\\=|:/\"'x"), min_size=1).map(lambda text: " ".join(text.split()))


@given(
    LINES.filter(bool) | st.text(min_size=1).map(lambda text: " ".join(re.sub(r"[\0]", "", text).split())).filter(bool)
)
def test_a_line_of_text_looks_the_same(text):
    if all(character.isprintable() for character in text):
        assert shown(as_markdown(text)) == text


@pytest.mark.parametrize("text", ["~18 GB", "snake_case_name", "3.8B active", "a - b", "81.5% (MMLU)", "a|b", "[1]"])
def test_ordinary_text_is_left_alone(text):
    assert as_markdown(text) == text
