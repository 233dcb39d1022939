"""Answers that are made to be slow: where a checker's time grew as a square, each of them took minutes or for ever."""

from __future__ import annotations

import pytest

from exercises.checkers.fences import fenced_blocks
from exercises.checkers.html_page import PageWanted, check_html_page
from exercises.checkers.python_function import FunctionWanted, check_python_function
from exercises.checkers.python_source import SourceWanted, check_python_source
from exercises.checkers.structured import StructuredWanted, check_structured
from exercises.checkers.svg import SvgWanted, check_svg
from exercises.checkers.transcription import TranscriptionWanted, check_transcription

MANY = 900_000


@pytest.mark.parametrize(
    "page",
    [
        "<style>url(" + " " * MANY + "</style>",
        '<p style="url(' + " " * MANY + '">',
        "<a " * (MANY // 3),
        "<!--" * (MANY // 4),
        "</" * (MANY // 2),
        "<div>" * 290 + "x<br>" * (MANY // 6),
        "<div>" * 290 + "</p>" * (MANY // 8),
    ],
    ids=[
        "spaces in CSS",
        "spaces in a style",
        "open tags",
        "open comments",
        "open ends",
        "text below all",
        "wrong ends",
    ],
)
def test_no_page_is_slow(page):
    assert not check_html_page(f"<html>{page}", PageWanted(2)).passed


@pytest.mark.parametrize(
    "text",
    ["```" + " " * MANY, "```" + "a" * MANY, "```" * (MANY // 3), "```py\n" + "\n" * MANY + "```", " " * MANY],
    ids=["a long fence", "a long word", "fences", "empty lines", "blanks"],
)
def test_no_fence_is_slow(text):
    assert not check_python_function(text, FunctionWanted("f", ()), run_code=False).passed
    assert not check_python_source(text, SourceWanted("f")).passed
    assert not check_structured(text, StructuredWanted("json")).passed
    assert not check_structured(text, StructuredWanted("table")).passed
    assert not check_transcription(text, TranscriptionWanted("dear agnes", 0.1)).passed


@pytest.mark.parametrize(
    "svg",
    ["<svg><style>url(" + " " * MANY + "</style></svg>", "<svg " * (MANY // 5), "<svg></svg" + " " * MANY],
    ids=["spaces in CSS", "starts", "a long end"],
)
def test_no_svg_is_slow(svg):
    assert not check_svg(svg, SvgWanted(("rect",))).passed


@pytest.mark.parametrize(
    ("answer", "blocks"),
    [
        ("no code", []),
        ("```py\na\n```", ["a\n"]),
        ("one\n```\na\n``` two\n```js\nb", ["a\n", "b"]),
        ("```inline``` and\n```\na\n```", ["a\n"]),
        ("```", []),
    ],
)
def test_the_blocks_of_an_answer(answer, blocks):
    assert fenced_blocks(answer) == blocks
