"""Page text as Markdown that shows just these characters: a page is plain text, a lesson's texts are Markdown."""

from __future__ import annotations

import re

MARKUP = re.compile(
    r"[\\`*]|~(?=~)|(?<=~)~|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|!?\[(?=[^\]]{0,999}\][(\[])"
)
BLOCK_START = re.compile(
    r"^(?:(?P<sign>#{1,6}(?=\s|$)|[+\-](?=\s|$)|>|[=\-](?=[=\-\s]*$))|(?P<number>\d{1,9})(?P<dot>[.)])(?=\s|$))"
)


def as_markdown(text: str) -> str:
    """text: one line of plain text."""
    escaped = MARKUP.sub(lambda found: "\\" + found.group(), text)
    return BLOCK_START.sub(
        lambda found: "\\" + found["sign"] if found["sign"] else f"{found['number']}\\{found['dot']}", escaped
    )
