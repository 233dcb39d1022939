"""What a step of a lesson asks the person; every answer is saved before anything is told."""

from __future__ import annotations

from labtui.cli.conversation import ask, ask_choice, say, say_lines
from labtui.cli.piece_text import show_piece
from labtui.cli.recall import Questions
from labtui.cli.step_text import anchor_lines, part
from labtui.errors import LabError
from labtui.gates import RUNS_WORD, runs_for_gate, with_runs
from labtui.made import in_studio, missing_at_gates
from labtui.standing import standing_of
from labtui.terminal_text import visible
from lessons.evidence import counts_for_gate
from lessons.model import Lesson
from lessons.walk import Step
from store.opening import Store


def ask_about(store: Store, lesson: Lesson, step: Step) -> bool:
    """Asks what the step asks, if it asks anything. True when there was an answer. Raises InputEnded."""
    part_id = step.id.partition("/")[2]
    match step.kind:
        case "practice" if in_studio(part(lesson.practice, part_id)):
            show_piece(store, lesson, part(lesson.practice, part_id))
        case "misconception":
            return _misconception(store, lesson, part_id)
        case "predict":
            return _predict(store, lesson, part_id)
        case "verdict":
            return _verdict(store, lesson)
        case "recall":
            return Questions(store).ask(lesson, part(lesson.recall, part_id))
        case "gate":
            return _gate(store, lesson, part_id)
    return False


def _misconception(store: Store, lesson: Lesson, part_id: str) -> bool:
    from labtui.cli.conversation import body_lines

    item = part(lesson.misconceptions, part_id)
    guess = store.progress.guesses(lesson.id).get(part_id)
    if guess is None:
        said = ask_choice("Before you are told: is that true?", {"true": "", "false": "", "skip": "not now"})
        if said == "skip":
            return False
        why = ask("Why do you think so? (an empty line is fine)")
        guess = store.progress.save_guess(lesson.id, part_id, said == "true", why)
        say("Saved.")
    because = f", because {visible(guess.why)}" if guess.why else ""
    say(f"You said {'true' if guess.believed else 'false'}{because}.\n\nThe lesson says:")
    say_lines(body_lines(item.correction))
    if item.why.strip():
        say("What makes it tempting:")
        say_lines(body_lines(item.why))
    say_lines(anchor_lines(lesson, item.anchors))
    return True


def _predict(store: Store, lesson: Lesson, part_id: str) -> bool:
    from labtui.cli.predict import checked_lines
    from labtui.predicting import check, exercise_of, predict

    prediction = part(lesson.predictions, part_id)
    predicted, seen = check(lesson, prediction, store)
    if predicted is None:
        words = ask("Your number first, then how you got it (an empty line: not now):")
        if not words:
            return False
        try:
            predict(lesson, prediction, words, store)
        except LabError as error:
            say(f"{error.title}: {error.cause}. {error.fix}")
            return False
        say("Saved.")
        predicted, seen = check(lesson, prediction, store)
    if predicted is not None and seen is None and exercise_of(lesson, prediction).recorded is not None:
        said = ask_choice(
            "No server of yours has shown it yet.",
            {"later": "check it by your own server", "recorded": "tell me now"},
            empty="later",
        )
        if said == "recorded":
            predicted, _ = check(lesson, prediction, store, recorded=True)
    if predicted is not None:
        say_lines(checked_lines(lesson, prediction, predicted))
    return predicted is not None


def _verdict(store: Store, lesson: Lesson) -> bool:
    last = store.verdicts.latest(lesson.id)
    if last is not None:
        say(f"Your verdict so far:\n  {visible(last.text)}\n")
    text = ask("Your verdict (an empty line leaves it as it is; a backslash at the end of a line goes on):")
    if not text:
        return False
    runs = [run.id for run in standing_of(lesson, store).runs.values()]
    saved = store.verdicts.save(lesson.id, text, runs)
    say(f"Saved, citing {', '.join(saved.runs)}." if saved.runs else "Saved. It cites no run: there is none yet.")
    return True


def _gate(store: Store, lesson: Lesson, part_id: str) -> bool:
    from labtui.cli.conversation import body_lines

    gate = part(lesson.gates, part_id)
    kept = store.progress.gates(lesson.id).get(part_id)
    say("What counts:")
    say_lines(body_lines(f"{counts_for_gate(gate)}."))
    runs = runs_for_gate(gate, standing_of(lesson, store).runs)
    if runs:
        say(f"Your runs ({RUNS_WORD} in your text stands for their ids):")
        say_lines(f"  {run.words}" for run in runs)
        say()
    if kept is not None:
        say(f"Your evidence so far:\n  {visible(kept.evidence)}\n")
    _say_gate(missing_at_gates(lesson, store)[part_id])
    evidence = ask("Your evidence that this is true (an empty line leaves it as it is):")
    if not evidence:
        return False
    if runs and RUNS_WORD in evidence:
        evidence = with_runs(evidence, [run.id for run in runs])
    store.progress.save_gate(lesson.id, part_id, evidence)
    say("Saved.")
    _say_gate(missing_at_gates(lesson, store)[part_id])
    return True


def _say_gate(missing: tuple[str, ...]) -> None:
    say("Still missing:" if missing else "This gate is met.")
    say_lines(f"  - {visible(one)}" for one in missing)
    say()
