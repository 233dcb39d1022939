"""Facts about Python code in an answer that is read and not run."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass

from exercises.checkers.python_function import LONGEST_CODE, extract_code
from exercises.records import Check, Fact


@dataclass(frozen=True, slots=True)
class SourceWanted:
    function: str


def check_python_source(answer: str, wanted: SourceWanted) -> Check:
    """Never raises, whatever the answer is."""
    code = extract_code(answer, wanted.function)
    facts = [Fact("has Python code", code is not None)]
    if code is not None and len(code) > LONGEST_CODE:
        facts.append(Fact("is Python", False, f"it is longer than {LONGEST_CODE:,} characters"))
    elif code is not None:
        tree, fault = _parsed(code)
        facts.append(Fact("is Python", tree is not None, fault))
        if tree is not None:
            names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
            facts.append(Fact(f"defines {wanted.function}", wanted.function in names, ", ".join(sorted(names))))
    return Check(all(fact.passed for fact in facts), tuple(facts))


def _parsed(code: str) -> tuple[ast.Module | None, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code), ""
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        return None, str(fault) or type(fault).__name__
