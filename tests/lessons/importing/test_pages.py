"""Whole pages: what is in each part of the lesson that comes out."""

import re
import tomllib
from pathlib import Path

import pytest

from lessons.importing.importer import import_page, to_json
from lessons.importing.page import split_page
from lessons.importing.page_text import page_lines
from lessons.prompt import grounded_prompt
from lessons.words import plain_form

PAGES = Path(__file__).parents[2] / "fixtures" / "pages"
COUNTS = {
    "diffusiongemma": (7, 3, 4, 3, 3, 6, 3, 3, 4),
    "sourdough-hours": (4, 2, 2, 4, 2, 4, 3, 1, 2),
    "bike-fit-missing": (2, 0, 1, 2, 1, 0, 2, 0, 1),
    "waermepumpe-deutsch": (3, 1, 3, 2, 1, 5, 2, 2, 3),
    "knife-japanese": (2, 2, 2, 2, 1, 3, 2, 1, 1),
    "postgres-straight-crlf": (2, 1, 1, 1, 1, 3, 2, 2, 1),
    "chess-twelve-anchors": (12, 0, 5, 5, 4, 3, 1, 0, 1),
}
PARTS = (
    "anchors",
    "misconceptions",
    "gates",
    "recall",
    "practice",
    "cards",
    "deep_points",
    "examples",
    "pitfalls",
)


@pytest.mark.parametrize("page", COUNTS)
def test_every_part_is_found_and_nothing_is_left_over(page, imported):
    found, lesson = imported((PAGES / f"{page}.txt").read_bytes())
    report = to_json(found)
    assert report["unplaced"] == []
    assert tuple(report[part] for part in PARTS) == COUNTS[page]
    assert tuple(len(getattr(lesson, part)) for part in PARTS) == COUNTS[page]
    assert len(found.open) == len(lesson.recall)


@pytest.mark.parametrize("page", [*COUNTS, "tea-stray-lines"])
def test_nothing_is_dropped_in_silence_and_nothing_is_invented(page, imported):
    content = (PAGES / f"{page}.txt").read_bytes()
    text = content.decode("utf-8-sig")
    found, _ = imported(content)
    values = "\n".join(texts(tomllib.loads(found.path.read_text(encoding="utf-8"))))
    lines = page_lines(text.replace("\r", ""))
    headings = {line.text for line in lines} - {
        line.text for part in split_page(lines).sections.values() for line in part
    }
    placed = plain_form(values + "\n".join([*headings, *LAYOUT, *(one.text for one in found.unplaced)]))
    assert [piece for piece in pieces(text) if piece not in placed and "watchtranscript" not in piece] == []
    assert [piece for piece in pieces(values) if piece not in plain_form(text)] == []


LAYOUT = (
    "cleaned transcript words reviewed across",
    "timed caption segments",
    "Skill you build",
    "My current learning frame",
    "Why this matters",
    "Warum das zählt",
    "Transcript anchors from this exact video",
)


def texts(value):
    if isinstance(value, str):
        yield value
    for key, entry in value.items() if isinstance(value, dict) else ():
        if key not in ("id", "anchors", "lang"):
            yield from texts(entry)
    for entry in value if isinstance(value, list) else ():
        yield from texts(entry)


def pieces(text):
    """Runs of three words or more between marks: a line may be taken apart at these."""
    for row in text.splitlines():
        for piece in re.split(r"[:：.,;。、？?！!…\"“”„「」()\d]|->", row):
            if len(plain_form(piece).split()) >= 3 or (len(piece) >= 8 and not piece.isascii()):
                yield plain_form(piece)


def test_the_seed_in_detail(seed_text, imported):
    found, lesson = imported(seed_text)
    assert lesson.title == "DiffusionGemma: 1100 Tokens/sec: Google's Fastest Open Model Yet Locally"
    assert lesson.summary.startswith("An install-and-test walkthrough")
    assert (lesson.video.url, lesson.video.channel) == ("https://www.youtube.com/watch?v=hwKZq0_xG5M", "Fahd Mirza")
    assert (lesson.video.transcript_words, lesson.video.transcript_segments) == (1950, 616)
    assert [card.stage for card in lesson.cards] == ["Intent", "Model", "Harness", "Tools", "Verifier", "Artifact"]
    assert [anchor.start_s for anchor in lesson.anchors] == [34, 138, 255, 349, 488, 595, 686]
    assert [card.anchors for card in lesson.cards[:3]] == [("evidence-1",), ("evidence-3",), ()]
    assert [point.anchors for point in lesson.deep_points] == [("evidence-1",), ("evidence-3",), ("evidence-5",)]
    assert [point.task.split()[0] for point in lesson.deep_points] == ["Sketch", "Write", "List"]
    assert lesson.frame.skill.startswith("The ability to deploy")
    assert lesson.frame.watch_for.startswith("Watch for the shift")
    assert lesson.frame.thesis.startswith("DiffusionGemma: 1100 Tokens/sec")
    assert lesson.frame.goal.startswith("The goal is not to remember")
    assert [item.answer for item in lesson.recall] == ["", "", ""]
    assert [piece.done_signal.split()[0] for piece in lesson.practice] == ["3", "A", "A"]
    assert not lesson.practice[0].done_signal.endswith("02")
    assert (len(lesson.prompt.tasks), len(lesson.prompt.includes), len(lesson.prompt.quality_bar)) == (7, 6, 5)
    assert lesson.prompt.topic == "Agent Architecture"
    assert lesson.gates[0].title == "State the transcript-backed claim in your own words"
    assert {part.step.split("/")[0] for part in found.open} == {"recall"}


def test_the_prompt_of_the_seed_comes_out_as_it_stands_on_the_page(seed_text, imported):
    _, lesson = imported(seed_text)
    prompt = " ".join(grounded_prompt(lesson).split())
    page = seed_text[seed_text.index("You are helping me") : seed_text.index("Misconceptions\n")]
    for line in page.splitlines():
        if not line.endswith(":") and not line.startswith(("- My current", "- Why this", "- Title", "- URL")):
            assert " ".join(line.lstrip("- ").split()) in prompt
    include = prompt.index("5. Include:")
    assert include < prompt.index("a plain-English definition") < prompt.index("6. Add a")


def test_hours(imported):
    _, lesson = imported((PAGES / "sourdough-hours.txt").read_bytes())
    assert [anchor.start_s for anchor in lesson.anchors] == [245, 1900, 3723, 10070]
    assert lesson.deep_points[1].anchors == ("evidence-3",)
    assert lesson.cards[2].anchors == ("evidence-3",)
    assert [(source.title, source.url) for source in lesson.sources] == [
        ("The Bread Science Notes", "https://bread.example.org/notes"),
        ("Fermentation kinetics, a review", "https://journal.example.org/ferment-12"),
    ]


def test_a_page_without_prompt_has_the_quotations_of_its_points_as_anchors(imported):
    _, lesson = imported((PAGES / "bike-fit-missing.txt").read_bytes())
    assert [anchor.title for anchor in lesson.anchors] == ["Saddle first", "Reach"]
    assert (lesson.video.url, lesson.video.title) == ("", "Bike Fit in Ten Minutes")
    assert lesson.frame.watch_for == ""


def test_labels_of_another_language_go_by_their_order(imported):
    _, lesson = imported((PAGES / "waermepumpe-deutsch.txt").read_bytes(), lang="de")
    assert lesson.lang == "de"
    assert lesson.prompt.topic == "Heizung"
    assert lesson.prompt.learning_frame == "Vorlauf messen und entscheiden."
    assert lesson.anchors[2].title == "Beleg 3"
    assert lesson.anchors[0].quote.startswith("wenn du an dem")
    assert lesson.frame.watch_for.startswith("Achte auf")
    assert lesson.video.transcript_words == 3204
    assert len(lesson.prompt.includes) == 2


def test_a_script_that_does_not_part_words(imported):
    _, lesson = imported((PAGES / "knife-japanese.txt").read_bytes())
    assert lesson.lang == "ja"
    assert lesson.anchors[0].quote == "ここを指でなでると、ほら、引っかかるでしょう、これが返りです"
    assert lesson.deep_points[0].anchors == ("evidence-1",)
    assert [item.id for item in lesson.recall] == ["recall-1", "recall-2"]
    assert lesson.prompt.includes == ("一文の定義", "次に研ぐときの確認表")


def test_letters_that_have_no_name_settle_no_language(seed_text, imported):
    _, lesson = imported(seed_text.replace("canvas", "\U000175c0\U00017000").encode())
    assert lesson.lang == "en"


def test_quotation_marks_inside_texts_stay(imported):
    _, lesson = imported((PAGES / "postgres-straight-crlf.txt").read_bytes())
    assert lesson.deep_points[0].body.startswith('"Rows removed by filter" counts')
    assert lesson.sources[0].url == "https://www.postgresql.org/docs/current/indexes.html"


@pytest.mark.parametrize("change", ["curly", "crlf", "bom", "utf16", "blank lines", "no-break spaces", "cr"])
def test_the_same_lesson_however_the_page_was_saved(change, seed_text, tmp_path):
    text = seed_text
    match change:
        case "curly":
            text = text.replace('"But', "“But").replace('..."', "...”")
        case "crlf":
            text = text.replace("\n", "\r\n")
        case "cr":
            text = text.replace("\n", "\r")
        case "bom":
            text = "\ufeff" + text
        case "blank lines":
            text = text.replace("\n", "\n  \n\t\n")
        case "no-break spaces":
            text = text.replace(" ", "\u00a0")
    content = text.encode("utf-16") if change == "utf16" else text.encode()
    plain = import_page(seed_text.encode(), "page.txt", tmp_path / "a" / "same")
    changed = import_page(content, "page.txt", tmp_path / "b" / "same")
    lines = [one for one in changed.path.read_text(encoding="utf-8").splitlines() if not one.startswith("#")]
    assert lines == [one for one in plain.path.read_text(encoding="utf-8").splitlines() if not one.startswith("#")]


def test_lines_that_have_no_place_are_named(imported):
    content = (PAGES / "tea-stray-lines.txt").read_bytes()
    found, lesson = imported(content)
    rows = content.decode().splitlines()
    assert all(rows[one.line - 1] == one.text for one in found.unplaced)
    assert [one.line for one in found.unplaced] == [
        *(4, 11, 21, 22, 23, 24, 27, 28, 34, 36, 39, 42, 49, 52, 57, 58, 59, 63, 64, 67),
    ]
    assert len(lesson.recall) == 1
    assert all(f"{one.line}: " in found.path.read_text(encoding="utf-8") for one in found.unplaced)


def test_a_stray_line_does_not_shift_what_follows(seed_text, imported):
    _, plain = imported(seed_text)
    rows = seed_text.splitlines()
    ends = ("Fahd MirzaWatchTranscript found", "06Artifact", "then verify with primary sources.")
    for end in (*ends, "check-for-understanding question.", "proof signals.", "learning app."):
        at = max(number for number, row in enumerate(rows, 1) if row.endswith(end))
        found, lesson = imported("\n".join([*rows[:at], "xyzzy plugh stray", *rows[at:]]))
        assert [(one.line, one.text) for one in found.unplaced] == [(at + 1, "xyzzy plugh stray")], rows[at - 1]
        assert lesson.misconceptions == plain.misconceptions
        assert lesson.gates == plain.gates
        assert lesson.anchors == plain.anchors
