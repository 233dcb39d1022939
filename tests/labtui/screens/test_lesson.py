from __future__ import annotations

import base64
from pathlib import Path

import pytest
from rich.cells import cell_len

from labtui.predicting import predict
from labtui.screens.home import HomeScreen
from labtui.screens.lesson import LessonScreen
from labtui.screens.lesson_cards import SECTIONS
from labtui.serving.state import ServerState
from labtui.serving.status import Status
from labtui.standing import standing_of
from labtui.widgets.writing import Writing
from lessons.finding import find_lesson
from lessons.prompt import grounded_prompt
from lessons.walk import steps

LESSON = "diffusiongemma"
TASKS = ("coding", "vision")
CHINESE = Path(__file__).parent / "lessons"


def at_step(in_store, step_id: str, lesson: str = LESSON) -> None:
    in_store(lambda store: store.progress.set_position(lesson, step_id))


def in_lesson(running, *keys: str, **options):
    return running(keys=("down", "enter", *keys), **options)


async def test_every_card_can_be_walked_to_and_back(running) -> None:
    walk = steps(find_lesson(LESSON))
    async with in_lesson(running, size=(80, 24)) as lab:
        for step in walk[1:]:
            await lab.press("right")
            assert lab.screen.step == step
            assert SECTIONS[step.kind] in lab.title
        await lab.press("right")
        assert lab.screen.step == walk[-1]
        assert "last card" in lab.line
        await lab.press("h", "l", "left")
        assert lab.screen.step == walk[-2]


async def test_the_place_is_kept_with_every_move(running, in_store) -> None:
    async with in_lesson(running, "right", "right", "right") as lab:
        step_id = lab.screen.step.id
        assert in_store(lambda store: store.progress.position(LESSON)) == step_id
    async with in_lesson(running) as lab:
        assert lab.screen.step.id == step_id


async def test_it_comes_back_to_the_same_line_of_a_card(running, in_store) -> None:
    at_step(in_store, "deep/serving")
    async with in_lesson(running, "down", "down", "down") as lab:
        assert lab.screen.query_one("#card").scroll_y == 3
    async with in_lesson(running) as lab:
        assert lab.screen.query_one("#card").scroll_y == 3


async def test_space_reads_on_and_then_walks(running, in_store) -> None:
    at_step(in_store, "deep/serving")
    async with in_lesson(running) as lab:
        assert "space reads on" in lab.line
        await lab.press("space")
        assert lab.screen.step.id == "deep/serving"
        for _ in range(20):
            if lab.screen.step.id != "deep/serving":
                break
            await lab.press("space")
        assert lab.screen.step.id == "deep/speed-for-quality"
        assert lab.screen.query_one("#card").scroll_y == 0


async def test_enter_marks_and_goes_on_and_m_takes_it_back(running, in_store) -> None:
    async with in_lesson(running, "enter") as lab:
        assert lab.screen.step.id == "card/intent"
        assert in_store(lambda store: store.progress.done(LESSON)) == {"frame"}
        await lab.press("left")
        assert "✓" in lab.title
        await lab.press("m")
        assert "✓" not in lab.title
        assert in_store(lambda store: store.progress.done(LESSON)) == set()


async def test_an_anchor_says_what_it_proves_and_where_it_belongs(running, in_store) -> None:
    at_step(in_store, "anchor/barrier-task")
    async with in_lesson(running, size=(80, 40)) as lab:
        for words in ("8:08", "“barrier, and tell us", "What it proves", "What it does not", "Needs checking"):
            assert words in lab.text
        assert "[TOOLS]" in lab.text


async def test_o_shows_and_copies_the_address_at_that_second(running, in_store, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    at_step(in_store, "anchor/transformers-path")
    async with in_lesson(running) as lab:
        sent: list[str] = []
        monkeypatch.setattr(lab.app._driver, "write", sent.append)
        await lab.press("o")
        address = "https://www.youtube.com/watch?v=hwKZq0_xG5M&t=255s"
        assert address in lab.line
        copied = tmp_path / "state" / "labtui" / "copied.txt"
        assert copied.read_text() == address
        assert copied.stat().st_mode & 0o777 == 0o600
        sequence = base64.b64encode(address.encode()).decode()
        assert any(f"\x1bPtmux;\x1b\x1b]52;c;{sequence}\a\x1b\\" in write for write in sent)


async def test_c_copies_the_grounded_prompt(running, tmp_path: Path) -> None:
    async with in_lesson(running, "c"):
        assert (tmp_path / "state" / "labtui" / "copied.txt").read_text() == grounded_prompt(find_lesson(LESSON))


async def test_a_misconception_asks_before_it_tells(running, in_store) -> None:
    at_step(in_store, "misconception/more-tools-help")
    async with in_lesson(running, size=(80, 40)) as lab:
        assert "True or false?" in lab.text
        assert "The lesson says" not in lab.text
        await lab.press("enter")
        assert lab.screen.step.id == "misconception/more-tools-help"
        assert "First say what you think" in lab.line
        await lab.press("w")
        await lab.type("more is more")
        await lab.press("escape", "t")
        assert "saved" in lab.line
        assert "The lesson says" in lab.text
        assert "true, because more is more" in lab.text
    guess = in_store(lambda store: store.progress.guesses(LESSON)["more-tools-help"])
    assert (guess.believed, guess.why) == (True, "more is more")
    assert "misconception/more-tools-help" in in_store(lambda store: store.progress.done(LESSON))


async def test_evidence_at_a_gate_is_saved_and_judged(running, in_store) -> None:
    at_step(in_store, "gate/claim-in-own-words")
    async with in_lesson(running, size=(80, 34)) as lab:
        assert "Your own sentences, a citation of an anchor." in " ".join(lab.text.split())
        await lab.press("w")
        await lab.type("It writes blocks.")
        assert in_store(lambda store: store.progress.gates(LESSON)) == {}
        await lab.press("escape", "s")
        assert "The gate is still open: Write at least one whole sentence" in lab.line
        assert "Cite an anchor: its time" in lab.text
        assert "✓" not in lab.title
        await lab.press("w")
        lab.screen.query_one(Writing).insert(" At 0:34 he promises speed and times nothing.")
        await lab.settle()
        await lab.press("escape", "s")
        assert "This gate is met" in lab.line
        assert "✓" in lab.title
        assert "Nothing is missing" in lab.text
    evidence = in_store(lambda store: store.progress.gates(LESSON)["claim-in-own-words"].evidence)
    assert evidence == "It writes blocks. At 0:34 he promises speed and times nothing."
    assert in_store(lambda store: store.progress.draft(f"gate/{LESSON}/claim-in-own-words")) is None


async def test_a_gate_that_counts_runs_shows_those_that_can_be_named(running, in_store, make_run) -> None:
    run = in_store(lambda store: store.runs.add(make_run()))
    at_step(in_store, "gate/artifact-with-evidence")
    async with in_lesson(running) as lab:
        assert run.id in lab.text
        assert "Name a run of yours in the text." in lab.text
        await lab.press("w")
        await lab.type(f"see {run.id}")
        await lab.press("escape", "s")
        assert "Name a run of yours" not in lab.text


async def test_n_puts_the_id_of_a_run_into_the_evidence(running, in_store, make_run) -> None:
    first, second = (in_store(lambda store, task=task: store.runs.add(make_run(task=task))).id for task in TASKS)
    at_step(in_store, "gate/artifact-with-evidence")
    async with in_lesson(running, "n") as lab:
        writing = lab.screen.query_one(Writing)
        assert writing.text == f"{first} "
        assert "esc leaves the text" in lab.line
        await lab.press("i", "s", "escape", "n")
        assert writing.text == f"{first} is {second} "
        await lab.press("escape", "n")
        assert "Every run of yours" in lab.line and writing.text.count("r-") == 2
        await lab.press("escape", "s")
        assert "Name a run of yours" not in lab.text
    at_step(in_store, "gate/claim-in-own-words")
    async with in_lesson(running, "n") as lab:
        assert lab.screen.query_one(Writing).text == "", "this gate counts no run"


async def test_a_card_that_was_reworded_since_it_was_read_says_so_and_stays_done(running, in_store) -> None:
    in_store(lambda store: store.progress.mark(LESSON, "frame", fingerprint="of another text"))
    async with in_lesson(running) as lab:
        assert "Frame  ✓ changed" in lab.title
        assert "! Changed since you read it on 2026-03-02. Your mark has stayed." in lab.text
        assert "enter marks this text as read" in lab.line
        await lab.press("g")
        assert any("✓" in row and row.rstrip(" │").endswith("changed") for row in lab.text.splitlines())
        await lab.press("escape", "enter", "left")
        assert "✓" in lab.title and "changed" not in lab.title.lower()
        assert "Changed since" not in lab.text


async def test_what_was_saved_at_a_gate_before_it_was_judged_is_kept(running, in_store) -> None:
    in_store(lambda store: store.progress.save_gate(LESSON, "claim-in-own-words", "Fast."))
    at_step(in_store, "gate/claim-in-own-words")
    async with in_lesson(running) as lab:
        assert lab.screen.query_one(Writing).text == "Fast."
        assert "Still missing" in lab.text


async def test_nothing_is_saved_where_nothing_is_written(running, in_store) -> None:
    at_step(in_store, "gate/claim-in-own-words")
    async with in_lesson(running, "s") as lab:
        assert "nothing to save" in lab.line
    assert in_store(lambda store: store.progress.gate_history(LESSON)) == []


async def test_a_half_typed_text_is_there_after_the_app_was_killed(running, in_store) -> None:
    at_step(in_store, "gate/claim-in-own-words")
    async with in_lesson(running, "w") as lab:
        await lab.type("half a sen")
        assert lab.screen.query_one(Writing).border_subtitle == "draft kept"
        # What kill -9 would leave behind is what is on the disk now.
        assert in_store(lambda store: store.progress.draft(f"gate/{LESSON}/claim-in-own-words")) == "half a sen"
    async with in_lesson(running) as lab:
        assert lab.screen.query_one(Writing).text == "half a sen"
        assert "draft, not saved" in lab.text


async def test_a_note_can_be_written_on_any_card(running, in_store) -> None:
    at_step(in_store, "card/verifier")
    async with in_lesson(running, "w") as lab:
        await lab.type("count the dots")
        await lab.press("escape", "s")
        assert lab.line.startswith("✓ Saved")
    assert in_store(lambda store: store.progress.notes(LESSON)["card/verifier"].text) == "count the dots"
    async with in_lesson(running) as lab:
        assert lab.screen.query_one(Writing).text == "count the dots"


async def test_while_writing_letters_are_text_and_esc_leaves(running, in_store) -> None:
    at_step(in_store, "gate/claim-in-own-words")
    async with in_lesson(running, "w") as lab:
        assert any("leave the text" in key for key in lab.keys)
        assert not any("walk" in key or "done" in key for key in lab.keys)
        await lab.type("q?:hlgs")
        assert isinstance(lab.screen, LessonScreen)
        assert lab.screen.query_one(Writing).text == "q?:hlgs"
        await lab.press("escape")
        assert lab.screen.focused is None
        await lab.press("escape")
        assert isinstance(lab.screen, HomeScreen)


async def test_an_editors_note_stands_where_it_belongs(running, in_store) -> None:
    lesson = find_lesson(LESSON)
    note = next(note for note in lesson.notes if note.about == "deep/speed-for-quality")
    at_step(in_store, "deep/speed-for-quality")
    async with in_lesson(running, size=(80, 100)) as lab:
        shown = " ".join(lab.text.split())
        assert "Editor's note." in shown
        assert note.source.split()[0] in shown


async def test_jumping_to_a_card(running) -> None:
    async with in_lesson(running, "g", "down", "down", "enter") as lab:
        assert lab.screen.step.id == "card/model"


async def test_searching_the_whole_lesson(running) -> None:
    async with in_lesson(running, "slash") as lab:
        await lab.type("lamborghini barrier")
        assert "Speed for quality" in lab.text
        assert "Before you watch" not in lab.text
        await lab.press("enter")
        assert lab.screen.step.id == "deep/speed-for-quality"


async def test_a_search_does_not_give_a_correction_away(running) -> None:
    async with in_lesson(running, "slash") as lab:
        await lab.type("more way to fail, to leak")
        assert "No card has these words" in lab.text


@pytest.mark.parametrize(
    ("step", "screen"), [("verdict", "VerdictScreen"), ("recall/tradeoff", "RecallScreen"), ("lab/coding", "LabScreen")]
)
async def test_enter_opens_what_a_step_is_about(running, in_store, monkeypatch, step, screen) -> None:
    opened: list[str] = []
    monkeypatch.setattr("labtui.app.LabApp.open_lab", lambda self, lesson_id: opened.append("LabScreen"))
    at_step(in_store, step)
    async with in_lesson(running, "enter") as lab:
        assert (opened or [type(lab.screen).__name__]) == [screen]


async def test_chinese_text_is_aligned_and_a_chinese_answer_is_kept_whole(running, in_store) -> None:
    at_step(in_store, "gate/own-words", "chinese")
    async with running(lesson_paths=(CHINESE,)) as lab:
        lab.app.open_lesson("chinese")
        await lab.settle()
        await lab.press("w")
        answer = "一次写出整块，👩‍🔬 再检查。"
        lab.screen.query_one(Writing).insert(answer)
        await lab.settle()
        await lab.press("escape", "s")
        assert in_store(lambda store: store.progress.gates("chinese")["own-words"].evidence) == answer
        for _ in range(8):
            await lab.press("left")
            for row in lab.text.splitlines():
                assert cell_len(row) <= 80
        await lab.press("home", "right", "right", "right")
        rows = lab.text.splitlines()
        starts = {
            cell_len(row[: row.index(words)])
            for words in ("这个说法", "视频里的", "用的是哪")
            for row in rows
            if words in row
        }
        assert len(starts) == 1


async def test_markup_of_a_lesson_stays_text(running, tmp_path: Path) -> None:
    source = (CHINESE / "chinese" / "lesson.toml").read_text()
    folder = tmp_path / "mine" / "chinese"
    folder.mkdir(parents=True)
    (folder / "lesson.toml").write_text(source.replace("速度的说法", "[bold red]name[/] [@click=app.bell]x[/]"))
    async with running(lesson_paths=(tmp_path / "mine",)) as lab:
        lab.app.open_lesson("chinese", "anchor/first-claim")
        await lab.settle()
        assert "[bold red]name[/] [@click=app.bell]x[/]" in lab.text


async def test_what_was_typed_into_the_store_cannot_steer_the_terminal(running, in_store) -> None:
    in_store(lambda store: store.progress.save_guess(LESSON, "more-tools-help", True, "why \x1b]0;owned\x07 not"))
    at_step(in_store, "misconception/more-tools-help")
    async with in_lesson(running) as lab:
        assert "owned" in lab.text
        assert "\x1b" not in lab.text and "\x07" not in lab.text


async def test_a_prediction_is_kept_before_anything_is_told(running, in_store) -> None:
    at_step(in_store, "predict/half-the-length", "kv-cache-line")
    async with running(keys=("down", "down", "enter", "enter"), size=(80, 24)) as lab:
        assert "First write your number" in lab.line
        await lab.press("x", "w")
        await lab.type("twice as many")
        await lab.press("escape", "s")
        assert "number first" in lab.line
        await lab.press("w", "ctrl+a")
        await lab.type("80.31, twice 40.16")
        await lab.press("escape", "s")
        assert "x tells what was recorded" in lab.line
        assert "75.85" not in lab.text
        assert "--max-model-len 768" in lab.text
        await lab.press("x")
        assert "75.85x (recorded, not yours" in " ".join(lab.text.split())
        assert "5.9% too high" in lab.text
        assert "6 + 3 × 7 = 27 blocks" in lab.text
        assert not lab.screen.query(Writing)
        await lab.press("enter")
        assert lab.screen.step.id == "predict/picture-in-the-prompt"
    assert "predict/half-the-length" in in_store(lambda store: standing_of(find_lesson("kv-cache-line"), store).done)


async def test_a_launch_of_ones_own_has_shown_it_when_the_card_comes_back(running, in_store) -> None:
    lesson = find_lesson("kv-cache-line")
    prediction = next(one for one in lesson.predictions if one.id == "half-the-length")
    at_step(in_store, "predict/half-the-length", lesson.id)

    def launch(store) -> None:
        predict(lesson, prediction, "75.85", store)
        command = ("vllm", "serve", "m", "--max-model-len", "768", "--kv-cache-memory-bytes", "134217728")
        launched = store.launches.add("practice", "key", command)
        store.launches.ready(launched.id, 20.0, memory={"max_concurrency": 75.85})

    in_store(launch)
    async with running(keys=("down", "down", "enter"), size=(80, 24)) as lab:
        assert "75.85x (your launch of" in " ".join(lab.text.split())
        assert "Right" in lab.text


async def test_a_launch_that_becomes_ready_meanwhile_shows_it_on_the_card(running, in_store, server) -> None:
    lesson = find_lesson("kv-cache-line")
    at_step(in_store, "predict/half-the-length", lesson.id)
    in_store(lambda store: predict(lesson, lesson.predictions[2], "75.85", store))
    command = ("vllm", "serve", "m", "--max-model-len", "768", "--kv-cache-memory-bytes", "134217728")
    server.launch = ServerState("l", "launched", "http://127.0.0.1:1", "m", "practice", True, 1.0, command=command)
    async with running(keys=("down", "down", "enter"), size=(80, 24)) as lab:
        assert "Not checked yet" in lab.text
        server.status_now = Status("ready", launch_id="l", ready_after_s=20.0, facts={"max_concurrency": 75.85})
        lab.app.look_at_server()
        await lab.settle()
        assert "75.85x (your launch of" in " ".join(lab.text.split())
