"""What Anki gets is read back with Anki's own library: notes, their ids after an edit, and no duplicates."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from labtui.artifacts.anki import cards, to_anki_text, to_apkg
from labtui.artifacts.document import collect
from labtui.artifacts.writing import export_lesson


@pytest.fixture
def edited(lesson):
    """The lesson after its texts were edited; its ids stay."""
    first, *rest = lesson.recall
    return replace(
        lesson,
        title="Blocks :: edited",
        recall=(replace(first, question="Which tradeoff, edited?", points=("slower", "better")), *rest),
    )


def test_ids_are_made_of_ids_alone(lesson, edited):
    before, after = cards(lesson), cards(edited)
    assert [card.guid for card in before] == [card.guid for card in after]
    assert len({card.guid for card in before}) == 4
    assert before[0].question != after[0].question
    assert cards(replace(lesson, id="other"))[0].guid != before[0].guid


def test_text_of_others_is_text_and_links_lead_to_the_second(lesson):
    nasty = replace(
        lesson.recall[0],
        question="<script>x</script>\t\n",
        answer="<img src=x>",
        points=("a\tb",),
        anchors=("speed-claim",),
    )
    card = cards(replace(lesson, recall=(nasty,)))[0]
    assert "<script" not in card.question and "<img" not in card.answer
    assert "t=34s" in card.source and "over 1,100 tokens per second" in card.source


def test_the_text_form_has_a_line_for_each_note(lesson, store, now):
    written = to_anki_text(collect(lesson, store, now))
    head = [line for line in written.splitlines() if line.startswith("#")]
    rows = list(csv.reader((line for line in written.splitlines() if not line.startswith("#")), delimiter="\t"))
    assert "#separator:tab" in head and "#guid column:1" in head
    assert [row[0] for row in rows] == [card.guid for card in cards(lesson)]
    assert all(len(row) == 4 for row in rows)
    assert written.splitlines()[len(head)].startswith('"'), "a GUID that begins with # is no remark"
    assert "labtui::small" in rows[0][3]


def anki_collection(tmp_path):
    collection = pytest.importorskip("anki.collection", reason="Anki's library is not installed for this platform")
    return collection.Collection(str(tmp_path / "collection.anki2"))


def import_package(collection, path):
    from anki.collection import ImportAnkiPackageOptions, ImportAnkiPackageRequest

    request = ImportAnkiPackageRequest(package_path=str(path), options=ImportAnkiPackageOptions())
    return collection.import_anki_package(request)


def notes_of(collection) -> dict[str, tuple[int, list[str]]]:
    """By GUID: the note's own number in this collection, and its fields."""
    return {note.guid: (note.id, note.fields) for note in map(collection.get_note, collection.find_notes(""))}


def test_anki_takes_the_package_and_an_edit_changes_the_same_notes(lesson, edited, store, now, tmp_path):
    collection = anki_collection(tmp_path)
    try:
        first, _ = export_lesson(lesson, store, ["anki"], tmp_path / "first", now=now)
        import_package(collection, first)
        before = notes_of(collection)
        assert before.keys() == {card.guid for card in cards(lesson)}
        assert collection.decks.by_name("labtui::Blocks at 1,100 tok/s | a talk") is not None
        assert len(collection.find_cards("tag:labtui::small")) == 4
        import_package(collection, first)
        assert notes_of(collection) == before, "the same package a second time changes nothing"
        second, _ = export_lesson(edited, store, ["anki"], tmp_path / "second", now=now.replace(hour=23))
        import_package(collection, second)
        after = notes_of(collection)
        assert {guid: number for guid, (number, _) in after.items()} == {
            guid: number for guid, (number, _) in before.items()
        }, "the same notes, with their numbers and so with their review history"
        changed = [guid for guid in before if before[guid] != after[guid]]
        assert changed == [cards(lesson)[0].guid]
        assert "edited?" in after[changed[0]][1][0]
    finally:
        collection.close()


def test_anki_takes_the_text_form_and_again_without_duplicates(lesson, edited, store, now, tmp_path):
    collection = anki_collection(tmp_path)
    from anki.collection import ImportCsvRequest

    def import_text(of):
        _, text = export_lesson(of, store, ["anki"], tmp_path / "out", now=now)
        metadata = collection.get_csv_metadata(str(text), delimiter=None)
        collection.import_csv(ImportCsvRequest(path=str(text), metadata=metadata))
        return notes_of(collection)

    try:
        before = import_text(lesson)
        assert before.keys() == {card.guid for card in cards(lesson)}
        assert "Which tradeoff?" in before[cards(lesson)[0].guid][1][0]
        after = import_text(edited)
        assert {guid: number for guid, (number, _) in after.items()} == {
            guid: number for guid, (number, _) in before.items()
        }
        assert "edited?" in after[cards(lesson)[0].guid][1][0]
        assert len(collection.find_notes("tag:labtui::small")) == 4
    finally:
        collection.close()


def test_a_lesson_without_questions_makes_an_empty_package(lesson, store, now):
    bare = replace(lesson, recall=(), misconceptions=())
    assert to_apkg(collect(bare, store, now)).startswith(b"PK")
