"""Pieces of Markdown in which other people's text stays text: no markup, no HTML, no control characters of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from markdown_it import MarkdownIt

from labtui.terminal_text import visible, visible_line

_COMMONMARK = MarkdownIt("commonmark")
_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])")
_BLOCK_START = re.compile(r"^(?P<number>\d{0,9})(?P<sign>>|(?:#{1,6}|[+\-.)])(?=\s|$)|[=\-](?=[=\-]*$))")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_ACTIVE_ADDRESS = re.compile(r"(?P<before>\]\(\s*<?|<|\]:\s*<?)(?P<scheme>javascript|vbscript|data)\s*:", re.IGNORECASE)


def plain(text: str) -> str:
    """The text on one line, looking the same in the rendered document, whatever is in it."""
    line = " ".join(visible_line(text).split())
    line = _ENTITY.sub("&amp;", line).replace("<", "&lt;")
    line = _MARKUP.sub(lambda found: "\\" + found.group(), line)
    return _BLOCK_START.sub(lambda found: f"{found['number']}\\{found['sign']}", line)


def code(text: str) -> str:
    """A code span; its backticks are more than any in the text."""
    line = " ".join(visible_line(text).split())
    if not line:
        return ""
    ticks = "`" * (_longest_run(line) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """A code block; its fence is longer than any run of backticks in the text."""
    body = visible(text)
    fence = "`" * max(3, _longest_run(body) + 1)
    return f"{fence}{language}\n{body}{'' if body.endswith(chr(10)) or not body else chr(10)}{fence}"


def without_html(markdown: str) -> str:
    """Markdown of others with its markup kept and its HTML and active links made visible text."""
    text = _ACTIVE_ADDRESS.sub(lambda found: f"{found['before']}{found['scheme']}&#58;", visible(markdown).strip())
    return text.replace("<", "&lt;") if _has_html(text) else text


def quoted(markdown: str) -> str:
    """A block quotation: whatever is opened in it ends with it."""
    return "\n".join(f"> {line}".rstrip() for line in without_html(markdown).splitlines())


def item(markdown: str) -> str:
    """A list item of one or more paragraphs."""
    first, *rest = markdown.splitlines() or [""]
    return "\n".join([f"- {first}".rstrip(), *(f"  {line}".rstrip() for line in rest)])


def cell(markdown: str) -> str:
    """A table cell of others' Markdown on one line. Even in code, < is written out: tables end code spans early."""
    return " ".join(without_html(markdown).split()).replace("<", "&lt;").replace("|", "\\|")


def own_cell(markdown: str) -> str:
    """A table cell of Markdown made by plain, code or link."""
    return re.sub(r"(?<!\\)\|", r"\\|", markdown)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def link(text: str, url: str | None) -> str:
    """A link to a web address; just the text where there is none, or one of another kind."""
    if url is None or not re.fullmatch(r"https?://[^\s<>]+", url):
        return plain(text)
    return f"[{plain(text)}](<{visible_line(url)}>)"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _has_html(markdown: str) -> bool:
    return any(
        token.type == "html_block" or any(child.type == "html_inline" for child in token.children or ())
        for token in _COMMONMARK.parse(markdown)
    )
