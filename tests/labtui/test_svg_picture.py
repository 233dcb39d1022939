from __future__ import annotations

import io

import pytest
from PIL import Image

from labtui import svg_picture
from labtui.errors import LabError
from labtui.svg_picture import picture_of_svg


def svg(inside: str, head: str = 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"') -> str:
    return f"Here it is: <svg {head}>{inside}</svg> as asked."


def test_it_is_drawn_as_it_stands() -> None:
    png = picture_of_svg(svg('<rect width="10" height="10" fill="red"/>'))
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    assert picture.size == (640, 640)
    assert picture.getpixel((320, 320)) == (255, 0, 0)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("no drawing", "the answer has no <svg>"),
        (svg("<script>alert(1)</script>"), "has no scripts: no"),
        (svg('<image href="file:///etc/passwd" width="9" height="9"/>'), "refers to nothing outside: no"),
        (svg('<image href="http://127.0.0.1:9/x.png" width="9" height="9"/>'), "refers to nothing outside: no"),
        (svg("<rect width='9'"), "parses as XML: no"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]>' + svg("<text>&a;</text>"), "parses as XML: no"),
        (svg("<rect/>", 'xmlns="http://www.w3.org/2000/svg" width="0" height="0"'), "size"),
        (svg("<rect/>", 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 9"'), "9 times as tall as wide"),
        (svg("<rect/>", 'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1000000"'), "more than the drawing program"),
        (svg("<g>" * 300 + "</g>" * 300), "nested deeper than 200"),
        (svg("<image href='data:image/svg+xml;base64,PHN2Zy8+' width='9' height='9'/>"), "refers to nothing outside"),
        (svg("<foreignObject><p>x</p></foreignObject>"), "has no scripts: no"),
    ],
)
def test_what_is_none_or_is_not_safe_is_not_drawn(answer, why) -> None:
    with pytest.raises(LabError) as caught:
        picture_of_svg(answer)
    assert caught.value.title == "The SVG is not drawn"
    assert why in caught.value.cause


def ink(png: bytes, box: tuple[int, int, int, int]) -> int:
    """Dark pixels within the box."""
    return sum(Image.open(io.BytesIO(png)).convert("L").crop(box).histogram()[:100])


@pytest.mark.parametrize("family", ["", "Arial, sans-serif", "serif", "monospace", "No Such Font", "cursive"])
def test_its_labels_are_seen_whatever_fonts_the_machine_has(family) -> None:
    label = f'<text x="1" y="6" font-size="3" font-family="{family}">Plate →</text>'
    png = picture_of_svg(svg(label))
    assert ink(png, (0, 230, 640, 420)) > 2000
    assert ink(png, (0, 450, 640, 640)) == 0
    assert picture_of_svg(svg(label.replace("Plate", "Plaße"))) != png


@pytest.mark.parametrize("letters", ["ÄÖÜé", "Ωμ", "Жы", "→↓↺", "≈≤", "●■"])
def test_the_font_has_the_signs_of_labels(letters) -> None:
    drawn = {picture_of_svg(svg(f'<text x="1" y="8" font-size="8">{letter}</text>')) for letter in letters}
    assert len(drawn) == len(letters)


def test_what_refers_to_itself_comes_to_an_end() -> None:
    loops = '<g id="a"><use href="#a"/></g><pattern id="p" width="1" height="1"><rect fill="url(#p)"/></pattern>'
    assert picture_of_svg(svg(f'{loops}<rect width="9" height="9" fill="url(#p)"/>')).startswith(b"\x89PNG")


def test_a_drawing_that_explodes_is_ended(monkeypatch) -> None:
    monkeypatch.setattr(svg_picture, "TIME_S", 2)
    nested = "".join(
        f'<g id="g{n}">' + f'<use href="#g{n - 1}"/>' * 12 + "</g>"
        if n
        else '<g id="g0"><rect width="9" height="9"/></g>'
        for n in range(9)
    )
    with pytest.raises(LabError):
        picture_of_svg(svg(f"<defs>{nested}</defs><use href='#g8'/>"))
