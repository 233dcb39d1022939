import os
import tomllib

import pytest

from lessons import checking
from lessons.checking import Fault, check_lesson
from lessons.scaffold import scaffold
from lessons.schema import SIZE_LIMIT_BYTES


def test_the_built_in_lesson_has_no_fault(built_in_text, write_lesson):
    assert check_lesson(write_lesson(built_in_text)) == []


def test_a_fault_reads_as_file_line_message(tmp_path):
    assert str(Fault(tmp_path, 3, "x is missing")) == f"{tmp_path}:3: x is missing"


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        (
            'stage = "Intent"',
            'stge = "Intent"',
            'stage = "Intent"',
            'unknown key "stge" in [[card]]; did you mean "stage"?',
        ),
        ('stage = "Intent"\n', "", "[[card]]", "stage is missing in [[card]]"),
        ('lang = "en"', 'lnag = "en"', 'lang = "en"', 'unknown key "lnag"; did you mean "lang"?'),
        ("[[recall]]", "[[recal]]", "[[recall]]", 'unknown key "recal"; did you mean "recall"?'),
        ("[[example]]", "[example]", "[[example]]", "start each with [[example]]"),
        ("[frame]", "[[frame]]", "[frame]", "frame must be a table: start it with [frame]"),
        ('stage = "Intent"', "stage = 3", 'stage = "Intent"', "stage must be a text in quotes, not a whole number"),
        ("minutes = 30", "minutes = true", "minutes = 30", "minutes must be a whole number, not true or false"),
        ("minutes = 30", "minutes = 0", "minutes = 30", "minutes must be from 1 to"),
        ('points = ["One part of it"', 'points = ["ok", ""', "points =", "points, entry 2, is empty"),
        ('stage = "Intent"', 'stage = " "', 'stage = "Intent"', "stage is empty"),
        ('stage = "Intent"', 'stage = "a\\u001b[2J"', 'stage = "Intent"', "control character U+001B"),
        ('stage = "Intent"', 'stage = "a\\u202eb"', 'stage = "Intent"', "control character U+202E"),
        ('stage = "Intent"', 'stage = "a\\nb"', 'stage = "Intent"', "stage must be one line"),
        ('id = "intent"', 'id = "In Tent"', 'id = "intent"', '"In Tent" is no id'),
        ('id = "intent"', 'id = "' + "a" * 65 + '"', 'id = "intent"', "is 65 characters long; 64 is the most"),
        ('\nat = "1:23"', '\nat = "1:83"', '\nat = "1:23"', 'at "1:83" is not a time'),
        ('url = "https://example.org/video"', 'url = "javascript:x"', "url =", "is no web address"),
        ('lang = "en"', 'lang = "en_US!"', 'lang = "en"', "is no language tag"),
    ],
)
def test_one_fault_with_its_line(old, new, place, message, faults_after, line_of):
    line = line_of(place.lstrip("\n")) if not place.startswith("\n") else line_of(place) + 1
    assert line in [found for found, text in faults_after(old, new) if message in text]


def test_all_faults_are_reported_in_the_order_of_lines(write_lesson):
    text = scaffold("sample").replace('stage = "Intent"', "stage = 1").replace('id = "a-case"', 'id = "A"')
    text = text.replace('lang = "en"', 'lang = ""')
    found = check_lesson(write_lesson(text))
    assert [fault.message.split()[0] for fault in found] == ["lang", "stage", "id"]
    assert found == sorted(found, key=lambda fault: fault.line)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('stage = "Intent', "not valid TOML"),
        ("stage = 4:15", 'write a time in quotes: at = "4:15"'),
        ("stage = " + "[" * 5000, "nested too deeply"),
        ("stage = " + "1" * 5000, "not valid TOML"),
        ('stage = "a"\nstage = "b"', "not valid TOML"),
        ('stage = "\\ud800"', "not valid TOML"),
    ],
)
def test_what_is_no_toml(line, message, write_lesson):
    found = check_lesson(write_lesson(scaffold("sample").replace('stage = "Intent"', line)))
    assert len(found) == 1
    assert message in found[0].message


def test_a_syntax_error_names_its_line(faults_after, line_of):
    assert faults_after('stage = "Intent"', 'stage = "Intent')[0][0] == line_of('stage = "Intent"')


def test_line_ends_and_byte_order_mark_do_not_matter(write_lesson):
    text = scaffold("sample").replace('stage = "Intent"', "stage = 1")
    expected = check_lesson(write_lesson(text))
    assert len(expected) == 1
    assert check_lesson(write_lesson(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())) == expected


def test_bytes_that_are_no_utf_8(write_lesson, line_of):
    content = scaffold("sample").encode().replace(b'stage = "Intent"', b'stage = "\xe9"')
    [fault] = check_lesson(write_lesson(content))
    assert (fault.line, fault.message) == (
        line_of('stage = "Intent"'),
        "byte 0xe9 is not UTF-8; save the file as UTF-8",
    )
    [fault] = check_lesson(write_lesson(scaffold("sample").encode("utf-16")))
    assert "UTF-16" in fault.message


def test_a_folder_stands_for_its_lesson(write_lesson):
    assert check_lesson(write_lesson(scaffold("sample")).parent) == []


def test_paths_that_hold_no_lesson(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    huge = tmp_path / "huge.toml"
    huge.write_bytes(b"#" * (SIZE_LIMIT_BYTES + 1))
    empty = tmp_path / "empty.toml"
    empty.touch()
    reasons = {
        tmp_path: "there is no such file",
        tmp_path / "absent": "there is no such file",
        empty / "below": "cannot be read",
        loop: "cannot be read",
        pipe: "this is not a file",
        huge: "larger than 1024 KiB",
        empty: "format_version is missing",
        tmp_path / "nul\0": "not a possible file name",
        tmp_path / ("long" * 100): "cannot be read",
    }
    for path, reason in reasons.items():
        [fault] = check_lesson(path)
        assert reason in fault.message
        assert fault.line == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(write_lesson):
    path = write_lesson(scaffold("sample"))
    path.chmod(0)
    [fault] = check_lesson(path)
    assert "cannot be read" in fault.message


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("2", "this lesson has format 2 and needs a newer labtui"),
        ("0", "format 0 does not exist"),
        ("-1", "format -1 does not exist"),
        ('"1"', "format_version must be a whole number"),
        ("true", "format_version must be a whole number"),
        ("9" * 4000, "format_version must be a whole number"),
        ("0x" + "f" * 9000, "format_version must be a whole number"),
    ],
)
def test_another_format_is_the_only_fault_reported(version, message, write_lesson, line_of):
    text = scaffold("sample").replace("format_version = 1", f"format_version = {version}") + "\nnew_thing = 1\n"
    [fault] = check_lesson(write_lesson(text))
    assert fault.line == line_of("format_version = 1")
    assert message in fault.message


def test_a_newer_format_says_which_labtui_it_needs(write_lesson, monkeypatch):
    monkeypatch.setattr(checking, "version", lambda name: "0.1.0")
    text = scaffold("sample").replace("format_version = 1", 'format_version = 3\nneeds_labtui = "0.4.0"')
    [fault] = check_lesson(write_lesson(text))
    assert "needs labtui 0.4.0 or newer; this is labtui 0.1.0, which reads formats up to 1" in fault.message


@pytest.mark.parametrize(("needed", "faults"), [("0.1.0", 0), ("0.0.9", 0), ("0.1", 0), ("0.1.1", 1), ("10.0", 1)])
def test_a_lesson_may_ask_for_a_release(needed, faults, write_lesson, monkeypatch):
    monkeypatch.setattr(checking, "version", lambda name: "0.1.0")
    text = scaffold("sample").replace("format_version = 1", f'format_version = 1\nneeds_labtui = "{needed}"')
    assert len(check_lesson(write_lesson(text))) == faults


def test_too_many_entries(write_lesson):
    more = "".join(f'[[pitfall]]\nid = "p{number}"\nbody = "x"\n' for number in range(200))
    [fault] = check_lesson(write_lesson(scaffold("sample") + more))
    assert "201 times [[pitfall]]; 200 is the most" in fault.message


def test_other_scripts_pass(write_lesson):
    text = scaffold("sample").replace('title = "A case"', 'title = "שלום \u2067نص\u2069 字幕の時刻"')
    assert tomllib.loads(text)["example"][0]["title"].endswith("時刻")
    assert check_lesson(write_lesson(text)) == []


def test_a_million_unknown_keys_end_soon(write_lesson):
    text = scaffold("sample") + "\n[zzz]\n[frame_]\n" + "".join(f"[a{number}]\n" for number in range(50_000))
    assert len(check_lesson(write_lesson(text))) == checking.FAULTS_NAMED


def test_a_file_name_cannot_act_on_the_terminal(tmp_path):
    assert str(Fault(tmp_path / "a\x1b[2J\n\udcff", 1, "x")).isprintable()
