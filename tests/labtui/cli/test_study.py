from __future__ import annotations

from labtui.errors import USAGE
from labtui.plain_markdown import plain_text
from lessons.finding import find_lesson
from lessons.walk import steps

LESSON = find_lesson("diffusiongemma")
STEPS = steps(LESSON)


OWN_WORDS = "At 0:34 he promises a thousand tokens each second and times nothing."
PIECES = {
    "evidence-map": "".join(
        f"# {at}\n  claim: it is fast\n  what the demo proves: it ran\n  confidence: low\n  still to verify: flags\n"
        for at in ("0:34", "2:18", "4:15")
    )
    + "where it will matter: when I choose a card\n",
    "harness-map": "".join(
        f"# {card.stage}\n  here: a\n  tool boundary: b\n  proof signal: c\n" for card in LESSON.cards
    )
    + "weakest link: Verifier\nhow I would notice: a red test\n",
    "teach-back": "explanation: it writes a block\ndiagram: []\nexample: a draft\n"
    "misconception to avoid: fast is good\nseconds: 80\n",
}


def test_a_piped_walk_goes_through_the_whole_lesson_to_all_gates_met(lab, store, keep_run) -> None:
    run = keep_run()
    keep_run(task="vision")
    answers = []
    for step in STEPS:
        answers += {
            "misconception": ["false", "because", ""],
            "verdict": ["my verdict", ""],
            "recall": ["an answer", "good", ""],
            "gate": [f"{OWN_WORDS} See {run.id}.", ""],
        }.get(step.kind, [""])
        if step.kind == "practice":
            piece = next(one.piece for one in LESSON.practice if step.id == f"practice/{one.id}")
            answers[-1:] = ["paste", *PIECES[piece].splitlines(), ".", ""]
    result = lab("study", "diffusiongemma", "--plain", given="\n".join(answers) + "\n")
    assert result.exit_code == 0
    for anchor in LESSON.anchors:
        assert " ".join(anchor.quote.split())[:40] in " ".join(result.stdout.split())
    assert result.stdout.count("Nothing is missing: this piece is done.") == 3
    assert "That was the last step" in result.stdout
    standing = next(one for one in lab.json("lessons") if one["id"] == "diffusiongemma")
    assert standing["cards_done"] == standing["cards"]
    assert standing["gates_met"] == standing["gates"] == len(LESSON.gates)
    assert store.verdicts.latest("diffusiongemma").text == "my verdict"
    assert len(store.progress.guesses("diffusiongemma")) == len(LESSON.misconceptions)
    assert store.recall.latest("diffusiongemma")[LESSON.recall[0].id].grade == "good"


def test_a_gate_says_what_counts_and_what_is_missing_and_no_mark_opens_it(lab) -> None:
    result = lab("study", "--plain", "--from", "gate/claim-in-own-words", given="Fast.\ndone\nquit\n")
    assert "your own sentences, a citation of an anchor." in result.stdout
    assert "Write at least one whole sentence" in result.stdout
    assert "not by a mark" in result.stdout
    assert next(one for one in lab.json("lessons") if one["id"] == "diffusiongemma")["gates_met"] == 0


def test_a_piece_can_be_begun_and_is_left_open(lab, store) -> None:
    given = "paste\n# 4:15\n  claim: it loads\nno field\n   neither\n.\n\nquit\n"
    result = lab("study", "--plain", "--from", "practice/evidence-map", given=given)
    assert "The form, still empty:" in result.stdout
    assert "what the demo proves:" in result.stdout
    assert "Row 1: the confidence is missing" in result.stdout
    assert "Left open." in result.stdout
    assert "neither" in result.stdout
    assert "practice/evidence-map" not in store.progress.done("diffusiongemma")
    assert "claim: it loads" in lab("study", "--plain", "--from", "practice/evidence-map").stdout


def test_what_was_pasted_before_input_ended_is_kept(lab) -> None:
    lab("study", "--plain", "--from", "practice/teach-back", given="paste\nexplanation: half a")
    assert "explanation: half a" in lab("study", "--plain", "--from", "practice/teach-back").stdout


def test_an_editor_needs_a_terminal(lab) -> None:
    printed = lab("study", "--plain", "--from", "practice/teach-back", given="edit\nquit\n").stdout
    assert "There is no terminal for an editor" in printed


def test_it_goes_on_where_the_person_left(lab) -> None:
    lab("study", "--plain", given="\n\n")
    assert f"[3/{len(STEPS)}]" in lab("study", "--plain").stdout
    assert lab.json("lessons")[0]["position"] == STEPS[2].id
    assert lab.json("lessons")[0]["cards_done"] == 2


def test_a_misconception_asks_before_it_tells(lab, store) -> None:
    first = LESSON.misconceptions[0]
    told = plain_text(first.correction)[:50]
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


def test_a_card_that_was_reworded_since_it_was_read_says_so_and_stays_done(lab, store) -> None:
    store.progress.mark("diffusiongemma", "frame", fingerprint="of another text")
    standing = next(one for one in lab.json("lessons") if one["id"] == "diffusiongemma")
    assert (standing["changed"], standing["cards_done"]) == (["frame"], 1)
    assert "1 changed since you read it" in lab("lessons").stdout
    walked = lab("study", "diffusiongemma", "--plain", "--from", "frame", given="list\n\nback\n").stdout
    assert "frame: " in walked and "(changed since you read it)" in walked
    assert walked.count("Changed since you read it on ") == 1, "an empty line marked this text as read"
    assert next(one for one in lab.json("lessons") if one["id"] == "diffusiongemma")["changed"] == []


def test_help_says_which_lesson_is_taken_without_one(lab) -> None:
    assert "Without LESSON it is the one in which you were last" in " ".join(lab("study", "--help").stdout.split())
