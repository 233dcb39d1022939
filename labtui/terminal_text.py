"""Text of others (model output, server logs, files) made safe to print: nothing in it can steer the terminal."""

from __future__ import annotations

import json
import re
from typing import Any

_BIDI_CONTROLS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_LINE_AND_PARAGRAPH_SEPARATORS = "\u2028\u2029"
_TAG_CHARACTERS = "\U000e0000-\U000e007f"
_SURROGATES = "\ud800-\udfff"

_STEERING = re.compile(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI_CONTROLS}{_LINE_AND_PARAGRAPH_SEPARATORS}{_TAG_CHARACTERS}{_SURROGATES}]"
)


def _symbol(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return f"‹U+{code:04X}›"


def visible(text: str) -> str:
    """The same text with every control character but newline and tab replaced by a symbol that a person sees."""
    return _STEERING.sub(_symbol, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """As `visible`, on one line: line breaks become ␊ and tabs a space."""
    return visible(text).replace("\n", "␊").replace("\t", " ")


def _json_escape(match: re.Match[str]) -> str:
    return "".join(f"\\u{ord(unit):04x}" for unit in _utf16_units(match.group()))


def _utf16_units(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return character
    code -= 0x10000
    return chr(0xD800 + (code >> 10)) + chr(0xDC00 + (code & 0x3FF))


def _toml_escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def steering_escaped_in_toml(written: str) -> str:
    """TOML as tomli_w writes it, with what could steer a terminal as escapes; half characters become U+FFFD."""
    return _STEERING.sub(_toml_escape, written)


def json_text(data: Any) -> str:
    """JSON that reads back to exactly `data`, in which nothing can steer a terminal. Raises ValueError on NaN."""
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2)
    return _STEERING.sub(_json_escape, written)
