"""Facts about an SVG in an answer: is it one, does it hold what was asked for, could it be shown safely.

It is parsed without entities, DTD and network (defusedxml), and nothing in it is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from exercises.records import Check, Fact

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LARGEST_SVG = 1_000_000
DEEPEST_SVG = 200

_ACTIVE_ELEMENTS = frozenset({"script", "foreignObject", "iframe", "object", "embed", "handler", "listener"})
_MOVING_ELEMENTS = frozenset({"animate", "animateTransform", "animateMotion"})
_INLINE_PICTURES = tuple(f"data:image/{kind}" for kind in ("png", "jpeg", "jpg", "gif", "webp"))
"""Not svg+xml: an SVG within the SVG would be drawn without having been looked into."""

_REFERENCES = frozenset({"href", "src", "data", "base"})
_CSS_URL = re.compile(r"url\(\s*['\"]?\s*([^'\")\s]*)", re.IGNORECASE)
_CSS_IMPORT = re.compile(r"@import", re.IGNORECASE)
_CSS_ANIMATION = re.compile(r"(?<![\w-])animation(?:-name)?\s*:([^;}]*)")
_KEYFRAMES = re.compile(r"@(?:-\w+-)?keyframes\s+([\w-]+)\s*\{")
_BRACE = re.compile(r"[{}]")
_HIDDEN = re.compile(r"(?<![\w-])(?:display\s*:\s*none|visibility\s*:\s*hidden)")
_TAG = re.compile(r"(?P<start><(?:[A-Za-z_][\w.-]*:)?svg(?=[\s>/]))|(?P<end></(?:[A-Za-z_][\w.-]*:)?svg\s*>)|/?>")


@dataclass(frozen=True, slots=True)
class SvgWanted:
    """What a task asks for, beyond an SVG that parses and is safe to show.

    elements: names of elements that must occur. fill: a colour that something is filled with. text: labels that must
    be readable in it, upper and lower case alike. min_labels: that many texts at least. moving: something moves.
    """

    elements: tuple[str, ...] = ()
    fill: str | None = None
    text: tuple[str, ...] = ()
    min_labels: int = 0
    moving: bool = False


def extract_svg(answer: str) -> str | None:
    """The SVG in an answer, without the prose or code fence around it; of several whole ones the longest. None where
    it has none.

    An SVG that was cut off comes back as far as it goes.
    """
    whole, left_open = _svg_places(answer)
    if left_open is not None and (not whole or _has_attributes(answer, left_open)):
        last = max((end for start, end in whole if start > left_open), default=len(answer))
        return answer[left_open:last].strip()
    if not whole:
        return None
    start, end = max(whole, key=lambda place: place[1] - place[0])
    return answer[start:end]


def _svg_places(answer: str) -> tuple[list[tuple[int, int]], int | None]:
    """Where outermost SVGs stand that are closed, and where the first begins that nothing closes."""
    whole: list[tuple[int, int]] = []
    opened: list[int] = []
    begun: int | None = None
    for tag in _TAG.finditer(answer):
        if tag["start"]:
            begun = tag.start()
            opened.append(begun)
        elif tag["end"]:
            begun = None
            if opened:
                start = opened.pop()
                while whole and whole[-1][0] > start:
                    whole.pop()
                whole.append((start, tag.end()))
        elif begun is not None:
            # The > that ends the tag just begun.
            if tag[0] == "/>" and opened:
                start = opened.pop()
                if not opened:
                    whole.append((start, tag.end()))
            begun = None
    return whole, opened[0] if opened else None


def _has_attributes(answer: str, start: int) -> bool:
    """A bare <svg> may be a word about SVG; one with attributes is an SVG."""
    return "=" in answer[start : start + 200].partition(">")[0]


def svg_labels(answer: str) -> list[str]:
    """The texts of the SVG in an answer, in their order; none where there is no SVG that can be read."""
    source = extract_svg(answer)
    root = None if source is None else _parse(source)[0]
    return [] if root is None else _labels(root)


def check_svg(answer: str, wanted: SvgWanted) -> Check:
    """Never raises, whatever the answer is."""
    source = extract_svg(answer)
    if source is None:
        return _check([Fact("is an SVG", False, "the answer has no <svg>")])
    root, fault = _parse(source)
    if root is None:
        return _check([Fact("is an SVG", True), Fact("parses as XML", False, fault)])
    facts = [Fact("is an SVG", True), Fact("parses as XML", True)]
    facts += [_without_scripts(root), _without_outside_references(root, source)]
    names = [_local(element.tag) for element in root.iter()]
    facts += [Fact(f"has <{name}>", name in names) for name in wanted.elements]
    if wanted.fill is not None:
        facts.append(_filled(root, wanted.fill))
    labels = _labels(root)
    facts += [_labelled(labels, text) for text in wanted.text]
    if wanted.min_labels:
        shown = ", ".join(labels[:6]) or "none"
        facts.append(Fact(f"has {wanted.min_labels} labels or more", len(labels) >= wanted.min_labels, shown))
    if wanted.moving:
        facts.append(_moves(root))
    return _check(facts)


def _check(facts: list[Fact]) -> Check:
    return Check(all(fact.passed for fact in facts), tuple(facts))


def _parse(source: str) -> tuple[Element | None, str]:
    if len(source) > LARGEST_SVG:
        return None, f"it is longer than {LARGEST_SVG:,} characters"
    if "\x00" in source:
        return None, "it holds a zero byte"
    try:
        root: Element = fromstring(
            source.encode("utf-8", errors="replace"), forbid_dtd=True, forbid_entities=True, forbid_external=True
        )
    except DefusedXmlException as refusal:
        return None, f"it declares what is not allowed here ({type(refusal).__name__})"
    except Exception as fault:
        # Expat's ParseError, and what its decoder and tree builder raise on wild input.
        return None, str(fault) or type(fault).__name__
    if _local(root.tag) != "svg":
        return None, f"its outermost element is <{_local(root.tag)}>"
    if _depth(root) > DEEPEST_SVG:
        return None, f"its elements are nested deeper than {DEEPEST_SVG}"
    return root, ""


def _depth(root: Element) -> int:
    depth, level = 0, [root]
    while level and depth <= DEEPEST_SVG:
        depth += 1
        level = [child for element in level for child in element]
    return depth


def _local(tag: object) -> str:
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _without_scripts(root: Element) -> Fact:
    for element in root.iter():
        name = _local(element.tag)
        if name in _ACTIVE_ELEMENTS:
            return Fact("has no scripts", False, f"<{name}>")
        for attribute, value in element.attrib.items():
            plain = _local(attribute)
            if plain.lower().startswith("on"):
                return Fact("has no scripts", False, f"{plain} on <{name}>")
            if "".join(value.split()).lower().startswith(("javascript:", "vbscript:")):
                return Fact("has no scripts", False, f"a script in {plain} of <{name}>")
    return Fact("has no scripts", True)


def _without_outside_references(root: Element, source: str) -> Fact:
    outside = "<?" in source
    where = "a processing instruction"
    for element in root.iter():
        name = _local(element.tag)
        style = (element.text or "") if name == "style" else ""
        for attribute, value in element.attrib.items():
            plain = _local(attribute)
            if plain in _REFERENCES and not _is_inside(value):
                outside, where = True, f"{plain} of <{name}>"
            style += f" {value}"
        if _local(element.get("attributeName", "").replace(":", "}")) in _REFERENCES:
            targets = [element.get(key, "").split(";") for key in ("values", "to", "from", "by")]
            if not all(_is_inside(target) for some in targets for target in some):
                outside, where = True, f"an animated reference of <{name}>"
        if any(not _is_inside(target) for target in _CSS_URL.findall(style)):
            outside, where = True, f"url() in <{name}>"
        if name == "style" and _CSS_IMPORT.search(style):
            outside, where = True, "@import in <style>"
    return Fact("refers to nothing outside", not outside, where if outside else "")


def _is_inside(target: str) -> bool:
    target = target.strip()
    return not target or target.startswith("#") or target.lower().startswith(_INLINE_PICTURES)


def _filled(root: Element, fill: str) -> Fact:
    found: set[str] = set()
    for element in root.iter():
        found.add(element.get("fill", ""))
        style = element.get("style", "") + ((element.text or "") if _local(element.tag) == "style" else "")
        found.update(re.findall(r"(?<![\w-])fill\s*:\s*([^;}]+)", style))
    plain = {colour.strip().lower() for colour in found} - {"", "none"}
    return Fact(f"is filled with {fill}", fill.lower() in plain, ", ".join(sorted(plain)[:6]) or "no fill at all")


def _labels(root: Element) -> list[str]:
    texts = [" ".join(" ".join(e.itertext()).split()) for e in _shown(root) if _local(e.tag) == "text"]
    return [text for text in texts if text]


def _shown(root: Element) -> Iterator[Element]:
    """The elements in their order, without those that are hidden."""
    left = [root]
    while left:
        element = left.pop()
        if element.get("display") == "none" or element.get("visibility") == "hidden":
            continue
        if not _HIDDEN.search(element.get("style", "")):
            yield element
            left += reversed(element)


def _labelled(labels: list[str], wanted: str) -> Fact:
    found = any(wanted.casefold() in label.casefold() for label in labels)
    return Fact(f'is labelled "{wanted}"', found, "" if found else ", ".join(labels[:6]) or "no labels")


def _moves(root: Element) -> Fact:
    still = "no animation in it"
    for element in root.iter():
        name = _local(element.tag)
        if name in _MOVING_ELEMENTS:
            wrong = _why_still(element, name)
            if not wrong:
                return Fact("moves", True, f"<{name}>")
            still = f"<{name}> {wrong}"
    css = " ".join((e.text or "") for e in root.iter() if _local(e.tag) == "style")
    styles = " ".join([css, *(e.get("style", "") for e in root.iter())])
    names = {name for value in _CSS_ANIMATION.findall(styles) for name in re.findall(r"[\w-]+", value)}
    if names & _keyframes(css):
        return Fact("moves", True, "CSS animation")
    return Fact("moves", False, "its @keyframes are used by nothing, or hold nothing" if "@keyframes" in css else still)


def _why_still(element: Element, name: str) -> str:
    """Why an animation element changes nothing, "" where it does."""
    if not re.search(r"[1-9]", element.get("dur", "")):
        return "has no duration"
    values = [value.strip() for value in element.get("values", "").split(";") if value.strip()]
    ends = [value for key in ("from", "to", "by") if (value := element.get(key)) is not None]
    if len(set(values)) > 1 or (not values and ends[-1:] and len({*ends}) == len(ends)):
        return ""
    if name == "animateMotion" and (element.get("path") or any(_local(child.tag) == "mpath" for child in element)):
        return ""
    return "goes nowhere"


def _keyframes(css: str) -> set[str]:
    """The names of those @keyframes that declare something."""
    names = set()
    for found in _KEYFRAMES.finditer(css):
        depth, at = 1, found.end()
        while depth and (brace := _BRACE.search(css, at)) is not None:
            if ":" in css[at : brace.start()]:
                names.add(found[1])
            depth += 1 if brace[0] == "{" else -1
            at = brace.end()
    return names
