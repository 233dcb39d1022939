"""Facts about a Python function in an answer: does it load, and does it give the right results."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from exercises.checkers.fences import fenced_blocks
from exercises.checkers.limited_child import ChildReport, Limits, run_limited
from exercises.records import Check, Fact

LONGEST_CODE = 100_000

_FIRST_LINE_OF_CODE = re.compile(r"^(?:def|async def|class|import|from|@)\b|^@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """args and result are plain values as TOML and JSON have them; a list stands for a tuple too."""

    args: tuple[Any, ...]
    result: Any


@dataclass(frozen=True, slots=True)
class FunctionWanted:
    function: str
    cases: tuple[Case, ...]


def extract_code(answer: str, function: str) -> str | None:
    """The Python code in an answer: the fenced block that defines the function, else the first fenced block, else
    everything from the first line that is code; None where nothing looks like code."""
    blocks = fenced_blocks(answer)
    defines = re.compile(rf"^[ \t]*(?:async )?def {re.escape(function)}\b|^{re.escape(function)}\s*=", re.MULTILINE)
    for block in blocks:
        if defines.search(block):
            return block
    if blocks:
        return blocks[0]
    start = _FIRST_LINE_OF_CODE.search(answer)
    return answer[start.start() :] if start else None


def check_python_function(
    answer: str, wanted: FunctionWanted, *, run_code: bool = True, limits: Limits | None = None
) -> Check:
    """Never raises, whatever the answer is.

    The code is run in a limited child process (limited_child.py), and only where run_code allows it.
    """
    code = extract_code(answer, wanted.function)
    if code is None:
        return _check([Fact("has Python code", False)])
    if len(code) > LONGEST_CODE:
        return _check([Fact("has Python code", False, f"it is longer than {LONGEST_CODE:,} characters")])
    facts = [Fact("has Python code", True)]
    if not run_code:
        return _check([*facts, Fact("passes its tests", False, "not run: you did not allow it")])
    try:
        report = run_limited(code, wanted.function, [case.args for case in wanted.cases], limits)
    except OSError as fault:
        return _check([*facts, Fact("passes its tests", False, f"no child process could be started: {fault}")])
    return _check(facts + _facts(report, wanted))


def _check(facts: list[Fact]) -> Check:
    return Check(all(fact.passed for fact in facts), tuple(facts))


def _facts(report: ChildReport, wanted: FunctionWanted) -> list[Fact]:
    told = {step["step"]: step for step in report.steps if step["step"] != "call"}
    facts = []
    for step, name in (
        ("compiles", "is Python"),
        ("loads", "loads without an error"),
        ("defines", f"defines {wanted.function}"),
    ):
        result = told.get(step)
        if result is None:
            facts.append(Fact(name, False, report.stopped or "the child process said nothing about it"))
            return facts
        facts.append(Fact(name, bool(result.get("ok")), str(result.get("detail", ""))))
        if not result.get("ok"):
            return facts
    results = {step.get("number"): step for step in report.steps if step["step"] == "call"}
    for number, case in enumerate(wanted.cases):
        facts.append(_case_fact(wanted.function, case, results.get(number), report.stopped))
    return facts


def _case_fact(function: str, case: Case, result: dict[str, Any] | None, stopped: str | None) -> Fact:
    name = f"{function}({', '.join(map(_short, case.args))}) is {_short(case.result)}"
    if result is None:
        return Fact(name, False, stopped or "no result")
    if not result.get("ok"):
        return Fact(name, False, str(result.get("detail", "")))
    value = result.get("value")
    return Fact(name, same(value, case.result), "" if same(value, case.result) else f"gives {_short(value)}")


def same(value: Any, wanted: Any) -> bool:
    """Equal, where 1 is not True, and where a float may differ by rounding (relative 1e-9)."""
    if isinstance(wanted, bool) or isinstance(value, bool):
        return value is wanted
    if isinstance(wanted, float) and isinstance(value, int | float):
        try:
            return math.isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-12)
        except OverflowError:
            return False
    if isinstance(wanted, list) and isinstance(value, list):
        return len(value) == len(wanted) and all(map(same, value, wanted))
    if isinstance(wanted, dict) and isinstance(value, dict):
        return value.keys() == wanted.keys() and all(same(value[key], wanted[key]) for key in wanted)
    return type(value) is type(wanted) and bool(value == wanted)


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "a very large value"
    return text if len(text) <= 60 else text[:57] + "..."
