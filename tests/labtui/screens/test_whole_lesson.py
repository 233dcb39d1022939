"""One walk by keys through the whole lesson, from the first card to the last gate."""

from __future__ import annotations

from labtui.screens.home import HomeScreen
from labtui.screens.lesson import LessonScreen
from labtui.screens.recall import RecallScreen
from labtui.standing import standing_of
from labtui.widgets.writing import Writing
from lessons.finding import find_lesson
from lessons.walk import steps

LESSON = find_lesson("diffusiongemma")
WALK = steps(LESSON)
OWN_WORDS = "At 0:34 he promises a thousand tokens each second and times nothing."


async def write(lab, text: str) -> None:
    """Into the text that has the cursor, as a paste."""
    assert isinstance(lab.screen.focused, Writing)
    lab.screen.focused.insert(text)
    await lab.settle()


async def make_evidence_map(lab) -> None:
    for number in (1, 2, 3):
        await lab.press("a", *["right"] * number, "tab")
        await write(lab, f"claim {number}")
        await lab.press("tab")
        await write(lab, "it ran once")
        await lab.press("tab", "right", "tab")
        await write(lab, "the flags")
        await lab.press("escape", "escape")
    await lab.press("end", "enter")
    await write(lab, "when I choose a card")
    await lab.press("escape", "escape")


async def make_harness_map(lab) -> None:
    await lab.press("enter")
    for _ in LESSON.cards:
        for text in ("what it is", "what it may do", "how I know"):
            await write(lab, text)
            await lab.press("tab")
        lab.screen.set_focus(None)
        await lab.press("right")
    await lab.press("escape", "escape", "up", "up", "w", "end", "enter")
    await write(lab, "a red test")
    await lab.press("escape", "escape")


async def make_teach_back(lab, monkeypatch) -> None:
    await lab.press("enter")
    for text in ("It writes a whole block at once.", "[..] > [ab]", "a draft", "that fast is good"):
        await write(lab, text)
        await lab.press("escape", "right")
    assert "last entry" in lab.line
    await lab.press("escape")
    now = [0.0]
    monkeypatch.setattr("labtui.screens.teach_timer.monotonic", lambda: now[0])
    await lab.press("t", "space")
    now[0] = 80
    await lab.press("space", "escape")


async def test_the_whole_lesson_is_walked_to_all_gates_met(running, in_store, make_run, monkeypatch) -> None:
    runs = [in_store(lambda store, task=task: store.runs.add(make_run(task=task.task))) for task in LESSON.lab_tasks]
    makers = {"evidence-map": make_evidence_map, "harness-map": make_harness_map}
    async with running(keys=("down", "enter")) as lab:
        for step in WALK:
            assert isinstance(lab.screen, LessonScreen)
            assert lab.screen.step == step
            match step.kind:
                case "misconception":
                    await lab.press("f", "enter")
                case "practice":
                    await lab.press("enter")
                    if maker := makers.get(lab.screen.practice.piece):
                        await maker(lab)
                    else:
                        await make_teach_back(lab, monkeypatch)
                    assert "NOTHING IS MISSING" in lab.text
                    await lab.press("escape")
                    assert "✓" in lab.title
                    await lab.press("right")
                case "lab":
                    assert "✓" in lab.title
                    await lab.press("right")
                case "verdict":
                    await lab.press("enter", "w")
                    await write(lab, "For drafts yes.")
                    await lab.press("escape", "s", "escape", "right")
                case "recall":
                    await lab.press("enter")
                    assert isinstance(lab.screen, RecallScreen)
                    await write(lab, "A canvas, all at once.")
                    await lab.press("escape", "enter", "3")
                    while not isinstance(lab.screen, LessonScreen):
                        await lab.press("escape")
                    await lab.press("right")
                case "gate":
                    await lab.press("w")
                    await write(lab, f"{OWN_WORDS} See {runs[0].id}.")
                    await lab.press("escape", "s")
                    assert "This gate is met." in lab.line
                    await lab.press("right")
                case _:
                    await lab.press("enter")
        await lab.press("escape")
        assert isinstance(lab.screen, HomeScreen)
        assert f"{len(LESSON.gates)}/{len(LESSON.gates)} gates" in lab.text
    standing = in_store(lambda store: standing_of(LESSON, store))
    assert standing.undone == ()
