"""Facts about an SVG in an answer: is it one, does it hold what was asked for, could it be shown safely.

It is parsed without entities, DTD and network (defusedxml), and nothing in it is run.
"""

from __future__ import annotations

import re
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
_CSS_MOVES = re.compile(r"animation(?:-name)?\s*:")
_START = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?svg[\s>/]")
_END = re.compile(r"</(?:[A-Za-z_][\w.-]*:)?svg\s*>")


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
    """The SVG in an answer, without the prose or code fence around it; None where it has none.

    An SVG that was cut off comes back as far as it goes.
    """
    start = _START.search(answer)
    if start is None:
        return None
    ends = list(_END.finditer(answer, start.start()))
    return answer[start.start() : ends[-1].end()] if ends else answer[start.start() :].strip()


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
    texts = [" ".join(" ".join(e.itertext()).split()) for e in root.iter() if _local(e.tag) == "text"]
    return [text for text in texts if text]


def _labelled(labels: list[str], wanted: str) -> Fact:
    found = any(wanted.casefold() in label.casefold() for label in labels)
    return Fact(f'is labelled "{wanted}"', found, "" if found else ", ".join(labels[:6]) or "no labels")


def _moves(root: Element) -> Fact:
    for element in root.iter():
        name = _local(element.tag)
        if name in _MOVING_ELEMENTS and any(
            element.get(key) for key in ("values", "to", "by", "path") if element.get(key) is not None
        ):
            return Fact("moves", True, f"<{name}>")
        if name == "animateMotion" and any(_local(child.tag) == "mpath" for child in element):
            return Fact("moves", True, "<animateMotion>")
    css = " ".join((e.text or "") for e in root.iter() if _local(e.tag) == "style")
    styles = css + " ".join(e.get("style", "") for e in root.iter())
    if "@keyframes" in css and _CSS_MOVES.search(styles):
        return Fact("moves", True, "CSS animation")
    return Fact("moves", False, "no animation in it")
