"""study --plain: the whole lesson through stdin and stdout, where the person left off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from labtui.cli.conversation import InputEnded, ask, is_typed, say, say_lines
from labtui.cli.lazy_group import LabCommand
from labtui.cli.session import Session, pass_session
from labtui.errors import DONE, USAGE, LabError
from labtui.made import in_studio
from labtui.marking import changed_words, mark_step
from labtui.plain_markdown import plain_text
from labtui.standing import READ_KINDS, standing_of
from lessons.walk import Step, steps

if TYPE_CHECKING:
    from lessons.model import Lesson, PracticePiece

HELP = """\
  an empty line    mark this as done and go on
  next, back       go on or back without marking
  done, undone     mark this as done, or take the mark back
  note WORDS       your words here: how sure you are of an anchor, a stage of your harness map, a remark
  unnote           take them away
  list             every step, with what is done
  go WORD          to the step whose name or number has that word
  paste, edit      at a practice piece: write it here, or in your editor
  prompt           the grounded prompt, to paste after watching
  quit             leave; the place is kept"""


@click.command(cls=LabCommand)
@click.argument("lesson_id", metavar="[LESSON]", required=False)
@click.option("--plain", is_flag=True, help="Through stdin and stdout; without it the app opens on a terminal.")
@click.option("--from", "begin", metavar="STEP", help="Begin at this step instead of where you left off.")
@pass_session
def study(session: Session, lesson_id: str | None, plain: bool, begin: str | None) -> int:
    """Walk a lesson: read, guess before you are told, answer before you see the answer.

    Without LESSON it is the one in which you were last, or the first one where you were in none. Every step, guess,
    answer and the place where you are is saved as you go; leave at any time.
    """
    if not plain and begin is None and is_typed():
        from labtui.cli.opening import open_app

        open_app(session)
        return DONE
    lesson = session.lesson(lesson_id)
    walk = Walk(session, lesson)
    if begin is not None:
        walk.go(begin)
    try:
        walk.on()
    except InputEnded:
        session.say(f"Your place is kept. Go on with: labtui study {lesson.id} --plain")
    return DONE


class Walk:
    """A walk through one lesson that moves by what the person says."""

    def __init__(self, session: Session, lesson: Lesson) -> None:
        self.lesson = lesson
        self.store = session.store
        self.steps = steps(lesson)
        position = self.store.progress.position(lesson.id)
        self.at = next((index for index, step in enumerate(self.steps) if step.id == position), 0)

    def on(self) -> None:
        """Until the end or `quit`. Raises InputEnded."""
        from labtui.cli.step_notes import note_lines
        from labtui.cli.step_text import step_lines

        say(f"{self.lesson.title}\nAn empty line goes on; help says what else there is.\n")
        while self.at < len(self.steps):
            step = self.steps[self.at]
            self.store.progress.set_position(self.lesson.id, step.id)
            standing = standing_of(self.lesson, self.store)
            done = "✓ " if step.id in standing.done else ""
            say(f"[{self.at + 1}/{len(self.steps)}] {done}{step.kind}: {plain_text(step.title)}\n")
            if step.id in standing.changed:
                say(f"{changed_words(standing.changed[step.id])} An empty line marks this text as read.\n")
            say_lines(step_lines(self.lesson, step))
            say_lines(note_lines(self.store, self.lesson, step))
            from labtui.cli.step_questions import ask_about

            answered = ask_about(self.store, self.lesson, step)
            if not self._move(step, answered):
                return
        say("That was the last step. labtui next says what is left.")

    def go(self, word: str) -> None:
        """Raises LabError (exit 2) when no step has that word."""
        wanted = word.casefold()
        if wanted.isdigit() and 1 <= int(wanted) <= len(self.steps):
            self.at = int(wanted) - 1
            return
        for index, step in enumerate(self.steps):
            if wanted in (step.id.casefold(), step.kind) or wanted in f"{step.id} {step.title}".casefold():
                self.at = index
                return
        raise LabError(
            "There is no such step",
            f"no step of {self.lesson.id} has {word!r} in its name",
            "The command list shows all steps.",
            USAGE,
        )

    def _move(self, step: Step, answered: bool) -> bool:
        """Asks what to do at a step and does it. False: the person leaves."""
        from labtui.cli.step_notes import take_note, take_note_away

        while True:
            word, _, rest = ask("").partition(" ")
            match word.casefold():
                case "":
                    self._leave(step, answered)
                    self.at += 1
                    return True
                case "next" | "n":
                    self.at += 1
                    return True
                case "back" | "b":
                    self.at = max(self.at - 1, 0)
                    return True
                case "done" | "undone" if step.kind == "gate":
                    say("A gate is met by its evidence, not by a mark.")
                case "done" | "undone":
                    mark_step(self.lesson, step.id, self.store, word.casefold() == "done")
                    say("Saved.")
                case "note":
                    take_note(self.store, self.lesson, step, rest.strip())
                case "unnote":
                    take_note_away(self.store, self.lesson, step)
                case "list":
                    standing = standing_of(self.lesson, self.store)
                    for index, one in enumerate(self.steps):
                        changed = " (changed since you read it)" if one.id in standing.changed else ""
                        mark = "✓" if one.id in standing.done else " "
                        say(f"{index + 1:>4} {mark} {one.kind}: {plain_text(one.title)}{changed}")
                case "go" | "g":
                    try:
                        self.go(rest.strip())
                    except LabError as error:
                        say(f"{error.title}: {error.cause}. {error.fix}")
                        continue
                    return True
                case "paste" | "edit" if self._piece(step) is not None:
                    self._write_piece(step, word.casefold())
                case "prompt":
                    from lessons.prompt import grounded_prompt

                    say(grounded_prompt(self.lesson))
                case "quit" | "q":
                    say(f"Your place is kept. Go on with: labtui study {self.lesson.id} --plain")
                    return False
                case _:
                    say(HELP)

    def _leave(self, step: Step, answered: bool) -> None:
        piece = self._piece(step)
        if piece is not None:
            from labtui.cli.piece_text import missing_in_piece

            if missing_in_piece(self.store, self.lesson, piece):
                say("Left open. It is done when nothing is missing, or when you say done.")
        elif answered or step.kind in READ_KINDS - {"misconception"}:
            mark_step(self.lesson, step.id, self.store)

    def _piece(self, step: Step) -> PracticePiece | None:
        """The piece of the studio that is made at a step."""
        kind, _, part = step.id.partition("/")
        made_here = (one for one in self.lesson.practice if kind == "practice" and one.id == part and in_studio(one))
        return next(made_here, None)

    def _write_piece(self, step: Step, how: str) -> None:
        from labtui.cli.piece_text import edit_piece, paste_piece

        piece = self._piece(step)
        if piece is None:
            return
        try:
            (paste_piece if how == "paste" else edit_piece)(self.store, self.lesson, piece)
        except LabError as error:
            say(f"{error.title}: {error.cause}. {error.fix}")
