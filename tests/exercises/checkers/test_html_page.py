from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.checkers.html_page import PageWanted, check_html_page, extract_page

GOOD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Seasons</title>
<style>.panel{display:none} .on{display:block}</style></head>
<body>
<div role="tablist">
<button role="tab" aria-controls="p1">Spring</button><button role="tab" aria-controls="p2">Summer</button>
</div>
<section role="tabpanel" id="p1"><p>It is green.<br>It rains.</section>
<section role="tabpanel" id="p2"><p>It is hot.</section>
<script>document.querySelectorAll('[role=tab]').forEach(t => t.onclick = () => show(t));</script>
</body></html>"""
PLAIN = """<html><body>
<button onclick="show('a')">Spring</button><a href="#b">Summer</a>
<div id="a">It is green.</div><div id="b">It is hot.</div></body></html>"""
RADIO = """<html><body>
<input type="radio" name="t" id="r1" checked><label for="r1">Spring</label>
<input type="radio" name="t" id="r2"><label for="r2">Summer</label>
<div class="panel">It is green.</div><div class="panel">It is hot.</div></body></html>"""
TWO = PageWanted(2, ("spring", "Summer"))


def failing(answer: str) -> list[str]:
    return [fact.name for fact in check_html_page(answer, TWO).facts if not fact.passed]


@pytest.mark.parametrize("page", [GOOD, PLAIN, RADIO], ids=["roles", "targets", "radio buttons"])
def test_the_usual_ways_to_make_tabs_pass(page):
    assert failing(page) == []
    assert failing(f"Here you are:\n```html\n{page}\n```\nEnjoy.") == []


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        ("</div>\n<section", "<section", "parses"),
        ("</body>", "</span></body>", "parses"),
        ('<button role="tab" aria-controls="p2">Summer</button>', "", "has 2 tabs"),
        ('role="tabpanel" id="p2"', 'id="p2"', "every tab has its panel"),
        ("<p>It is hot.", "", "every panel has text"),
        ("Summer", "Winter", "has a tab 'Summer'"),
        ("</head>", '<script src="https://cdn.example.org/x.js"></script></head>', "needs nothing from outside"),
        ("</head>", '<link rel="stylesheet" href="//fonts.example.org/css"></head>', "needs nothing from outside"),
        (".panel{", "@import 'x.css'; .panel{", "needs nothing from outside"),
        (".panel{", ".panel{background:url(http://example.org/a.png);", "needs nothing from outside"),
        ("<p>It is hot.", '<p style="background: url(//example.org/a)">It is hot.', "needs nothing from outside"),
        ("document.", "fetch('/x'); document.", "needs nothing from outside"),
        (GOOD[GOOD.index("<script>") : GOOD.index("</body>")], "", "something switches the panels"),
    ],
)
def test_what_is_wrong_is_the_fact_that_fails(old, new, fact):
    assert old in GOOD
    assert fact in failing(GOOD.replace(old, new, 1))


def test_text_about_addresses_is_no_reference():
    assert failing(GOOD.replace("It is hot.", "See https://example.org/ and //this.")) == []


def test_no_page_and_a_cut_off_page():
    assert failing("I cannot do that.") == ["is an HTML page"]
    assert {"parses", "every panel has text"} <= set(failing(GOOD[: GOOD.index("Summer")]))
    assert extract_page(GOOD[:300]) == GOOD[:300]


def test_a_page_of_nothing_but_nesting_ends_soon():
    assert not check_html_page("<html>" + "<div>" * 50_000, TWO).passed


@given(st.text(alphabet="<>/=\"'!- abdhlmtv#;&"))
def test_no_answer_makes_it_raise(answer):
    check_html_page(f"<html>{answer}", TWO)
