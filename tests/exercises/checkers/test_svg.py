from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.checkers.svg import SvgWanted, check_svg, extract_svg, svg_labels

CIRCLE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4" fill="Red"/></svg>'
PLATES = """Here it is:

```svg
<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 100 50">
  <defs><linearGradient id="g"/></defs>
  <rect width="50" height="20" fill="url(#g)" style="stroke: black; fill: steelblue">
    <animateTransform attributeName="transform" type="translate" values="0 0;5 0;0 0" dur="4s"/>
  </rect>
  <use xlink:href="#p"/>
  <text>Oceanic <tspan>plate</tspan></text><text>Continental plate</text><text> </text>
</svg>
```
It moves."""


def failed(answer: str, **wanted) -> dict[str, str]:
    return {fact.name: fact.detail for fact in check_svg(answer, SvgWanted(**wanted)).facts if not fact.passed}


def test_an_answer_that_has_it_all():
    check = check_svg(
        PLATES,
        SvgWanted(
            elements=("rect", "text"),
            fill="steelblue",
            text=("oceanic plate", "Continental"),
            min_labels=2,
            moving=True,
        ),
    )
    assert check.passed, check.facts
    assert len(check.facts) == 4 + 2 + 1 + 2 + 1 + 1


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        ("I cannot draw.", "is an SVG"),
        ("", "is an SVG"),
        ("<svgx></svgx>", "is an SVG"),
        ("<svg><circle></svg>", "parses as XML"),
        (CIRCLE[:-4], "parses as XML"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', "parses as XML"),
        ("<svg>" + "<g>" * 300 + "</g>" * 300 + "</svg>", "parses as XML"),
        ("<svg><script>alert(1)</script></svg>", "has no scripts"),
        ('<svg onload="alert(1)"></svg>', "has no scripts"),
        ('<svg><a href=" java\nscript:alert(1)"/></svg>', "has no scripts"),
        ("<svg><foreignObject/></svg>", "has no scripts"),
        ('<svg><image href="http://example.org/a.png"/></svg>', "refers to nothing outside"),
        ('<svg><use href="other.svg#x"/></svg>', "refers to nothing outside"),
        ('<svg><use href="data:image/svg+xml;base64,AA#x"/></svg>', "refers to nothing outside"),
        ('<svg><image href="DATA:image/svg+xml,%3Csvg/%3E"/></svg>', "refers to nothing outside"),
        ('<svg><set attributeName="xlink:href" to="http://x.org/a"/></svg>', "refers to nothing outside"),
        ('<svg><animate attributeName="href" values="#a;//x.org/a"/></svg>', "refers to nothing outside"),
        ('<svg><image href="/etc/hostname"/></svg>', "refers to nothing outside"),
        ('<svg><feImage href="file:///etc/hostname"/></svg>', "refers to nothing outside"),
        ('<svg><!DOCTYPE s [<!ENTITY a "b">]><text>&a;</text></svg>', "parses as XML"),
        ('<svg><animate href="#a" attributeName="href" to="javascript:alert(1)"/></svg>', "has no scripts"),
        ('<svg><rect fill="url(http://example.org/#g)"/></svg>', "refers to nothing outside"),
        ("<svg><style>@import 'a.css';</style></svg>", "refers to nothing outside"),
        ('<svg><style>rect{fill:url( "//x.org/a" )}</style></svg>', "refers to nothing outside"),
        ('<svg><?xml-stylesheet href="a.css"?></svg>', "refers to nothing outside"),
    ],
)
def test_what_is_wrong_is_named(answer, fact):
    assert fact in failed(answer)


@pytest.mark.parametrize(
    ("wanted", "fact"),
    [
        ({"elements": ("ellipse",)}, "has <ellipse>"),
        ({"fill": "blue"}, "is filled with blue"),
        ({"text": ("Sun",)}, 'is labelled "Sun"'),
        ({"min_labels": 1}, "has 1 labels or more"),
        ({"moving": True}, "moves"),
    ],
)
def test_what_is_missing_is_named(wanted, fact):
    assert list(failed(CIRCLE, **wanted)) == [fact]
    assert failed(CIRCLE) == {}


def test_colours_do_not_care_for_case():
    assert failed(CIRCLE, fill="red") == {}
    assert failed("<svg><style>circle { fill: RED; stroke-fill: blue }</style></svg>", fill="red") == {}


@pytest.mark.parametrize(
    "moving",
    [
        '<animate attributeName="x" to="4" dur="1s"/>',
        '<animateMotion path="M0 0 L5 5" dur="1s"/>',
        '<animateMotion dur="1s"><mpath href="#p"/></animateMotion>',
        "<style>@keyframes drift { to { transform: none } } rect { animation: drift 2s }</style>",
        "<style>rect { animation-name: drift }@-webkit-keyframes drift{0%{x:1}to{x:2}}</style>",
        '<animate attributeName="x" by="4" dur=".5s"/>',
        '<animate attributeName="x" from="0" to="4" dur="00:01"/>',
    ],
)
def test_what_moves(moving):
    assert failed(f"<svg><rect>{moving}</rect></svg>", moving=True) == {}


@pytest.mark.parametrize(
    "still",
    [
        "<animate/>",
        "<style>@keyframes drift { }</style>",
        '<set attributeName="x"/>',
        '<animate attributeName="x" from="0" to="9"/>',
        '<animate attributeName="x" from="0" to="9" dur="0s"/>',
        '<animate attributeName="x" from="0" to="9" dur="indefinite"/>',
        '<animate attributeName="x" values="3;3;3" dur="1s"/>',
        '<animate attributeName="x" from="4" to="4" dur="1s"/>',
        "<style>@keyframes drift { to { x: 9 } } rect { animation: other 2s }</style>",
        "<style>@keyframes drift { to { } } rect { animation: drift 2s }</style>",
    ],
)
def test_what_does_not_move(still):
    assert "moves" in failed(f"<svg><rect>{still}</rect></svg>", moving=True)


def test_data_pictures_and_own_parts_are_inside():
    inside = (
        '<svg><image href="data:image/png;base64,AA"/><use href="#a"/><rect fill="url(#b)"/>'
        '<animate attributeName="href" values="#a;#b"/><animate attributeName="x" values="0;9"/></svg>'
    )
    assert failed(inside) == {}


def test_its_labels_in_their_order():
    assert svg_labels(PLATES) == ["Oceanic plate", "Continental plate"]
    assert svg_labels("no drawing") == svg_labels("<svg><text>") == []


def test_hidden_labels_are_none():
    for hidden in ('display="none"', 'visibility="hidden"', 'style="x: 1; display : none"'):
        assert svg_labels(f"<svg><g {hidden}><text>Oceanic</text></g><text>Magma</text></svg>") == ["Magma"]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (f"I draw an <svg> element with a circle.\n{CIRCLE}\nDone.", CIRCLE),
        (f"<svg><g/></svg> or better:\n{CIRCLE}", CIRCLE),
        (f"<svg a='b'>{CIRCLE}</svg>", f"<svg a='b'>{CIRCLE}</svg>"),
        (f"<svg a='b'><g>{CIRCLE}", f"<svg a='b'><g>{CIRCLE}"),
        ("Look: <svg a='b'/> there", "<svg a='b'/>"),
        ("<svg a='b'><g", "<svg a='b'><g"),
        ("no </svg> at all", None),
        ("an <svg> in words", "<svg> in words"),
    ],
)
def test_the_svg_of_an_answer(answer, found):
    assert extract_svg(answer) == found


def test_the_svg_is_found_in_its_fence():
    assert extract_svg(PLATES).startswith("<svg") and extract_svg(PLATES).endswith("</svg>")
    assert extract_svg("no drawing") is None
    assert extract_svg("<svg:svg xmlns:svg='s'></svg:svg> more") == "<svg:svg xmlns:svg='s'></svg:svg>"


pieces = st.sampled_from(
    [
        "<svg>",
        "</svg>",
        "<svg ",
        ">",
        "<!DOCTYPE x [",
        "]>",
        "&a;",
        "<![CDATA[",
        "]]>",
        "<?x",
        "\x00",
        "\ud800",
        "<text>",
        "</text>",
        "<style>",
        "url(",
        "href='",
        "'",
        "<animate ",
        "xmlns:a='b' ",
        "<a:b/>",
        "ü",
    ]
)


@given(st.one_of(st.text(), st.lists(pieces, max_size=20).map("".join)))
def test_no_answer_makes_it_raise(answer):
    check_svg(answer, SvgWanted(("a",), "red", ("b",), 1, True))
    check_svg(f"<svg>{answer}</svg>", SvgWanted(("a",), "red", ("b",), 1, True))
