import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.messages import nearest, printable, quoted


@given(st.text(st.characters()))
def test_what_is_quoted_is_printable_and_short(text):
    assert printable(text).isprintable()
    assert quoted(text).isprintable()
    assert len(quoted(text)) <= 10 * 81 + 2


@pytest.mark.parametrize("text", ["plain", "字幕", "שלום", "a b"])
def test_what_is_printable_stays(text):
    assert printable(text) == text


def test_nearest():
    assert nearest("Titel", ["title", "body"]) == '; did you mean "title"?'
    assert nearest("zzz", ["title", "body"]) == ""
