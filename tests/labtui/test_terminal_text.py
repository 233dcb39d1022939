from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from labtui.terminal_text import json_text, visible, visible_line


def test_an_escape_sequence_becomes_readable_instead_of_acting() -> None:
    assert visible("a\x1b[2Jb\x07") == "a␛[2Jb␇"


def test_c1_bidi_tags_and_surrogates_are_shown_by_their_code() -> None:
    assert visible("\x9b2J\u202eabc\u2066\U000e0041") == "‹U+009B›2J‹U+202E›abc‹U+2066›‹U+E0041›"
    assert visible("\ud83d") == "\N{REPLACEMENT CHARACTER}"


def test_windows_line_ends_are_line_ends_and_a_lone_carriage_return_is_not() -> None:
    assert visible("a\r\nb\rc") == "a\nb␍c"


def test_languages_and_emoji_stay_as_they_are() -> None:
    text = "扩散模型一次去噪一整块 · naïve · 👩‍🔬 · ↔\tx\ny"
    assert visible(text) == text


def test_one_line_has_no_line_break() -> None:
    assert visible_line("a\nb\tc") == "a␊b c"


@given(st.text(alphabet=st.characters(codec=None)))
def test_no_control_character_survives_and_nothing_changes_twice(text: str) -> None:
    shown = visible(text)
    assert all(unicodedata.category(character) not in ("Cc", "Cs") or character in "\n\t" for character in shown)
    shown.encode("utf-8")
    assert visible(shown) == shown
    assert "\n" not in visible_line(text)


@given(st.recursive(st.text() | st.integers(), st.lists))
def test_json_reads_back_to_the_same_and_cannot_steer(data: object) -> None:
    written = json_text(data)
    assert json.loads(written) == data
    assert visible(written) == written
    written.encode("utf-8")


def test_json_with_half_a_character_can_be_printed() -> None:
    json_text({"a": "\ud83d"}).encode("utf-8")
