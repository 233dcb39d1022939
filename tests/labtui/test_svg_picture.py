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
    ],
)
def test_what_is_none_or_is_not_safe_is_not_drawn(answer, why) -> None:
    with pytest.raises(LabError) as caught:
        picture_of_svg(answer)
    assert caught.value.title == "The SVG is not drawn"
    assert why in caught.value.cause


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
