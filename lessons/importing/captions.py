"""Captions of a source, WebVTT or SRT, as words with their seconds."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import webvtt
from webvtt.errors import MalformedCaptionError, MalformedFileError

from lessons.errors import LessonError
from lessons.messages import printable
from lessons.words import words_of

TIMING = re.compile(r"^\s*(?:\d+:)?\d{1,2}:\d{1,2}[.,]\d+\s*-->", re.MULTILINE)
TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")

ROLLING_WORDS = 60
"""How much of a cue may be repeated by the next one; a line of captions is much shorter."""


@dataclass(frozen=True, slots=True)
class Word:
    """text: in the form in which words are compared. start_s, end_s: of the cue it is said in."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Captions:
    """words: each one once, though rolling captions repeat a line until it has scrolled away."""

    cues: int
    words: tuple[Word, ...]


def read_captions(text: str, name: str) -> Captions:
    """text with line ends "\\n". Raises LessonError (exit 2) for what is neither WebVTT nor SRT, or has no cue."""
    body = text.lstrip("\ufeff \n\t")
    is_vtt = body.startswith("WEBVTT")
    if not is_vtt and not TIMING.search(body):
        raise LessonError(
            "These are no captions",
            f"{printable(name)} is neither WebVTT nor SRT: no line has a time, an arrow --> and a time",
            "Give a .vtt or .srt file.",
        )
    try:
        captions = webvtt.from_string(body) if is_vtt else webvtt.from_buffer(io.StringIO(_numbered(body)), "srt")
    except (MalformedFileError, MalformedCaptionError, ValueError, AssertionError, IndexError) as error:
        raise LessonError(
            "These captions cannot be read", f"{printable(name)}: {printable(str(error)) or 'malformed'}", "Mend them."
        ) from None
    cues = [
        (float(caption.start_in_seconds) + _milliseconds(caption.start), float(caption.end_in_seconds), caption.text)
        for caption in captions.captions
    ]
    found = tuple(_words(sorted(cues)))
    if not found:
        raise LessonError(
            "These captions say nothing", f"{printable(name)} has no cue with words in it", "Give the whole file."
        )
    return Captions(len(cues), found)


def _words(cues: Sequence[tuple[float, float, str]]) -> Iterator[Word]:
    before: list[str] = []
    for start, end, text in cues:
        words = words_of(TAG.sub("", text))
        repeated = next(
            (
                length
                for length in range(min(len(before), len(words), ROLLING_WORDS), 0, -1)
                if before[-length:] == words[:length]
            ),
            0,
        )
        # One word alone at the seam is more often said twice than shown twice.
        new = words[repeated:] if repeated > 1 or len(before) == repeated == len(words) else words
        yield from (Word(word, start, max(start, end)) for word in new)
        before = words


def _milliseconds(stamp: str) -> float:
    _, _, fraction = stamp.replace(",", ".").rpartition(".")
    return int(fraction[:3].ljust(3, "0")) / 1000 if fraction[:3].isdigit() else 0.0


def _numbered(text: str) -> str:
    """SRT whose first cue has lost its number is still SRT."""
    return text if text.split("\n", 1)[0].strip().isdigit() else f"1\n{text}"
