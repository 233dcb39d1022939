"""Your number beside the claims that mean the same, and why the others do not: rows of text for any screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from exercises.speed import LABELS
from exercises.trial import Trial
from labtui.claims import OURS, Apart, Beside, ClaimsBeside, claims_beside_run, claims_beside_trial, format_value
from labtui.result_text import Measured, Row, Section
from lessons.claims import DEFINITIONS, Claim

NAMED = 6
"""Claims of one reason that are named; the others are counted, and stand in `labtui show RUN --json`."""


def claim_sections(measured: Measured, claims: Sequence[Claim]) -> tuple[Section, ...]:
    """What is practice stands beside no claim: then one row says so, and what would be comparable."""
    result = beside(measured, claims)
    if result.reason is not None:
        comparable = f". Comparable would be {result.comparable}" if result.comparable else ""
        row = Row("claims", "public claims", f"none stands beside this: {result.reason}{comparable}")
        return (Section("PUBLIC CLAIMS", (row,)),)
    said = list(_beside_sections(result.beside))
    if not said:
        row = Row("claims", "public claims", "none has the definition of a value that could be measured here")
        said.append(Section("PUBLIC CLAIMS", (row,)))
    return (*said, *_apart_section([one for one in result.apart if one.claim.definition != "quality"]))


def beside(measured: Measured, claims: Sequence[Claim]) -> ClaimsBeside:
    if not measured.over_trial:
        return claims_beside_run(measured.run, claims)
    trial = Trial(measured.run.trial or "", measured.trial, measured.summary, len(measured.measured))
    return claims_beside_trial(trial, claims)


def _beside_sections(found: Sequence[Beside]) -> Iterator[Section]:
    """One section for each definition; those with the fewest differences from your run come first."""
    for definition, key in OURS.items():
        same = sorted(
            (one for one in found if one.claim.definition == definition), key=lambda one: len(one.differences)
        )
        if same:
            yours = format_value(same[0].claim, same[0].yours)
            count = f", median of {same[0].runs}" if same[0].runs > 1 else ""
            yield Section(f"CLAIMS OF {LABELS[key].upper()}, YOURS {yours}{count}", tuple(map(_beside_row, same)))


def _beside_row(one: Beside) -> Row:
    claim = one.claim
    hand = ", second hand" if claim.source.second_hand else ""
    where = claim.hardware or "hardware not stated"
    precision = claim.precision or "precision not stated"
    return Row(
        f"claim/{claim.id}",
        claim.text,
        f"yours is {_factor(one.ratio)} of it · {precision}, {where} · {claim.source.title}{hand}",
        DEFINITIONS[claim.definition],
        (f"not the same: {'; '.join(one.differences)}", *([claim.note] if claim.note else [])),
    )


def _factor(ratio: float) -> str:
    return f"× {ratio:.2f}"


def _apart_section(apart: Sequence[Apart]) -> Iterator[Section]:
    reasons: dict[str, list[Apart]] = {}
    for one in apart:
        reasons.setdefault(one.reason, []).append(one)
    rows = []
    for number, (reason, same) in enumerate(sorted(reasons.items(), key=lambda item: -len(item[1]))):
        named = "; ".join(f"{one.claim.text} ({one.claim.source.title})" for one in same[:NAMED])
        left = f"; and {len(same) - NAMED} more" if len(same) > NAMED else ""
        definitions = dict.fromkeys(DEFINITIONS[one.claim.definition] for one in same)
        label = same[0].claim.text if len(same) == 1 else f"{len(same)} claims"
        rows.append(Row(f"apart/{number}", label, reason, " ".join(definitions), (f"{named}{left}",)))
    if rows:
        yield Section(f"NOT BESIDE IT: {len(apart)} CLAIMS THAT MEAN SOMETHING ELSE", tuple(rows))
