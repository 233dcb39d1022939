"""The checkers by the names that task files use, and how their settings are read."""

from __future__ import annotations

from collections.abc import Callable

from exercises.checkers.choice import Choice, check_choice
from exercises.checkers.python_function import Case, FunctionWanted, check_python_function
from exercises.checkers.svg import SvgWanted, check_svg
from exercises.records import Check
from exercises.toml_table import TomlTable

Checker = Callable[[str], Check]

CHECKER_TYPES = ("svg", "python_function", "choice")


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
    if checker_type == "choice":
        return _choice(settings, truth)
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
