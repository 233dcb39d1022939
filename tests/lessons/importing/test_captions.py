import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.errors import LessonError
from lessons.importing.captions import read_captions
from lessons.importing.importer import import_page, to_json
from lessons.importing.quotations import standing

VTT = """WEBVTT
Kind: captions

00:00:30.000 --> 00:00:34.500
But this model from Google is

00:00:34.500 --> 00:00:38.000
slightly different.<00:00:36.000><c> Just imagine</c>

01:02:03.250 --> 01:02:06.000
the end
"""
SRT = "1\n00:00:01,500 --> 00:00:03,000\n<i>first words</i>\n\n2\n00:00:03,000 --> 00:00:05,000\nsecond words\n"


def test_vtt():
    captions = read_captions(VTT, "a.vtt")
    assert captions.cues == 3
    assert [word.text for word in captions.words][:6] == ["but", "this", "model", "from", "google", "is"]
    assert captions.words[-1].start_s == 3723.25
    assert "just" in [word.text for word in captions.words]


@pytest.mark.parametrize("text", [SRT, SRT.removeprefix("1\n"), "\n\n" + SRT])
def test_srt(text):
    captions = read_captions(text, "a.srt")
    assert [(word.text, word.start_s) for word in captions.words][:2] == [("first", 1.5), ("words", 1.5)]


def test_rolling_captions_say_each_line_once():
    rolling = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\nthe quick brown\n\n00:02.000 --> 00:03.000\nthe quick brown\nfox jumps\n\n"
        "00:03.000 --> 00:04.000\nfox jumps\nover it\n"
    )
    assert " ".join(word.text for word in read_captions(rolling, "a").words) == "the quick brown fox jumps over it"


@pytest.mark.parametrize("text", ["", "WEBVTT\n", "no captions at all", "1\n2\n3\n", "WEBVTT\n\n00:01 --> x\na"])
def test_what_holds_no_captions(text):
    with pytest.raises(LessonError) as caught:
        read_captions(text, "a\x1b.vtt")
    assert caught.value.exit_code == 2
    assert caught.value.cause.isprintable()


@settings(max_examples=200)
@given(st.data())
def test_damaged_captions_give_words_or_a_message(data):
    text = list(data.draw(st.sampled_from([VTT, SRT])))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at] = data.draw(st.sampled_from(["", "\n", "-->", ":", "<", "9" * 30, "é"]) | st.characters(codec="utf-8"))
    try:
        captions = read_captions("".join(text), "a.vtt")
    except LessonError as error:
        assert error.cause.isprintable()
    else:
        assert captions.words
        assert all(0 <= word.start_s <= word.end_s for word in captions.words)


def cues(words, start_s=0.0, per_cue=5, seconds=2.0):
    rows = ["WEBVTT", ""]
    for number, first in enumerate(range(0, len(words), per_cue)):
        begin, end = start_s + number * seconds, start_s + (number + 1) * seconds
        rows += [f"{stamp(begin)} --> {stamp(end)}", " ".join(words[first : first + per_cue]), ""]
    return read_captions("\n".join(rows), "made.vtt")


def stamp(seconds):
    return f"{int(seconds // 3600):02}:{int(seconds // 60 % 60):02}:{seconds % 60:06.3f}"


WORDS = [f"word{number}" for number in range(300)]


@given(st.integers(0, 280), st.integers(8, 20))
def test_a_quotation_is_found_in_its_cue(first, length):
    captions = cues(WORDS)
    at = first // 5 * 2
    one = standing("a", at, " ".join(WORDS[first : first + length]).upper() + "...", captions)
    assert (one.stands, one.found_s, one.share) == (True, at, 1.0)


@given(st.integers(10, 250), st.integers(-15, 15).filter(lambda shift: abs(shift) > 3))
def test_the_distance_is_shown_when_it_stands_elsewhere(first, shift):
    at = first // 5 * 2 + shift
    one = standing("a", at, " ".join(WORDS[first : first + 10]), cues(WORDS))
    assert not one.stands
    assert one.distance_s == -shift
    assert one.found_s == at - shift


def test_the_nearest_of_several_places_counts():
    captions = cues([*WORDS[:50], *WORDS[:50]])
    assert standing("a", 20, " ".join(WORDS[:10]), captions).found_s == 20


def test_words_heard_otherwise_are_still_found_and_their_share_is_told():
    quote = [*WORDS[100:110], "uh", *WORDS[111:120]]
    one = standing("a", 40, " ".join(quote), cues(WORDS))
    assert one.stands
    assert one.share == 0.95


def test_a_quotation_that_nobody_says():
    one = standing("a", 40, "entirely different words that are not there", cues(WORDS))
    assert (one.stands, one.found_s, one.distance_s, one.share) == (False, None, None, 0.0)


def test_an_import_with_captions(seed_text, tmp_path):
    rng = random.Random(1)
    lesson = import_page(seed_text.encode(), "page.txt", tmp_path / "plain")
    rows = ["WEBVTT", ""]
    from lessons.loading import load_lesson

    for anchor in load_lesson(lesson.path).anchors:
        shift = 12 if anchor.id == "evidence-4" else 0
        spoken = "nothing of the kind" if anchor.id == "evidence-7" else anchor.quote.rstrip(".")
        words = spoken.split()
        for first in range(0, len(words), 6):
            begin = anchor.start_s + shift + first / 3
            rows += [f"{stamp(begin)} --> {stamp(begin + 2 + rng.random())}", " ".join(words[first : first + 6]), ""]
    file = tmp_path / "captions.vtt"
    file.write_text("\r\n".join(rows), encoding="utf-8-sig")
    found = import_page(seed_text.encode(), "page.txt", tmp_path / "checked", captions=file)
    shown = {one["anchor"]: one for one in to_json(found)["captions"]["anchors"]}
    assert [name for name, one in shown.items() if one["stands"]] == [
        f"evidence-{number}" for number in (1, 2, 3, 5, 6)
    ]
    assert (shown["evidence-4"]["found_s"], shown["evidence-4"]["distance_s"]) == (349 + 12, 12)
    assert shown["evidence-7"]["found_s"] is None


def test_captions_count_the_words_where_the_page_does_not(seed_text, tmp_path):
    from lessons.loading import load_lesson

    file = tmp_path / "a.srt"
    file.write_text(SRT, encoding="utf-8")
    page = seed_text.replace("1,950 cleaned transcript words reviewed across 616 timed caption segments.\n", "")
    video = load_lesson(import_page(page.encode(), "page.txt", tmp_path / "l", captions=file).path).video
    assert (video.transcript_words, video.transcript_segments) == (4, 2)
