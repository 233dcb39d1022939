"""Questions and answers through stdin and stdout: typed by a person, read by a screen reader, or piped."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from labtui.plain_markdown import WIDTH, plain_lines
from labtui.program import as_typed


class InputEnded(Exception):
    """stdin has ended, or the person left (Ctrl-D). What was answered before is already saved."""


def is_typed() -> bool:
    """Whether a person sits at a terminal, as opposed to a pipe or a file."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def say(text: str = "") -> None:
    click.echo(as_typed(text))


def say_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(as_typed(line))


def body_lines(body: str, indent: str = "  ") -> Iterator[str]:
    """A Markdown body as plain text, safe to print and wrapped to 78 columns, with an empty line at its end."""
    yield from (f"{indent}{line}".rstrip() for line in plain_lines(body, WIDTH - len(indent)))
    yield ""


def ask(question: str) -> str:
    """One line, stripped. A line that ends in a backslash goes on in the next one. Raises InputEnded."""
    parts = []
    line = _read(f"{question}\n> " if question else "> ")
    while line.endswith("\\"):
        parts.append(line[:-1].rstrip())
        line = _read("… ")
    return "\n".join([*parts, line]).strip()


def ask_lines(question: str) -> str:
    """Lines as they are, up to a line with only a dot. What came before the end of input is returned as well."""
    say(question)
    lines: list[str] = []
    try:
        while (line := _read("… ")).strip() != ".":
            lines.append(line)
    except InputEnded:
        pass
    return "\n".join(lines)


def ask_choice(question: str, choices: dict[str, str], *, empty: str | None = None) -> str:
    """Asks until the answer begins one of the choices. choices: word → what it means. empty: what no answer means."""
    offer = ", ".join(f"{word} ({meaning})" if meaning else word for word, meaning in choices.items())
    while True:
        given = ask(f"{question} {offer}").casefold()
        if not given and empty is not None:
            return empty
        if given:
            for word in choices:
                if word.startswith(given):
                    return word
        say(f"Please answer with one of: {', '.join(choices)}.")


def _read(prompt: str) -> str:
    if is_typed():
        import readline  # noqa: F401  (line editing for input())

        try:
            return input(prompt)
        except EOFError:
            click.echo()
            raise InputEnded from None
    click.echo(prompt, nl=False)
    line = sys.stdin.readline()
    click.echo()
    if not line:
        raise InputEnded
    return line.removesuffix("\n").removesuffix("\r")
