"""One thing that was looked at before a launch, or by the doctor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Where ok, title says what is there; cause may add a detail, fix is empty.

    blocking: the launch would fail. overridable: it is an estimate, and a person may know better.
    """

    id: str
    ok: bool
    title: str
    cause: str = ""
    fix: str = ""
    blocking: bool = False
    overridable: bool = False
