"""The checkers by the names that task files use, and how their settings are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, cast

from exercises.checkers.choice import Choice, check_choice
from exercises.checkers.html_page import PageWanted, check_html_page
from exercises.checkers.one_of import OneOf, check_one_of
from exercises.checkers.python_function import Case, FunctionWanted, check_python_function
from exercises.checkers.python_source import SourceWanted, check_python_source
from exercises.checkers.structured import StructuredWanted, check_structured
from exercises.checkers.svg import SvgWanted, check_svg
from exercises.checkers.text import TextWanted, check_text
from exercises.checkers.transcription import TranscriptionWanted, check_transcription
from exercises.records import Check
from exercises.toml_table import TomlTable

Checker = Callable[[str], Check]

CHECKER_TYPES = (
    *("svg", "html_page", "python_function", "python_source", "choice", "one_of", "text", "structured"),
    "transcription",
)


def runs_code(checker_type: str) -> bool:
    return checker_type == "python_function"


def read_checker(checker_type: str, settings: TomlTable, truth: bool | str | None, run_code: bool) -> Checker:
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
        return _choice(settings, truth if isinstance(truth, bool) else None)
    if checker_type == "one_of":
        return _one_of(settings, truth if isinstance(truth, str) else None)
    if checker_type == "transcription":
        return _transcription(settings, truth if isinstance(truth, str) else None)
    if checker_type == "html_page":
        return _html_page(settings)
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


def _html_page(settings: TomlTable) -> Checker:
    wanted = PageWanted(settings.whole("tabs", 0, least=0), settings.texts("labels", ()))
    settings.nothing_else()
    return lambda answer: check_html_page(answer, wanted)


def _one_of(settings: TomlTable, truth: str | None) -> Checker:
    answers = TomlTable(settings.table("answers"), f"{settings.place}: answers")
    words = {name: answers.texts(name) for name in settings.table("answers")}
    right = settings.text("answer", truth)
    settings.nothing_else()
    if right is None:
        raise settings.fault("nothing says which answer is right", 'answer = "..." or a drawing')
    if right not in words:
        raise settings.fault(f"the right answer {right!r} has no words", f'answers = {{ {right} = ["{right}"] }}')
    wanted = OneOf(words, right)
    return lambda answer: check_one_of(answer, wanted)


def _transcription(settings: TomlTable, truth: str | None) -> Checker:
    text = settings.text("text", truth)
    if text is None:
        raise settings.fault("nothing says what the text is", 'text = "..." or a drawing')
    most = settings.value("most_errors", 0.1)
    if isinstance(most, bool) or not isinstance(most, int | float) or not 0 <= most <= 1:
        raise settings.fault(f"most_errors must be a share from 0 to 1, not {most!r}", "most_errors = 0.1")
    settings.nothing_else()
    wanted = TranscriptionWanted(text, float(most))
    return lambda answer: check_transcription(answer, wanted)


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
