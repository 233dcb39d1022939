"""A run's or trial's number beside the public claims of the same definition, in words and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from labtui.terminal_text import visible_line

if TYPE_CHECKING:
    from labtui.claims import ClaimsBeside
    from labtui.cli.session import Session
    from lessons.claims import Claim


def known_claims(session: Session) -> tuple[Claim, ...]:
    """The claims of every lesson there is; a ledger that has faults is named on stderr and left out."""
    from labtui.claims import claims_and_faults
    from lessons.finding import lesson_shelf

    claims, faults = claims_and_faults(lesson_shelf(session.configuration.lessons).lessons)
    for fault in faults:
        session.say(f"{fault.title}: {fault.cause}")
    return claims


def claim_lines(result: ClaimsBeside) -> Iterator[str]:
    from labtui.claims import format_value
    from labtui.cli.run_text import columns

    if result.reason is not None:
        yield f"  public claims: none is set beside this, {visible_line(result.reason)}"
        if result.comparable:
            yield f"    comparable would be {visible_line(result.comparable)}"
        return
    if result.beside:
        yield "  public claims of the same definition"
    else:
        yield "  public claims: none has the definition of a value that could be measured here"
    rows = [
        (f"    {one.claim.text}", f"yours {format_value(one.claim, one.yours)}", f"× {one.ratio:.2f}", one.claim.id)
        for one in result.beside
    ]
    for line, one in zip(columns(rows), result.beside, strict=True):
        yield visible_line(line)
        hand = ", second hand" if one.claim.source.second_hand else ""
        yield f"      {visible_line(one.claim.source.title)}{hand}: {visible_line('; '.join(one.differences))}"
    speeds = [one for one in result.apart if one.claim.definition != "quality"]
    if speeds:
        yield f"  not beside it: {len(speeds)} other claims about speed (each with its reason: --json)"
    for reason, count in Counter(one.reason for one in speeds).most_common():
        yield f"    {count:>3}  {visible_line(reason)}"
