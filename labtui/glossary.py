"""Every label that stands on a screen of a measured speed, with the sentence that defines it, for the help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from exercises.speed import DEFINITIONS, LABELS, TRIAL_DEFINITIONS
from labtui.cli.run_text import CONDITIONS, SETTINGS
from labtui.result_text import OTHER_DEFINITIONS
from lessons import claims


def speed_glossary() -> str:
    """The values of a run and of a trial, a paragraph each."""
    return _paragraphs({LABELS[key]: text for key, text in DEFINITIONS.items()} | TRIAL_DEFINITIONS)


def result_glossary() -> str:
    """All of it: values, conditions, settings, and the definitions that a claim can have."""
    named = {f"a claim of {key.replace('_', ' ')}": text for key, text in claims.DEFINITIONS.items()}
    return "\n\n".join((speed_glossary(), _paragraphs({**CONDITIONS, **SETTINGS, **OTHER_DEFINITIONS, **named})))


def _paragraphs(entries: Mapping[str, str]) -> str:
    return "\n\n".join(_lines(entries))


def _lines(entries: Mapping[str, str]) -> Iterator[str]:
    for label, text in entries.items():
        yield f"{label}: {text}{'' if text.endswith('.') else '.'}"
