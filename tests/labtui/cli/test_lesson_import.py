from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "fixtures" / "pages"
SEED = str(PAGES / "diffusiongemma.txt")


def test_the_seed_as_json(lab, tmp_path):
    report = lab.json("lesson", "import", SEED, "--to", str(tmp_path / "mine"))
    counts = {name: report[name] for name in ("anchors", "misconceptions", "gates", "recall", "practice")}
    assert counts == {"anchors": 7, "misconceptions": 3, "gates": 4, "recall": 3, "practice": 3}
    assert report["unplaced"] == []
    assert Path(report["lesson"]) == tmp_path / "mine" / "lesson.toml"
    assert [one["step"].split("/")[0] for one in report["open"]] == ["recall"] * 3
    checked = lab("lesson", "check", report["lesson"])
    assert checked.exit_code == 0
    assert checked.stderr.count("has no answer yet") == 3
    notes = lab.json("lesson", "check", report["lesson"])
    assert (notes["faults"], len(notes["notes"])) == ([], 3)


def test_stray_lines_are_named_in_words(lab, tmp_path):
    result = lab("lesson", "import", str(PAGES / "tea-stray-lines.txt"), "--to", str(tmp_path / "tea"))
    assert result.exit_code == 0
    assert "Not placed, line 4: Share this page with a friend" in result.stdout
    assert "Open, line 62: recall/which-one-thing-was-changed: the page gives no answer" in result.stdout


def test_pasted_text_goes_among_the_lessons_and_can_be_studied(lab, seed_bytes):
    result = lab("lesson", "import", "-", given=seed_bytes)
    assert result.exit_code == 0
    assert "Every line of the page has its place." in result.stdout
    assert "labtui study diffusiongemma-1100-tokens-sec-googles-fastest" in result.stderr
    ids = [one["id"] for one in lab.json("lessons")]
    assert "diffusiongemma-1100-tokens-sec-googles-fastest" in ids


@pytest.fixture
def seed_bytes():
    return Path(SEED).read_bytes()


def test_captions_are_told_in_words(lab, tmp_path):
    captions = tmp_path / "a.vtt"
    captions.write_text(
        "WEBVTT\n\n00:20.000 --> 00:24.000\nit says rows removed by filter, nine million of them, "
        "that's your second right there\n\n03:45.000 --> 03:50.000\ncreate index on orders customer_id, and we don't "
        "touch anything else\n",
        encoding="utf-8",
    )
    page = str(PAGES / "postgres-straight-crlf.txt")
    result = lab("lesson", "import", page, "--to", str(tmp_path / "p"), "--captions", str(captions))
    assert "0:20 evidence-1: stands there" in result.stdout
    assert "3:15 evidence-2: stands at 3:45, 30 s later" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["absent.txt"], 2, "there is no such file"),
        (["."], 2, "this is a folder"),
        ([SEED, "--captions", SEED], 2, "neither WebVTT nor SRT"),
        ([SEED, "--lang", "en_US"], 2, "no language tag"),
    ],
)
def test_wrong_input_writes_nothing(arguments, code, words, lab, tmp_path):
    result = lab("lesson", "import", *arguments, "--to", str(tmp_path / "out"))
    assert result.exit_code == code
    assert words in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_text_that_is_no_page(lab, tmp_path):
    result = lab("lesson", "import", "-", "--to", str(tmp_path / "out"), given="Dear diary,\ntoday it rained.\n")
    assert result.exit_code == 1
    assert "This is not a learning page" in result.stderr
    assert not (tmp_path / "out").exists()


def test_an_id_that_is_taken_is_said(lab, tmp_path):
    result = lab("lesson", "import", SEED, "--to", str(tmp_path / "diffusiongemma"))
    assert "There is a lesson with the id diffusiongemma already" in result.stderr
