"""Facts about an HTML page in an answer: is it one, does it have tabs with their panels, does it need anything outside.

It is only read, by the parser of the standard library: nothing in it is run or fetched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from exercises.records import Check, Fact

LARGEST_PAGE = 1_000_000
DEEPEST = 300

_START = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_END = re.compile(r"</html\s*>", re.IGNORECASE)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_MAY_STAY_OPEN = frozenset(
    {
        *("html", "head", "body", "p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th"),
        *("thead", "tbody", "tfoot", "colgroup", "caption", "rp", "rt"),
    }
)
_REFERENCES = frozenset({"src", "href", "action", "formaction", "poster", "data", "srcset", "background", "ping"})
_OUTSIDE = re.compile(r"(?:^|[\s,])(?:https?:|ftp:|wss?:)?//", re.IGNORECASE)
_CSS_OUTSIDE = re.compile(r"url\([\s'\"]*(?:https?:)?//|@import", re.IGNORECASE)
_SCRIPT_OUTSIDE = re.compile(r"\b(?:fetch|import|XMLHttpRequest|WebSocket|EventSource|sendBeacon)\b", re.IGNORECASE)
_CSS_SWITCH = re.compile(r":(?:target|checked|focus|focus-within|hover|has)\b")
_TARGETS = ("aria-controls", "href", "data-target", "data-tab", "data-panel", "for", "onclick")
_TAB_ELEMENTS = frozenset({"button", "a", "label"})


@dataclass(frozen=True, slots=True)
class PageWanted:
    """tabs: how many there must be. labels: texts that stand on them, upper and lower case alike."""

    tabs: int = 0
    labels: tuple[str, ...] = ()


@dataclass
class _Element:
    """words: of the whole page; those from start to end are its own, or its children's."""

    name: str
    attributes: dict[str, str]
    words: list[str]
    start: int
    end: int | None = None

    @property
    def text(self) -> str:
        return " ".join("".join(self.words[self.start : self.end]).split())


class _Page(HTMLParser):
    """Every element with its text, and what is wrong with how they are nested."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[_Element] = []
        self.open: list[_Element] = []
        self.faults: list[str] = []
        self.words: list[str] = []
        self.styles: list[str] = []
        self.scripts: list[str] = []

    def read(self, source: str) -> None:
        """What follows the last > can open no element. HTMLParser would look for its end again from each <."""
        marked, closing, rest = source.rpartition(">")
        self.feed(marked + closing)
        self.close()
        self.handle_data(rest.partition("<")[0])
        left = [element.name for element in self.open if element.name not in _MAY_STAY_OPEN]
        self.faults += [f"<{name}> is not closed" for name in left]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = self._element(tag, attrs)
        if tag not in _VOID and len(self.open) < DEEPEST:
            self.open.append(element)
        else:
            element.end = element.start

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = self._element(tag, attrs)
        element.end = element.start

    def _element(self, tag: str, attrs: list[tuple[str, str | None]]) -> _Element:
        element = _Element(tag, {name: value or "" for name, value in attrs}, self.words, len(self.words))
        self.elements.append(element)
        return element

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        at = next((at for at in range(len(self.open) - 1, -1, -1) if self.open[at].name == tag), None)
        if at is None:
            self.faults.append(f"</{tag}> closes nothing")
            return
        unclosed = [element.name for element in self.open[at + 1 :] if element.name not in _MAY_STAY_OPEN]
        self.faults += [f"<{name}> is not closed" for name in unclosed]
        for element in self.open[at:]:
            element.end = len(self.words)
        del self.open[at:]

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1].name == "style":
            self.styles.append(data)
        elif self.open and self.open[-1].name == "script":
            self.scripts.append(data)
        else:
            self.words.append(data)


def extract_page(answer: str) -> str | None:
    """The page in an answer, without the prose or code fence around it; None where it has none."""
    start = _START.search(answer)
    if start is None:
        return None
    ends = list(_END.finditer(answer, start.start()))
    return answer[start.start() : ends[-1].end()] if ends else answer[start.start() :].split("```")[0]


def check_html_page(answer: str, wanted: PageWanted) -> Check:
    """Never raises, whatever the answer is."""
    source = extract_page(answer)
    if source is None:
        return _check([Fact("is an HTML page", False, "the answer has no <html>")])
    if len(source) > LARGEST_PAGE:
        return _check([Fact("is an HTML page", False, f"it is longer than {LARGEST_PAGE:,} characters")])
    page = _Page()
    try:
        page.read(source)
    except (AssertionError, ValueError, RecursionError) as fault:
        return _check([Fact("is an HTML page", True), Fact("parses", False, str(fault))])
    facts = [Fact("is an HTML page", True), Fact("parses", not page.faults, "; ".join(page.faults[:3]))]
    facts.append(_needs_nothing_outside(page))
    facts += _tab_facts(page, wanted)
    return _check(facts)


def _check(facts: list[Fact]) -> Check:
    return Check(all(fact.passed for fact in facts), tuple(facts))


def _needs_nothing_outside(page: _Page) -> Fact:
    found = [
        f"{element.name} {name}"
        for element in page.elements
        for name, value in element.attributes.items()
        if name in _REFERENCES and _OUTSIDE.search(value)
    ]
    found += ["a style" for style in page.styles if _CSS_OUTSIDE.search(style)]
    found += [
        "a style attribute" for element in page.elements if _CSS_OUTSIDE.search(element.attributes.get("style", ""))
    ]
    found += [
        f"a script ({match[0]})" for script in page.scripts if (match := _SCRIPT_OUTSIDE.search(script)) is not None
    ]
    return Fact("needs nothing from outside", not found, "; ".join(dict.fromkeys(found)))


def _tab_facts(page: _Page, wanted: PageWanted) -> list[Fact]:
    if not wanted.tabs:
        return []
    ids = {element.attributes["id"]: element for element in page.elements if element.attributes.get("id")}
    by_role = [element for element in page.elements if element.attributes.get("role") == "tab"]
    targeting = [
        element for element in page.elements if element.name in _TAB_ELEMENTS and _target(element, ids) is not None
    ]
    tabs: Sequence[_Element] = by_role or targeting
    panels = [element for element in page.elements if element.attributes.get("role") == "tabpanel"]
    if not panels:
        targets = dict.fromkeys(target for tab in tabs if (target := _target(tab, ids)) is not None)
        panels = _panels_of([ids[target] for target in targets], page)
    facts = [
        Fact(f"has {wanted.tabs} tabs", len(tabs) == wanted.tabs, f"{len(tabs)} tabs"),
        Fact("every tab has its panel", bool(tabs) and len(panels) == len(tabs), f"{len(panels)} panels"),
        Fact("every panel has text", bool(panels) and all(panel.text for panel in panels)),
        _switched(page),
    ]
    shown = [tab.text.casefold() for tab in tabs]
    return [
        *facts,
        *(Fact(f"has a tab {label!r}", any(label.casefold() in text for text in shown)) for label in wanted.labels),
    ]


def _switched(page: _Page) -> Fact:
    """Something is there that could show another panel. Whether it does, only a browser can tell."""
    if any(script.strip() for script in page.scripts):
        how = "a script"
    elif any(name.startswith("on") for element in page.elements for name in element.attributes):
        how = "a handler"
    elif any(_CSS_SWITCH.search(style) for style in page.styles):
        how = "CSS"
    else:
        radio = any(element.attributes.get("type", "").lower() == "radio" for element in page.elements)
        how = "radio buttons" if radio else ""
    return Fact("something switches the panels", bool(how), how)


def _panels_of(targets: list[_Element], page: _Page) -> list[_Element]:
    """What the tabs lead to. Labels lead to radio buttons, and the panels of those are the sections beside them."""
    if targets and all(target.name == "input" for target in targets):
        return [
            element
            for element in page.elements
            if element.name in ("section", "div", "article")
            and re.search(r"panel|content|tab-?body|pane\b", element.attributes.get("class", ""), re.IGNORECASE)
            and element.text
        ][-len(targets) :]
    return targets


def _target(element: _Element, ids: dict[str, _Element]) -> str | None:
    for name in _TARGETS:
        value = element.attributes.get(name, "")
        quoted: list[str] = re.findall(r"['\"]#?([\w-]+)['\"]", value)
        for candidate in (value.removeprefix("#"), *quoted):
            if candidate and candidate in ids and ids[candidate] is not element:
                return candidate
    return None
