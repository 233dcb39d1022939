"""Facts about structured text in an answer: a JSON value, or a Markdown table."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from exercises.checkers.fences import fenced_blocks
from exercises.records import Check, Fact

LONGEST = 200_000

_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?|\|\s*:?-+:?\s*\|")


@dataclass(frozen=True, slots=True)
class StructuredWanted:
    """keys: of each JSON object, or columns of the table, upper and lower case alike. rows: entries that it has."""

    form: Literal["json", "table"]
    keys: tuple[str, ...] = ()
    rows: int = 0


def check_structured(answer: str, wanted: StructuredWanted) -> Check:
    """Never raises, whatever the answer is."""
    facts = _json_facts(answer, wanted) if wanted.form == "json" else _table_facts(answer, wanted)
    return Check(all(fact.passed for fact in facts), tuple(facts))


def _json_facts(answer: str, wanted: StructuredWanted) -> list[Fact]:
    value, fault = _json_in(answer)
    if fault:
        return [Fact("is JSON", False, fault)]
    entries = value if isinstance(value, list) else [value]
    facts = [Fact("is JSON", True)]
    if wanted.rows:
        facts.append(Fact(f"has {wanted.rows} entries", len(entries) == wanted.rows, f"{len(entries)} entries"))
    for key in wanted.keys:
        having = sum(isinstance(entry, dict) and key.casefold() in map(str.casefold, entry) for entry in entries)
        detail = f"{having} of {len(entries)} entries have it"
        facts.append(Fact(f"has the key {key!r}", bool(entries) and having == len(entries), detail))
    return facts


def _json_in(answer: str) -> tuple[Any, str]:
    """The JSON value of an answer: a fenced block, the whole text, or what begins at its first bracket."""
    if len(answer) > LONGEST:
        return None, f"the answer is longer than {LONGEST:,} characters"
    start = min((at for at in (answer.find("{"), answer.find("[")) if at >= 0), default=-1)
    candidates = [*fenced_blocks(answer), answer, answer[start:] if start >= 0 else ""]
    fault = "no JSON in it"
    for candidate in candidates:
        text = candidate.strip()
        if text[:1] not in ("{", "["):
            continue
        try:
            return json.JSONDecoder().raw_decode(text)[0], ""
        except (ValueError, RecursionError) as problem:
            fault = str(problem)
    return None, fault


def _table_facts(answer: str, wanted: StructuredWanted) -> list[Fact]:
    lines = [line.strip() for line in answer[:LONGEST].splitlines()]
    rule = next((at for at, line in enumerate(lines) if at and _RULE.fullmatch(line) and "|" in lines[at - 1]), None)
    if rule is None:
        return [Fact("is a table", False, "no header with a rule of dashes below it")]
    columns = _cells(lines[rule - 1])
    rows = []
    for line in lines[rule + 1 :]:
        if "|" not in line:
            break
        rows.append(_cells(line))
    even = all(len(row) == len(columns) for row in rows)
    facts = [
        Fact("is a table", True, ", ".join(columns)),
        Fact("every row has every column", even and bool(rows), f"{len(columns)} columns, {len(rows)} rows"),
    ]
    if wanted.rows:
        facts.append(Fact(f"has {wanted.rows} rows", len(rows) == wanted.rows, f"{len(rows)} rows"))
    known = [column.strip("*_` ").casefold() for column in columns]
    facts += [Fact(f"has the column {key!r}", key.casefold() in known) for key in wanted.keys]
    return facts


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
