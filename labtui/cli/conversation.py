"""Questions and answers through stdin and stdout: typed by a person, read by a screen reader, or piped."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable

import click


class InputEnded(Exception):
    """stdin has ended, or the person left (Ctrl-D). What was answered before is already saved."""


def say(text: str = "") -> None:
    click.echo(text)


def say_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def say_body(body: str, indent: str = "  ") -> None:
    """A Markdown body, wrapped to 78 columns; lists, tables and code keep their lines."""
    for paragraph in body.strip().split("\n\n"):
        keeps_lines = any(line.startswith(("- ", "* ", "|", "    ", "```", "1.")) for line in paragraph.splitlines())
        for line in paragraph.splitlines() if keeps_lines else [" ".join(paragraph.split())]:
            click.echo(textwrap.fill(line, 78, initial_indent=indent, subsequent_indent=indent) or "")
        click.echo()


def ask(question: str) -> str:
    """One line, stripped. A line that ends in a backslash goes on in the next one. Raises InputEnded."""
    parts = []
    line = _read(f"{question}\n> ")
    while line.endswith("\\"):
        parts.append(line[:-1].rstrip())
        line = _read("… ")
    return "\n".join([*parts, line]).strip()


def ask_choice(question: str, choices: dict[str, str]) -> str:
    """Asks until the answer begins one of the choices. choices: word → what it means."""
    offer = ", ".join(f"{word} ({meaning})" if meaning else word for word, meaning in choices.items())
    while True:
        given = ask(f"{question} {offer}").casefold()
        if given:
            for word in choices:
                if word.startswith(given):
                    return word
        say(f"Please answer with one of: {', '.join(choices)}.")


def _read(prompt: str) -> str:
    if sys.stdin.isatty() and sys.stdout.isatty():
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
