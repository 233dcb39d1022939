from __future__ import annotations

from labtui.errors import USAGE
from lessons.finding import find_lesson
from lessons.walk import steps

LESSON = find_lesson("diffusiongemma")
STEPS = steps(LESSON)


def test_a_piped_walk_goes_through_the_whole_lesson(lab, store) -> None:
    answers = []
    for step in STEPS:
        answers += {
            "misconception": ["false", "because", ""],
            "verdict": ["my verdict", ""],
            "recall": ["an answer", "good", ""],
            "gate": ["evidence", ""],
        }.get(step.kind, [""])
    result = lab("study", "diffusiongemma", "--plain", given="\n".join(answers) + "\n")
    assert result.exit_code == 0
    for anchor in LESSON.anchors:
        assert " ".join(anchor.quote.split())[:40] in " ".join(result.stdout.split())
    assert "That was the last step" in result.stdout
    standing = next(one for one in lab.json("lessons") if one["id"] == "diffusiongemma")
    assert standing["cards_done"] == standing["cards"]
    assert standing["gates_met"] == standing["gates"] == len(LESSON.gates)
    assert store.verdicts.latest("diffusiongemma").text == "my verdict"
    assert len(store.progress.guesses("diffusiongemma")) == len(LESSON.misconceptions)
    assert store.recall.latest("diffusiongemma")[LESSON.recall[0].id].grade == "good"


def test_it_goes_on_where_the_person_left(lab) -> None:
    lab("study", "--plain", given="\n\n")
    assert f"[3/{len(STEPS)}]" in lab("study", "--plain").stdout
    assert lab.json("lessons")[0]["position"] == STEPS[2].id
    assert lab.json("lessons")[0]["cards_done"] == 2


def test_a_misconception_asks_before_it_tells(lab, store) -> None:
    first = LESSON.misconceptions[0]
    told = " ".join(first.correction.split())[:50]
    before = " ".join(lab("study", "--plain", "--from", "misconception").stdout.split())
    assert first.claim in before
    assert told not in before
    after = " ".join(lab("study", "--plain", given="true\nI thought so\n").stdout.split())
    assert after.index("You said true, because I thought so") < after.index(told)
    guess = store.progress.guesses("diffusiongemma")[first.id]
    assert (guess.believed, guess.why) == (True, "I thought so")


def test_a_misconception_that_was_skipped_is_not_done(lab) -> None:
    lab("study", "--plain", "--from", "misconception", given="skip\n\n")
    assert lab.json("lessons")[0]["cards_done"] == 0


def test_moving_without_marking(lab) -> None:
    printed = lab("study", "--plain", given="next\nback\ngo gate\nlist\nprompt\nhelp\ndone\nundone\nquit\n").stdout
    assert "[2/" in printed
    assert f"[{len(STEPS) - len(LESSON.gates) + 1}/" in printed
    assert lab.json("lessons")[0]["cards_done"] == 0


def test_an_unknown_step_is_a_usage_error_at_the_command_and_a_word_in_the_walk(lab) -> None:
    assert lab("study", "--plain", "--from", "nonsense").exit_code == USAGE
    result = lab("study", "--plain", given="go nonsense\n\n")
    assert result.exit_code == 0
    assert "no step of diffusiongemma" in result.stdout
    assert "[2/" in result.stdout


def test_next_names_the_first_step_and_then_the_next(lab) -> None:
    assert lab.json("next")["step"] == "frame"
    lab("study", "--plain", given="\n")
    after = lab.json("next")
    assert after["step"] == STEPS[1].id
    assert after["command"] == "labtui study diffusiongemma --plain"


def test_the_plain_walk_has_no_colour_and_no_cursor_movement(lab) -> None:
    assert "\x1b" not in lab("study", "--plain", given="\n" * 80).stdout


def test_words_of_ones_own_at_an_anchor_and_a_stage_are_kept_shown_and_exported(lab, store, tmp_path) -> None:
    anchor, card = LESSON.anchors[0], LESSON.cards[3]
    given = "note\nLow: no card is named.\nquit\n"
    assert "How sure are you" in lab("study", "--plain", "--from", f"anchor/{anchor.id}", given=given).stdout
    lab("study", "--plain", "--from", f"card/{card.id}", given="note May read one picture.\nquit\n")
    assert store.progress.notes("diffusiongemma")[f"anchor/{anchor.id}"].text == "Low: no card is named."
    again = lab("study", "--plain", "--from", f"anchor/{anchor.id}").stdout
    assert "Your confidence:\n    Low: no card is named." in again
    lab("export", "diffusiongemma", "--format", "md,html", "--to", str(tmp_path))
    for ending in ("md", "html"):
        written = (tmp_path / f"diffusiongemma.{ending}").read_text()
        assert "Low: no card is named." in written and "May read one picture." in written
    lab("study", "--plain", "--from", f"card/{card.id}", given="unnote\nunnote\nquit\n")
    assert f"card/{card.id}" not in store.progress.notes("diffusiongemma")


def test_a_note_that_is_left_empty_changes_nothing(lab, store) -> None:
    lab("study", "--plain", given="note\n\nnote first\nnote\n\nquit\n")
    assert store.progress.notes("diffusiongemma")["frame"].text == "first"
    printed = lab("study", "--plain", "--from", "gate", given="\nnote x\nquit\n").stdout
    assert "needs no note" in printed
