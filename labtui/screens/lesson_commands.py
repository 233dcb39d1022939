"""What can be done on the cards of a lesson: the keys, where each is offered, and what to do next."""

from __future__ import annotations

from labtui.screens.lesson_cards import Kept, is_asked, is_of_studio, opens_at, studio_piece
from labtui.screens.page import BACK
from labtui.widgets.commands import Command
from lessons.model import Lesson
from lessons.walk import Step

LESSON_COMMANDS = (
    Command("right,l", "walk(1)", "walk", "To the next card (left, h: to the one before)", display="←→"),
    Command("left,h", "walk(-1)", "back", "To the card before", shown=False),
    Command("enter", "go_on", "done, go on", "Mark this card as done and go to the next; at the lab, open it"),
    Command("t", "guess(True)", "true", "Say that this is true; then you are told"),
    Command("f", "guess(False)", "false", "Say that this is false; then you are told"),
    Command("w", "write", "write", "Write here: your evidence at a gate, why you think so, or a note"),
    Command("s", "save", "save", "Save what you wrote here"),
    Command("n", "name_run", "name a run", "Put the id of a run of yours into your evidence at this gate"),
    Command("x", "recorded", "recorded", "Check your prediction by what was recorded, without a server of yours"),
    Command("u", "studio", "studio", "The studio: make what this card asks for, or what this gate counts"),
    Command("m", "mark", "mark", "Mark this card as done, or take the mark away", shown=False),
    Command("o", "open_video", "open video", "Show and copy the address of the video at this second"),
    Command("g", "jump", "go to", "All cards, to jump to one"),
    Command("slash", "search", "search", "Find words in the whole lesson", display="/"),
    Command(
        "c", "copy_prompt", "copy prompt", "Copy the grounded prompt, for a model that helps you study", shown=False
    ),
    Command("p", "prompt", "prompt", "Read the grounded prompt", shown=False),
    Command("d", "answer", "answer", "Answers to the prompt: ask a model, or paste one; see its faults", shown=False),
    Command("i", "sources", "sources", "The source shelf of the lesson", shown=False),
    Command("a", "lab", "lab", "Open the lab of this lesson", shown=False),
    Command("v", "verdict", "verdict", "Write or read your verdict", shown=False),
    Command("r", "recall", "recall", "Answer the recall questions", shown=False),
    Command("e", "export", "export", "Write the artifact to files", shown=False),
    Command("space,pagedown", "page(1)", "further", "A page down; at the end of a card, to the next", shown=False),
    Command("b,pageup", "page(-1)", "up", "A page up; at the start of a card, to the one before", shown=False),
    Command("down,j", "scroll(1)", "down", "A line down", shown=False),
    Command("up,k", "scroll(-1)", "up", "A line up", shown=False),
    Command("home", "edge(-1)", "first", "To the first card", shown=False),
    Command("end", "edge(1)", "last", "To the last card", shown=False),
    BACK,
)


def what_next(lesson: Lesson, step: Step, kept: Kept, *, last: bool, more_below: bool) -> str:
    """What to do next, in a line. last: it is the last card. more_below: it goes on below what is seen."""
    match step.kind:
        case "misconception" if is_asked(step, kept):
            return "Is it true? t true, f false; w writes why first."
        case "gate" if not kept.missing:
            return "Met. w changes the evidence, s saves it again."
        case "gate":
            studio = "u opens the studio; " if studio_piece(lesson, step) else ""
            run = "n names a run; " if kept.runs else ""
            return f"{studio}{run}w writes your evidence, s saves it."
        case "practice" if is_of_studio(lesson, step):
            return "enter opens it in the studio; → goes on."
        case "predict" if kept.checked:
            return "Checked: it stays as you wrote it. enter goes on."
        case "predict" if kept.predicted is not None:
            return "Check it by your own server, or x tells what was recorded."
        case "predict":
            return "w writes your number, s saves it; then you are told."
        case "lab":
            return "enter opens the lab: start the server, run the task."
        case "verdict":
            return "enter opens your verdict."
        case "recall":
            return "enter asks you: answer first, then reveal."
    reads_on = "space reads on; " if more_below else ""
    if kept.changed:
        return f"{reads_on}enter marks this text as read."
    if last:
        return "The last card. enter marks it as done."
    return f"{reads_on}enter marks it as done and goes on."


def is_offered(action: str, lesson: Lesson, step: Step, kept: Kept, *, has_box: bool) -> bool:
    """Whether a key does something on this card. has_box: a place to write in is there."""
    match action:
        case "guess":
            return is_asked(step, kept)
        case "studio":
            return studio_piece(lesson, step) is not None
        case "write":
            return not is_of_studio(lesson, step) and not kept.checked
        case "name_run":
            return bool(kept.runs)
        case "recorded":
            return kept.predicted is not None and not kept.checked
        case "save":
            return not is_asked(step, kept) and has_box
        case "open_video":
            return opens_at(lesson, step) is not None
    return True
