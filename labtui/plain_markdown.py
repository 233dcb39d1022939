"""Markdown as plain text for a terminal: what a person reads, without the signs by which it is written."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from labtui.terminal_text import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

WIDTH = 78
BULLET = "- "
CODE_INDENT = "    "


def plain_text(markdown: str) -> str:
    """On one line."""
    return " ".join(" ".join(plain_lines(markdown, 10_000)).split())


def plain_lines(markdown: str, width: int = WIDTH) -> Iterator[str]:
    """Wrapped to width, an empty line between blocks; lists, tables and code keep their lines. Nothing in it steers
    the terminal, also not what was written as an entity."""
    from markdown_it.tree import SyntaxTreeNode

    tree = SyntaxTreeNode(_parser().parse(visible(markdown)))
    for line in _blocks(tree.children, width):
        yield visible(line).rstrip()


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _blocks(nodes: Sequence[SyntaxTreeNode], width: int, tight: bool = False) -> Iterator[str]:
    for index, node in enumerate(nodes):
        if index and not tight:
            yield ""
        yield from _block(node, width)


def _block(node: SyntaxTreeNode, width: int) -> Iterator[str]:
    match node.type:
        case "paragraph" | "heading":
            for line in _inline(node).split("\n"):
                yield from _wrapped(line, width)
        case "bullet_list" | "ordered_list":
            yield from _list(node, width)
        case "blockquote":
            yield from (f"> {line}".rstrip() for line in _blocks(node.children, width - 2))
        case "fence" | "code_block":
            yield from (CODE_INDENT + line for line in node.content.rstrip("\n").split("\n"))
        case "table":
            yield from _table(node)
        case "hr":
            yield "---"
        case _:
            yield from _wrapped(_inline(node) or node.content, width)


def _list(node: SyntaxTreeNode, width: int) -> Iterator[str]:
    """Entries stand close together where none has more than one paragraph."""
    loose = any(sum(child.type == "paragraph" for child in entry.children) > 1 for entry in node.children)
    first = int(node.attrs.get("start") or 1)
    for number, entry in enumerate(node.children, first):
        mark = BULLET if node.type == "bullet_list" else f"{number}. "
        if loose and number > first:
            yield ""
        lines = _blocks(entry.children, width - len(mark), tight=not loose)
        yield from (
            (mark if not index else " " * len(mark)) + line if line or not index else ""
            for index, line in enumerate(_or_empty(lines))
        )


def _or_empty(lines: Iterator[str]) -> list[str]:
    return list(lines) or [""]


def _table(node: SyntaxTreeNode) -> Iterator[str]:
    entries = [row for part in node.children for row in part.children]
    rows = [[_inline(cell).replace("\n", " ") for cell in row.children] for row in entries]
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(" ".join(line.split()), max(width, 20), break_long_words=False, break_on_hyphens=False) or [""]


def _inline(node: SyntaxTreeNode) -> str:
    """Lines that are written as such stand on lines of their own."""
    match node.type:
        case "text" | "code_inline":
            return node.content
        case "softbreak":
            return " "
        case "hardbreak":
            return "\n"
        case "image":
            return f"[picture: {node.content}]" if node.content else "[picture]"
        case "link":
            text, address = "".join(map(_inline, node.children)), str(node.attrs.get("href", ""))
            return text if address.removeprefix("mailto:") == text or not address else f"{text} ({address})"
    return "".join(map(_inline, node.children))
