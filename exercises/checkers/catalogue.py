"""The checkers by the names that task files use, and how their settings are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

from exercises.checkers.choice import Choice, check_choice
from exercises.checkers.python_function import Case, FunctionWanted, check_python_function
from exercises.checkers.python_source import SourceWanted, check_python_source
from exercises.checkers.structured import StructuredWanted, check_structured
from exercises.checkers.svg import SvgWanted, check_svg
from exercises.checkers.text import TextWanted, check_text
from exercises.records import Check
from exercises.toml_table import TomlTable

Checker = Callable[[str], Check]

CHECKER_TYPES = ("svg", "python_function", "python_source", "choice", "text", "structured")


def runs_code(checker_type: str) -> bool:
    return checker_type == "python_function"


def read_checker(checker_type: str, settings: TomlTable, truth: bool | None, run_code: bool) -> Checker:
    """A function from an answer to its Check, which never raises.

    truth: what is right about a drawn picture, None where nothing is drawn. Raises ExerciseError (exit 2) where the
    settings are not those of this checker.
    """
    if checker_type == "svg":
        return _svg(settings)
    if checker_type == "python_function":
        return _python_function(settings, run_code)
    if checker_type == "python_source":
        return _python_source(settings)
    if checker_type == "choice":
        return _choice(settings, truth)
    if checker_type == "text":
        return _text(settings)
    if checker_type == "structured":
        return _structured(settings)
    raise settings.fault(f"there is no checker {checker_type!r}", f"one of {', '.join(CHECKER_TYPES)}")


def _svg(settings: TomlTable) -> Checker:
    wanted = SvgWanted(
        elements=settings.texts("elements", ()),
        fill=settings.text("fill", None),
        text=settings.texts("text", ()),
        min_labels=settings.whole("min_labels", 0, least=0),
        moving=settings.flag("moving", False),
    )
    settings.nothing_else()
    return lambda answer: check_svg(answer, wanted)


def _python_function(settings: TomlTable, run_code: bool) -> Checker:
    function = settings.text("function")
    if not function.isidentifier():
        raise settings.fault(f"function = {function!r} is no name of a function", "like is_prime")
    cases = []
    for case in settings.tables("cases"):
        cases.append(Case(tuple(case.values("args")), case.value("result")))
        case.nothing_else()
    settings.nothing_else()
    wanted = FunctionWanted(function, tuple(cases))
    return lambda answer: check_python_function(answer, wanted, run_code=run_code)


def _python_source(settings: TomlTable) -> Checker:
    wanted = SourceWanted(settings.text("function"))
    settings.nothing_else()
    return lambda answer: check_python_source(answer, wanted)


def _text(settings: TomlTable) -> Checker:
    number = settings.value("number", None)
    if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
        raise settings.fault(f"number must be a number, not {number!r}", "number = 42")
    wanted = TextWanted(
        contains=settings.texts("contains", ()),
        any_of=settings.texts("any_of", ()),
        min_words=settings.whole("min_words", 0, least=0),
        max_words=settings.whole("max_words", 0, least=0),
        number=None if number is None else float(number),
    )
    settings.nothing_else()
    return lambda answer: check_text(answer, wanted)


def _structured(settings: TomlTable) -> Checker:
    form = settings.text("form")
    if form not in ("json", "table"):
        raise settings.fault(f"form = {form!r}", '"json" or "table"')
    wanted = StructuredWanted(
        cast(Literal["json", "table"], form), settings.texts("keys", ()), settings.whole("rows", 0, least=0)
    )
    settings.nothing_else()
    return lambda answer: check_structured(answer, wanted)


def _choice(settings: TomlTable, truth: bool | None) -> Checker:
    when_true, when_false = settings.texts("when_true"), settings.texts("when_false")
    if not when_true or not when_false:
        raise settings.fault("a choice needs words for both answers", 'when_true = ["yes"] and when_false = ["no"]')
    answer = settings.flag("answer", None)
    settings.nothing_else()
    right = truth if answer is None else answer
    if right is None:
        raise settings.fault("nothing says which answer is right", "answer = true or false, or a drawing")
    choice = Choice(when_true, when_false, right)
    return lambda answer: check_choice(answer, choice)
