"""Pieces of HTML in which other people's text stays text: what is not Html is escaped, and Html is made here alone.

Nothing in a page runs, and nothing is fetched for it: no HTML of others, no pictures by address, links only to the web.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from labtui.terminal_text import visible

VOID = frozenset({"meta", "img", "br", "hr"})
_WEB = re.compile(r"https?://[^\s<>\"']+\Z")


class Html(str):
    """Markup that is safe as it stands."""

    __slots__ = ()


class _Renderer(RendererHTML):
    """Headings of a quoted text are no headings of the page, and links tell nobody where they were clicked."""

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return '<p class="heading">'

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</p>\n"

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<a href="{escape(str(tokens[idx].attrs.get("href", "")))}" rel="noreferrer">'


def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table").disable("image")
    reader.validateLink = is_web_address  # type: ignore[method-assign]
    return reader


def is_web_address(url: str) -> bool:
    return _WEB.match(url) is not None


_MARKDOWN = _markdown()


def prose(markdown: str) -> Html:
    """Markdown of others as HTML, without what could act in it."""
    return Html(_MARKDOWN.render(visible(markdown).strip()))


def prose_line(markdown: str) -> Html:
    """The same without a paragraph around it: for one line."""
    return Html(_MARKDOWN.renderInline(" ".join(visible(markdown).split())))


def element(name: str, /, *children: str | Html | Iterable[Html] | None, **attributes: str | None) -> Html:
    """Children that are not Html are escaped. A trailing _ of an attribute's name falls away; None leaves it out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: str | Html | Iterable[Html] | None) -> Html:
    return Html("".join(_child(child) for child in children))


def link(text: str, url: str | None) -> Html:
    """A link to a web address; just the text where there is none, or one of another kind."""
    if url is None or not is_web_address(url):
        return text_of(text)
    return element("a", text, href=url, rel="noreferrer")


def text_of(text: str) -> Html:
    """Plain text on one line."""
    return Html(escape(" ".join(visible(text).split())))


def verbatim(text: str) -> Html:
    """Text with its line breaks and blanks, such as the answer of a model."""
    return element("pre", Html(escape(visible(text))), dir="auto")


def day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def png(picture: bytes, alt: str) -> Html:
    return element("img", src=f"data:image/png;base64,{base64.b64encode(picture).decode('ascii')}", alt=alt)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]], kind: str) -> Html:
    """Each cell carries the name of its column, so that a narrow screen can show it beside the value."""
    head = element("tr", *(element("th", name, scope="col") for name in header))
    body = [
        element(
            "tr",
            *(element("td", element("div", cell), data_label=name) for name, cell in zip(header, row, strict=True)),
        )
        for row in rows
    ]
    return element("table", element("thead", head), element("tbody", *body), class_=kind)


def _child(child: Any) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return str(child)
    if isinstance(child, str):
        return escape(visible(child))
    return "".join(_child(one) for one in child)
