"""The page is read as a browser reads it, with the parser of the standard library; tests/browser opens it for real."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exercises.speed import DEFINITIONS, format_rate, speed_lines
from labtui.artifacts.document import collect
from labtui.artifacts.html import NOTHING_FROM_OUTSIDE, PRACTICE_NOTE, to_html
from labtui.artifacts.html_text import element, link, prose, text_of
from labtui.artifacts.run_facts import SPEED_COLUMNS
from labtui.errors import LabError
from lessons.finding import find_lesson
from store import Store

ALLOWED = set(
    """
    html head meta title style body main section p h1 h2 h3 div b i em strong code pre a ol ul li table thead tbody
    tr th td dl dt dd span article blockquote footer img br hr
    """.split()  # noqa: SIM905
)


class Page(HTMLParser):
    """What elements, attributes and text a page has, and its tables by the class that they carry."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._table = ""
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br", "hr"):
            self._open.append(tag)
        if tag == "table":
            self._table = dict(attrs).get("class", "")
            self.tables.setdefault(self._table, [])
        elif tag == "tr":
            self.tables[self._table].append([])
        elif tag in ("td", "th"):
            self.tables[self._table][-1].append("")

    def handle_endtag(self, tag):
        assert self._open and self._open[-1] == tag, f"</{tag}> closes {self._open[-1:]}"
        self._open.pop()

    def handle_data(self, data):
        if "style" in self._open:
            return
        self.text.append(data)
        if {"td", "th"} & set(self._open):
            self.tables[self._table][-1][-1] += data

    def close(self):
        super().close()
        assert not self._open


@pytest.fixture
def page(lesson, store, now):
    return to_html(collect(lesson, store, now))


def test_nothing_outside_is_needed_and_nothing_runs(page):
    read = Page(page)
    assert {tag for tag, _ in read.elements} <= ALLOWED
    for tag, attributes in read.elements:
        assert not any(name.startswith("on") for name in attributes)
        assert not attributes.keys() & {"src", "srcset", "data", "action", "background", "style"} or tag == "img"
        if tag == "img":
            assert attributes["src"].startswith("data:image/png;base64,")
        if "href" in attributes:
            assert tag == "a" and attributes["href"].startswith("https://")
    assert "url(" not in page and "@import" not in page
    policy = dict(read.elements[3][1])
    assert policy["content"] == NOTHING_FROM_OUTSIDE


def test_the_numbers_are_those_of_the_store(page, store):
    rows = {}
    for row in Page(page).tables["runs"]:
        if found := re.match(r"r-[\d-]+-\w{3}", row[0]):
            rows[found.group()] = row
    kept = {run.id: run for run in store.runs.list()}
    assert rows.keys() == kept.keys()
    for run_id, run in kept.items():
        shown = {line.key: line.value for line in speed_lines(run.speed)}
        assert rows[run_id][1:-1] == [shown[key] for key in SPEED_COLUMNS]
        assert rows[run_id][1] == format_rate(run.speed.end_to_end_tps)
        assert ("practice" in rows[run_id][0]) == run.practice, "the label stands beside the number"


def test_cited_runs_stand_on_the_map_with_their_numbers_and_the_label(page):
    _, first, second = Page(page).tables["cited"]
    assert first == ["r-20261130-211430-ccc", "vision", "practice", "200 tok/s", first[-1]]
    assert second[:4] == ["r-20261130-211230-bbb", "coding", "practice", "350 tok/s"]
    assert PRACTICE_NOTE in "".join(Page(page).text)


def test_every_number_carries_its_definition(page):
    text = "".join(Page(page).text)
    assert all(DEFINITIONS[key] in text for key in SPEED_COLUMNS)


def test_what_the_model_wrote_is_text(page):
    assert "<script" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "\x1b" not in page and "␛[31m" in page


def test_a_drawing_is_in_it_as_pixels_alone(lesson, store, now):
    drawn = []

    def picture_of(answer: str) -> bytes:
        drawn.append(answer)
        return b"\x89PNG pixels"

    page = to_html(collect(lesson, store, now), picture_of)
    assert len(drawn) == 1 and "<svg" not in page
    (image,) = [attributes for tag, attributes in Page(page).elements if tag == "img"]
    assert base64.b64decode(image["src"].partition(",")[2]) == b"\x89PNG pixels"
    assert image["alt"]


def test_a_drawing_that_cannot_be_drawn_is_told(lesson, store, now):
    def picture_of(answer: str) -> bytes:
        raise LabError("The SVG is not drawn", "has no scripts: no", "")

    assert "Not drawn: has no scripts: no." in to_html(collect(lesson, store, now), picture_of)


def test_the_real_drawing_of_a_real_answer(lesson, store, now):
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle cx="20" cy="20" r="9"/></svg>'
    run = store.runs.add(replace(store.runs.get("bbb"), id="", output=f"Here:\n```svg\n{svg}\n```"))
    store.verdicts.save("small", "It is round.", [run.id])
    page = to_html(collect(lesson, store, now))
    assert "data:image/png;base64,iVBOR" in page


def test_a_fresh_store_gives_a_page_that_says_what_is_missing(lesson, tmp_path, now):
    with Store.open(tmp_path / "fresh.db") as fresh:
        text = "".join(Page(to_html(collect(lesson, fresh, now))).text)
    for missing in ("No verdict was written yet.", "Nothing was run yet.", "Not answered yet.", "0 of 2 gates met"):
        assert missing in text


def test_a_bare_lesson_and_the_real_one_make_sound_pages(lesson, store, now):
    bare = replace(
        lesson,
        cards=(), anchors=(), misconceptions=(), gates=(), practice=(), lab_tasks=(), recall=(), notes=(), sources=()
    )  # fmt: skip
    for one in (bare, find_lesson("diffusiongemma")):
        Page(to_html(collect(one, store, now)))


@pytest.mark.parametrize(
    "attack",
    [
        "<img src=x onerror=alert(1)>",
        "<script>alert(1)</script>",
        "![picture](https://example.org/p.png)",
        "[click](javascript:alert(1))",
        "[click](data:text/html,x)",
        "[click](//example.org)",
        '<a href="https://example.org" onclick="x">x</a>',
        "[ref]\n\n[ref]: javascript:alert(1)",
        "<!--",
        "</pre></article></main>",
        "# A heading of theirs",
        '[x](https://example.org/" onclick="x)',
        "&#106;avascript:alert(1)",
    ],
)
def test_markdown_of_others_cannot_act(attack):
    read = Page(f"<div>{prose(attack)}</div>")
    assert {tag for tag, _ in read.elements} <= {"div", "p", "a", "em", "code"}
    for tag, attributes in read.elements:
        assert attributes.keys() <= ({"href", "rel"} if tag == "a" else {"class"})
        assert attributes.get("href", "https://").startswith(("https://", "http://"))


@given(text=st.text(), name=st.text())
@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_only_text(text, name):
    page = joined_page(text, name)
    read = Page(page)
    assert [tag for tag, _ in read.elements][:3] == ["div", "p", "b"]
    assert {tag for tag, _ in read.elements} <= ALLOWED
    assert not any(attribute.startswith("on") for _, attributes in read.elements for attribute in attributes)


def joined_page(text: str, name: str) -> str:
    return str(
        element(
            "div",
            element("p", element("b", text), text_of(name), title=text),
            link(name, text),
            prose(text),
            class_=name,
        )
    )
