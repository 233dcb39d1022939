from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from labtui.artifacts.markdown_text import cell, code, fenced, item, link, own_cell, plain, quoted, table, without_html
from labtui.terminal_text import visible_line

RENDERER = MarkdownIt("commonmark").enable("table")
TROUBLE = st.text(alphabet=st.sampled_from("`*_[]<>|~#&-+=.)(!\\ \n\tab1;:/\"'é文\x1b\u202e"), max_size=30)
ANY_TEXT = st.text(max_size=40) | TROUBLE


def token_types(markdown: str) -> set[str]:
    tokens = RENDERER.parse(markdown)
    return {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}


def shown(markdown: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", RENDERER.render(markdown))).strip()


@given(ANY_TEXT)
def test_plain_text_is_shown_as_it_is_and_is_never_markup(text):
    assert token_types(plain(text)) <= {"paragraph_open", "inline", "paragraph_close", "text", "text_special"}
    assert shown(plain(text)) == " ".join(visible_line(text).split())
    assert "\x1b" not in plain(text)


def test_plain_text_keeps_common_words_readable():
    assert plain("max_tokens = 256, 0.35 s & 3 > 2") == "max_tokens = 256, 0.35 s & 3 > 2"
    assert shown(plain("*bold* <b> &lt; _it_ `x` [a](b) | # -")) == "*bold* <b> &lt; _it_ `x` [a](b) | # -"
    for start in ("# no heading", "- no item", "1. no item", "> no quote", "===", "---", "12) no item"):
        assert shown(plain(start)) == start
        assert token_types(plain(start)) <= {"paragraph_open", "inline", "paragraph_close", "text", "text_special"}


@given(ANY_TEXT)
def test_a_fence_holds_whatever_is_in_it(text):
    tokens = RENDERER.parse(f"before\n\n{fenced(text, 'text')}\n\nafter")
    assert [token.type for token in tokens if token.level == 0] == [
        "paragraph_open",
        "paragraph_close",
        "fence",
        "paragraph_open",
        "paragraph_close",
    ]


def test_a_fence_is_longer_than_any_inside():
    assert fenced("````\ninner\n````").startswith("`````\n")
    assert RENDERER.parse(fenced("````\ninner\n````"))[0].content == "````\ninner\n````\n"


def test_control_characters_are_shown_as_symbols():
    assert "␛[31m" in fenced("\x1b[31mred")
    assert "␇" in plain("\x07")
    assert "‹U+202E›" in quoted("\u202e")
    assert "␛" in code("\x1b")


@given(ANY_TEXT)
def test_code_spans_hold_their_text(text):
    words = " ".join(text.split())
    if words:
        assert token_types(f"a {code(text)} b") <= {
            "paragraph_open",
            "inline",
            "paragraph_close",
            "text",
            "code_inline",
        }


@given(ANY_TEXT)
def test_no_html_gets_through_any_piece(text):
    for piece in (without_html(text), quoted(text), item(without_html(text)), fenced(text), plain(text), code(text)):
        assert not token_types(piece) & {"html_block", "html_inline"}, piece
    in_table = table(("a", "b"), [(cell(text), own_cell(plain(text))), (own_cell(code(text)), cell(text))])
    assert not token_types(in_table) & {"html_block", "html_inline"}


@given(ANY_TEXT)
def test_a_cell_is_one_cell(text):
    tokens = RENDERER.parse(table(("a", "b"), [(cell(text), own_cell(plain(text))), (own_cell(code(text)), "end")]))
    assert sum(token.type == "td_open" for token in tokens) == 4
    assert sum(token.type == "tr_open" for token in tokens) == 3


def test_html_of_others_is_text_and_their_markdown_stays():
    assert shown(without_html("<script>alert(1)</script>")) == "<script>alert(1)</script>"
    assert without_html("a **b** `c < d` and 1 < 2") == "a **b** `c < d` and 1 < 2"
    assert "strong_open" in token_types(quoted("**b** <i>x</i>"))


@given(ANY_TEXT)
def test_what_a_quotation_opens_ends_with_it(text):
    tokens = RENDERER.parse(f"{quoted('x ' + text)}\n\nafter")
    assert [token.type for token in tokens if token.level == 0][-2:] == ["paragraph_open", "paragraph_close"]
    assert tokens[-2].content == "after"


def test_links_lead_to_web_addresses_only():
    assert link("here", "https://example.org/a?b=(c)") == "[here](<https://example.org/a?b=(c)>)"
    for other in ("javascript:alert(1)", "file:///etc/passwd", "https://a b", "https://x>y", None):
        assert link("here", other) == "here"
    for active in (
        "[x](javascript:alert(1))",
        "[x](<JavaScript:alert(1)>)",
        "<javascript:alert(1)>",
        "[x]: data:text/html,1",
    ):
        assert "javascript:" not in without_html(active).lower() and "data:" not in without_html(active).lower()
