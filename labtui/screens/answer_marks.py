"""An assistant's answer with its faults at their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.widget import Widget
from textual.widgets import Static

from labtui.terminal_text import visible, visible_line
from lessons.grounded_answer import AnswerFault

MOST_SHOWN = 300
"""Faults that are shown; a text with more is no answer to this prompt."""

NO_ANSWER = (
    "No answer yet. a asks a model for one. Or c copies the grounded prompt: give it to an assistant of your choice, "
    "then w and paste, or i and the name of a file."
)


class FaultSaid(Static):
    """What is wrong with the line above it."""

    def __init__(self, message: str) -> None:
        super().__init__(f"↳ {visible_line(message)}", markup=False)
        self._message = visible_line(message)

    def mark(self, here: bool) -> None:
        self.update(f"{'▸' if here else '↳'} {self._message}")


def marked_answer(text: str, faults: Sequence[AnswerFault], remarks: Sequence[str] = ()) -> list[Widget]:
    """The answer with each fault below its line; what is absent from all of it stands first.

    remarks: where it is from, and how it ended; they stand above it.
    """
    if not text.strip():
        return [Static(NO_ANSWER, markup=False)]
    said = [Static(visible_line(remark), classes="answer-remark", markup=False) for remark in remarks if remark]
    return [*said, *_marked(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), faults)]


def _marked(rows: list[str], faults: Sequence[AnswerFault]) -> Iterator[Widget]:
    shown = faults[:MOST_SHOWN]
    at: dict[int, list[str]] = {}
    for fault in shown:
        at.setdefault(fault.line, []).append(fault.message)
    for message in at.pop(0, ()):
        yield FaultSaid(message)
    done = 0
    for number in sorted(at):
        if rows[done : number - 1]:
            yield Static(_plain(rows[done : number - 1]), markup=False)
        yield Static(f"✗ {visible_line(rows[number - 1])}", classes="faulty-line", markup=False)
        for message in at[number]:
            yield FaultSaid(message)
        done = number
    if rows[done:]:
        yield Static(_plain(rows[done:]), markup=False)
    if len(faults) > len(shown):
        yield Static(f"And {len(faults) - len(shown)} more faults, not shown.", markup=False)


def _plain(rows: list[str]) -> str:
    return "\n".join(f"  {visible(row)}" for row in rows)
