"""The drawings that the practice checkpoint knows: the SVG and the names by which a person may ask for it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True)
class Drawing:
    """names: noun phrases that complete "Write an SVG of ..."; the first is the plain one."""

    names: tuple[str, ...]
    svg: str


FILLS = ("red", "green", "blue", "yellow", "orange", "purple", "black", "gray")

_SHAPES: dict[tuple[str, ...], str] = {
    ("circle", "disc"): '<circle cx="50" cy="50" r="40" fill="{fill}"/>',
    ("square", "box"): '<rect x="20" y="20" width="60" height="60" fill="{fill}"/>',
    ("triangle",): '<polygon points="50,12 90,84 10,84" fill="{fill}"/>',
    ("ellipse", "oval"): '<ellipse cx="50" cy="50" rx="44" ry="26" fill="{fill}"/>',
    ("diamond", "rhombus"): '<polygon points="50,10 86,50 50,90 14,50" fill="{fill}"/>',
    ("ring",): '<circle cx="50" cy="50" r="34" fill="none" stroke="{fill}" stroke-width="12"/>',
}


def _svg(view_box: str, *lines: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view_box}">\n{body}\n</svg>'


def _article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def shapes() -> tuple[Drawing, ...]:
    return tuple(
        Drawing(tuple(f"{_article(fill)} {noun}" for noun in nouns), _svg("0 0 100 100", element.format(fill=fill)))
        for (nouns, element), fill in product(_SHAPES.items(), FILLS)
    )


SCENES: tuple[Drawing, ...] = (
    Drawing(
        (
            "two tectonic plates that push together",
            "two colliding tectonic plates",
            "a subduction zone",
            "convergent tectonic plates",
        ),
        _svg(
            "0 0 240 140",
            '<rect width="240" height="140" fill="lightblue"/>',
            '<rect y="100" width="240" height="40" fill="firebrick"/>',
            '<polygon points="0,60 110,60 130,100 0,100" fill="steelblue">',
            '  <animateTransform attributeName="transform" type="translate" values="0 0;12 4;0 0" dur="4s"'
            ' repeatCount="indefinite"/>',
            "</polygon>",
            '<polygon points="240,50 120,50 150,100 240,100" fill="peru">',
            '  <animateTransform attributeName="transform" type="translate" values="0 0;-12 0;0 0" dur="4s"'
            ' repeatCount="indefinite"/>',
            "</polygon>",
            '<text x="14" y="84" font-size="11">Oceanic plate</text>',
            '<text x="150" y="74" font-size="11">Continental plate</text>',
            '<text x="100" y="124" font-size="11">Mantle</text>',
        ),
    ),
    Drawing(
        (
            "two tectonic plates that drift apart",
            "two diverging tectonic plates",
            "a mid-ocean ridge",
            "divergent tectonic plates",
        ),
        _svg(
            "0 0 240 140",
            '<rect width="240" height="140" fill="lightblue"/>',
            '<rect y="90" width="240" height="50" fill="firebrick"/>',
            '<polygon points="104,90 120,50 136,90" fill="orange"/>',
            '<rect x="0" y="60" width="112" height="34" fill="peru">',
            '  <animate attributeName="x" values="0;-14;0" dur="5s" repeatCount="indefinite"/>',
            "</rect>",
            '<rect x="128" y="60" width="112" height="34" fill="tan">',
            '  <animate attributeName="x" values="128;142;128" dur="5s" repeatCount="indefinite"/>',
            "</rect>",
            '<text x="20" y="82" font-size="11">West plate</text>',
            '<text x="164" y="82" font-size="11">East plate</text>',
            '<text x="98" y="124" font-size="11">Magma</text>',
        ),
    ),
    Drawing(
        (
            "two tectonic plates that slide past each other",
            "a transform fault",
            "two sliding tectonic plates",
            "transform tectonic plates",
        ),
        _svg(
            "0 0 200 160",
            '<rect width="200" height="160" fill="white"/>',
            '<rect x="10" y="20" width="88" height="110" fill="tan">',
            '  <animate attributeName="y" values="20;8;20" dur="6s" repeatCount="indefinite"/>',
            "</rect>",
            '<rect x="102" y="20" width="88" height="110" fill="olive">',
            '  <animate attributeName="y" values="20;32;20" dur="6s" repeatCount="indefinite"/>',
            "</rect>",
            '<line x1="100" y1="4" x2="100" y2="146" stroke="red" stroke-width="3"/>',
            '<text x="22" y="80" font-size="11">Pacific plate</text>',
            '<text x="112" y="80" font-size="11">American plate</text>',
            '<text x="86" y="157" font-size="11">Fault</text>',
        ),
    ),
    Drawing(
        ("a pelican riding a bicycle", "a pelican on a bicycle", "a pelican that rides a bike"),
        _svg(
            "0 0 200 140",
            '<circle cx="50" cy="110" r="24" fill="none" stroke="black" stroke-width="4"/>',
            '<circle cx="150" cy="110" r="24" fill="none" stroke="black" stroke-width="4"/>',
            '<path d="M50 110 L90 70 L140 70 L150 110 M90 70 L105 110 L140 70" fill="none" stroke="blue"'
            ' stroke-width="4"/>',
            '<ellipse cx="100" cy="52" rx="28" ry="18" fill="white" stroke="black"/>',
            '<circle cx="128" cy="28" r="10" fill="white" stroke="black"/>',
            '<path d="M136 26 L176 36 L134 36 Z" fill="orange"/>',
            '<circle cx="130" cy="26" r="2" fill="black"/>',
        ),
    ),
    Drawing(
        ("a volcano that erupts", "an erupting volcano", "a volcano with smoke", "a volcano"),
        _svg(
            "0 0 200 140",
            '<rect width="200" height="140" fill="skyblue"/>',
            '<polygon points="30,130 84,50 116,50 170,130" fill="saddlebrown"/>',
            '<polygon points="84,50 116,50 108,92 98,66 90,84" fill="orangered"/>',
            '<circle cx="100" cy="34" r="12" fill="gray">',
            '  <animate attributeName="cy" values="34;6" dur="3s" repeatCount="indefinite"/>',
            "</circle>",
            '<circle cx="112" cy="24" r="9" fill="silver">',
            '  <animate attributeName="cy" values="24;0" dur="3s" repeatCount="indefinite"/>',
            "</circle>",
            '<rect y="130" width="200" height="10" fill="green"/>',
            '<text x="8" y="124" font-size="10">Volcano</text>',
        ),
    ),
    Drawing(
        ("a planet that orbits the sun", "the earth orbiting the sun", "the sun with a planet", "the solar system"),
        _svg(
            "0 0 160 160",
            '<rect width="160" height="160" fill="black"/>',
            '<circle cx="80" cy="80" r="56" fill="none" stroke="gray"/>',
            '<circle cx="80" cy="80" r="20" fill="gold"/>',
            '<circle cx="136" cy="80" r="8" fill="deepskyblue">',
            '  <animateTransform attributeName="transform" type="rotate" from="0 80 80" to="360 80 80" dur="8s"'
            ' repeatCount="indefinite"/>',
            "</circle>",
            '<text x="70" y="116" font-size="11" fill="white">Sun</text>',
            '<text x="120" y="64" font-size="11" fill="white">Earth</text>',
        ),
    ),
    Drawing(
        ("a house with a tree", "a house and a tree", "a small house", "a house"),
        _svg(
            "0 0 200 140",
            '<rect width="200" height="140" fill="skyblue"/>',
            '<rect y="110" width="200" height="30" fill="green"/>',
            '<rect x="40" y="60" width="70" height="60" fill="beige"/>',
            '<polygon points="30,60 75,24 120,60" fill="brown"/>',
            '<rect x="66" y="86" width="18" height="34" fill="saddlebrown"/>',
            '<rect x="46" y="68" width="16" height="14" fill="white"/>',
            '<rect x="150" y="80" width="10" height="40" fill="saddlebrown"/>',
            '<circle cx="155" cy="66" r="24" fill="forestgreen"/>',
            '<circle cx="178" cy="20" r="12" fill="gold"/>',
        ),
    ),
    Drawing(
        ("a traffic light that changes", "a traffic light", "traffic lights"),
        _svg(
            "0 0 40 100",
            '<rect width="40" height="100" rx="8" fill="black"/>',
            '<circle cx="20" cy="20" r="12" fill="red">',
            '  <animate attributeName="opacity" values="1;0.2;0.2" dur="6s" repeatCount="indefinite"/>',
            "</circle>",
            '<circle cx="20" cy="50" r="12" fill="orange">',
            '  <animate attributeName="opacity" values="0.2;1;0.2" dur="6s" repeatCount="indefinite"/>',
            "</circle>",
            '<circle cx="20" cy="80" r="12" fill="green">',
            '  <animate attributeName="opacity" values="0.2;0.2;1" dur="6s" repeatCount="indefinite"/>',
            "</circle>",
        ),
    ),
    Drawing(
        ("a bar chart of three speeds", "a bar chart with three bars", "a bar chart"),
        _svg(
            "0 0 200 140",
            '<line x1="30" y1="110" x2="190" y2="110" stroke="black"/>',
            '<line x1="30" y1="10" x2="30" y2="110" stroke="black"/>',
            '<rect x="44" y="74" width="32" height="36" fill="steelblue"/>',
            '<rect x="94" y="46" width="32" height="64" fill="orange"/>',
            '<rect x="144" y="20" width="32" height="90" fill="seagreen"/>',
            '<text x="48" y="126" font-size="11">walk</text>',
            '<text x="98" y="126" font-size="11">bike</text>',
            '<text x="150" y="126" font-size="11">train</text>',
        ),
    ),
    Drawing(
        ("a clock with a moving hand", "an analog clock", "a clock"),
        _svg(
            "0 0 120 120",
            '<circle cx="60" cy="60" r="54" fill="white" stroke="black" stroke-width="4"/>',
            '<text x="54" y="24" font-size="12">12</text>',
            '<text x="100" y="64" font-size="12">3</text>',
            '<text x="57" y="108" font-size="12">6</text>',
            '<text x="12" y="64" font-size="12">9</text>',
            '<line x1="60" y1="60" x2="84" y2="60" stroke="black" stroke-width="5"/>',
            '<line x1="60" y1="60" x2="60" y2="24" stroke="red" stroke-width="3">',
            '  <animateTransform attributeName="transform" type="rotate" from="0 60 60" to="360 60 60" dur="10s"'
            ' repeatCount="indefinite"/>',
            "</line>",
            '<circle cx="60" cy="60" r="4" fill="black"/>',
        ),
    ),
    Drawing(
        ("a sailing boat on the sea", "a sailing boat", "a boat on the water", "a sailboat"),
        _svg(
            "0 0 200 140",
            '<rect width="200" height="140" fill="lightcyan"/>',
            '<circle cx="164" cy="28" r="14" fill="gold"/>',
            "<g>",
            '  <polygon points="60,92 140,92 122,112 78,112" fill="brown"/>',
            '  <line x1="100" y1="92" x2="100" y2="24" stroke="black" stroke-width="3"/>',
            '  <polygon points="104,26 104,86 140,86" fill="white" stroke="gray"/>',
            '  <animateTransform attributeName="transform" type="translate" values="-10 0;10 2;-10 0" dur="5s"'
            ' repeatCount="indefinite"/>',
            "</g>",
            '<rect y="108" width="200" height="32" fill="royalblue"/>',
        ),
    ),
    Drawing(
        ("a smiley that winks", "a winking smiley", "a smiley", "a smiling face"),
        _svg(
            "0 0 100 100",
            '<circle cx="50" cy="50" r="44" fill="gold" stroke="black" stroke-width="3"/>',
            '<circle cx="35" cy="40" r="6" fill="black"/>',
            '<ellipse cx="65" cy="40" rx="6" ry="6" fill="black">',
            '  <animate attributeName="ry" values="6;6;1;6" dur="3s" repeatCount="indefinite"/>',
            "</ellipse>",
            '<path d="M28 60 Q50 84 72 60" fill="none" stroke="black" stroke-width="4"/>',
        ),
    ),
)
