from __future__ import annotations

import pytest

from labtui.made import keep_piece, kept_piece
from labtui.screens.lesson import LessonScreen
from labtui.screens.studio import StudioScreen
from labtui.screens.studio_form import StudioForm
from labtui.screens.teach_timer import TeachTimer
from labtui.widgets.choices import Choices
from lessons.finding import find_lesson
from lessons.studio.pieces import EvidenceMap, EvidenceMapRow, HarnessMap, HarnessStage, TeachBack

LESSON = find_lesson("diffusiongemma")
PRACTICE = {piece.id: piece for piece in LESSON.practice}
ROWS = tuple(EvidenceMapRow(at, f"claim at {at}", "it ran once", "low", "the flags") for at in ("0:34", "2:18", "4:15"))
MAP = EvidenceMap(ROWS, "when I choose a card")
HARNESS = HarnessMap(tuple(HarnessStage(card.stage, "a", "b", "c") for card in LESSON.cards), "Verifier", "a red test")


def at_practice(in_store, piece: str) -> None:
    in_store(lambda store: store.progress.set_position(LESSON.id, f"practice/{piece}"))


def put(in_store, piece_id: str, piece) -> None:
    at_practice(in_store, piece_id)
    in_store(lambda store: keep_piece(LESSON, PRACTICE[piece_id], piece, store))


def kept(in_store, piece_id: str):
    return in_store(lambda store: kept_piece(LESSON, PRACTICE[piece_id], store))


def in_studio(running, *keys: str, **options):
    return running(keys=("down", "enter", "enter", *keys), **options)


async def test_a_row_is_added_field_by_field_and_is_there_after_a_kill(running, in_store) -> None:
    at_practice(in_store, "evidence-map")
    async with in_studio(running, "a", "right", "right", "right", "tab") as lab:
        assert isinstance(lab.screen, StudioForm)
        await lab.type("loads")
        await lab.press("tab")
        await lab.type("once")
        await lab.press("tab", "right", "tab")
        await lab.type("flags")
        # What kill -9 would leave behind is what is on the disk now.
        found = kept(in_store, "evidence-map")
        assert found.draft
        assert found.piece.rows == (EvidenceMapRow("4:15", "loads", "once", "low", "flags"),)
        assert in_store(lambda store: store.progress.notes(LESSON.id)) == {}
        assert "“is through Transformers" in lab.text
    async with in_studio(running) as lab:
        assert "4:15  loads" in lab.text
        assert "The map needs 3 rows, there is one." in lab.text


async def test_leaving_keeps_a_version_beside_the_earlier_ones(running, in_store) -> None:
    put(in_store, "evidence-map", MAP)
    async with in_studio(running, "x", "escape") as lab:
        assert isinstance(lab.screen, LessonScreen)
    assert kept(in_store, "evidence-map").piece.rows == ROWS[1:]
    assert len(in_store(lambda store: store.progress.note_history(LESSON.id))) == 2
    async with in_studio(running, "y", size=(80, 60)) as lab:
        assert "claim at 0:34" in lab.text
    assert len(in_store(lambda store: store.progress.note_history(LESSON.id))) == 2


async def test_looking_alone_keeps_nothing(running, in_store) -> None:
    at_practice(in_store, "useful-artifact")
    async with in_studio(running, "enter", "escape", "escape", "escape") as lab:
        assert isinstance(lab.screen, LessonScreen)
    assert in_store(lambda store: store.progress.note_history(LESSON.id)) == []


async def test_a_row_that_was_taken_away_is_put_back_where_it_was(running, in_store) -> None:
    put(in_store, "evidence-map", MAP)
    async with in_studio(running, "down", "x") as lab:
        assert "Row 2 is taken away" in lab.line
        assert kept(in_store, "evidence-map").piece.rows == (ROWS[0], ROWS[2])
        await lab.press("u")
        assert kept(in_store, "evidence-map").piece == MAP
        assert lab.screen.query_one(Choices).chosen_id == "part/1"


async def test_a_whole_piece_says_so_and_its_card_is_done(running, in_store) -> None:
    put(in_store, "evidence-map", MAP)
    async with in_studio(running) as lab:
        assert "✓ NOTHING IS MISSING" in lab.text
        assert "this piece is done" in lab.line
        await lab.press("escape")
        assert "✓" in lab.title
        assert "claim: claim at 0:34" in lab.text


async def test_faults_of_a_row_are_said_where_it_is_written(running, in_store) -> None:
    invented = "He said “nothing that was ever said there at all”."
    put(in_store, "evidence-map", EvidenceMap((EvidenceMapRow("9:59", invented, "x", "sure", "y"), *ROWS[1:]), "z"))
    async with in_studio(running) as lab:
        shown = " ".join(lab.text.split())
        assert "9:59 is no anchor of this lesson; the nearest is" in shown
        assert "stands in no quotation of this lesson" in shown
        await lab.press("enter")
        assert "9:59 is no anchor" in lab.line
        assert "[sure ?]" in lab.text
        await lab.press("tab", "tab", "tab", "right")
        assert kept(in_store, "evidence-map").piece.rows[0].confidence == "low"


async def test_o_opens_the_second_of_a_row(running, in_store) -> None:
    put(in_store, "evidence-map", MAP)
    async with in_studio(running, "down", "o") as lab:
        assert "t=138s opens the video at 2:18" in lab.line


async def test_a_harness_map_has_all_stages_and_w_marks_the_weakest(running, in_store) -> None:
    at_practice(in_store, "useful-artifact")
    async with in_studio(running, "down", "down", "enter") as lab:
        await lab.type("lab")
        await lab.press("escape", "escape", "w")
        piece = kept(in_store, "useful-artifact").piece
        assert [stage.stage for stage in piece.stages] == [card.stage for card in LESSON.cards]
        assert (piece.stages[2].here, piece.weakest) == ("lab", "Harness")
        assert "weakest" in lab.text
        assert "Harness: the tool boundary is missing" in lab.text


async def test_arrows_walk_the_entries_of_a_form(running, in_store) -> None:
    put(in_store, "useful-artifact", HARNESS)
    async with in_studio(running, "enter", "escape") as lab:
        assert lab.title.split("▸")[-1].startswith(" Intent")
        await lab.press("left")
        assert "first entry" in lab.line
        await lab.press("right", "escape")
        assert lab.title.split("▸")[-1].startswith(" Model")
        await lab.press(*("right", "escape") * 6, "right")
        assert "last entry" in lab.line
        assert "How I would notice" in lab.title


async def test_a_teach_back_is_timed(running, in_store, monkeypatch) -> None:
    put(in_store, "teach-back", TeachBack("It writes a whole block at once.", "[..]", "a draft", "that it is better"))
    now = [100.0]
    monkeypatch.setattr("labtui.screens.teach_timer.monotonic", lambda: now[0])
    async with in_studio(running, "t") as lab:
        assert isinstance(lab.screen, TeachTimer)
        assert "It writes a whole block" in lab.text
        await lab.press("space", "space")
        assert "Nobody says it that fast" in lab.line
        assert kept(in_store, "teach-back").piece.seconds is None
        await lab.press("space")
        now[0] += 120
        lab.screen.tick()
        await lab.settle()
        assert "0:30 over" in lab.text
        await lab.press("space")
        assert "leave something out" in lab.line
        assert kept(in_store, "teach-back").piece.seconds == 120
        await lab.press("r", "space")
        now[0] += 80
        await lab.press("space")
        assert "1:20 is kept" in lab.line
        await lab.press("escape")
        assert "NOTHING IS MISSING" in lab.text
        assert "1:20 of 1:30" in lab.text


async def test_what_was_written_before_there_was_a_studio_is_still_there(running, in_store) -> None:
    at_practice(in_store, "teach-back")
    in_store(lambda store: store.progress.save_note(LESSON.id, "practice/teach-back", "It came out well."))
    async with running(keys=("down", "enter")) as lab:
        assert "It came out well." in lab.text
        await lab.press("enter")
        assert "y shows it" in lab.line
        await lab.press("enter")
        await lab.type("new")
        await lab.press("escape", "escape", "y")
        assert "It came out well." in lab.text


async def test_a_gate_opens_the_piece_that_counts(running, in_store) -> None:
    in_store(lambda store: store.progress.set_position(LESSON.id, "gate/mapped-weakest-link"))
    async with running(keys=("down", "enter")) as lab:
        assert "The harness map was not begun yet." in lab.text
        await lab.press("u")
        assert isinstance(lab.screen, StudioScreen)
        assert lab.screen.practice_id == "useful-artifact"
        await lab.press("escape")
        put(in_store, "useful-artifact", HARNESS)
        await lab.press("left", "right")
        lab.screen.on_screen_resume()
        await lab.settle()
        assert "✓ Nothing is missing." in lab.text
        assert "✓" in lab.title


@pytest.mark.parametrize("kind", ["checklist", "transfer"])
async def test_the_other_kinds_open_too(running, in_store, tmp_path, kind) -> None:
    folder = tmp_path / "mine" / "small"
    folder.mkdir(parents=True)
    source = LESSON.path if LESSON.path.is_file() else LESSON.path / "lesson.toml"
    text = source.read_text().replace('id = "diffusiongemma"', 'id = "small"', 1)
    (folder / "lesson.toml").write_text(text.replace('piece = "teach-back"', f'piece = "{kind}"'))
    async with running(lesson_paths=(tmp_path / "mine",)) as lab:
        lab.app.open_lesson("small", "practice/teach-back")
        await lab.settle()
        await lab.press("enter")
        assert "STILL MISSING (" in lab.text
        await lab.press("a" if kind == "checklist" else "enter")
        await lab.type("pin it")
        await lab.press("escape", "escape")
        assert "pin it" in lab.text


@pytest.mark.parametrize("piece", ["evidence-map", "useful-artifact", "teach-back"])
def test_pictures_of_the_studio(snap_compare, make_app, after_keys, in_store, piece) -> None:
    unfinished = {
        "evidence-map": EvidenceMap((*ROWS[:2], EvidenceMapRow("9:59", "it needs no tools"))),
        "useful-artifact": HarnessMap(
            (*HARNESS.stages[:4], *(HarnessStage(c.stage) for c in LESSON.cards[4:])), "Tools"
        ),
        "teach-back": TeachBack("It writes a whole block at once.", "[....] > [a..b] > [axxb]", seconds=84.0),
    }
    put(in_store, piece, unfinished[piece])
    assert snap_compare(make_app(), run_before=after_keys("down", "enter", "enter"))


def test_a_picture_of_a_row(snap_compare, make_app, after_keys, in_store) -> None:
    put(in_store, "evidence-map", MAP)
    assert snap_compare(make_app(), run_before=after_keys("down", "enter", "enter", "down", "enter", "escape"))


def test_a_picture_of_an_open_gate(snap_compare, make_app, after_keys, in_store, make_run) -> None:
    in_store(lambda store: store.runs.add(make_run(id="20260302-1a2b")))
    in_store(lambda store: store.progress.save_gate(LESSON.id, "artifact-with-evidence", "See the map."))
    in_store(lambda store: store.progress.set_position(LESSON.id, "gate/artifact-with-evidence"))
    assert snap_compare(make_app(), run_before=after_keys("down", "enter"))
