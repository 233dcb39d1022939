from __future__ import annotations

from pathlib import Path

import pytest

from labtui.configuration import Configuration
from labtui.errors import USAGE, LabError
from labtui.serving.checkpoint_tables import configured_tables
from labtui.serving.checkpoints import Checkpoint, checkpoints, find_checkpoint, table
from labtui.serving.machine import parse_version
from lessons.scaffold import write_scaffold

ENTRY = """
format_version = 1
[[checkpoint]]
id = "mine"
title = "Mine"
model = "someone/something"
practice = false
disk_gb = 1.0
resident_gib = 1.0
min_vllm = "0.26.0"
source = "me"
"""


def test_the_table_has_what_the_lab_needs() -> None:
    known = checkpoints()
    assert list(known) == ["bf16", "fp8", "nvfp4", "nvfp4-nvidia", "gemma4", "practice"]
    for one in known.values():
        assert one.disk_gb > 0 and one.resident_gib > 0 and one.source
        assert parse_version(one.min_vllm) >= (0, 24)
        assert one.practice or one.min_compute_capability
    assert [one.id for one in known.values() if one.practice] == ["practice"]
    assert not known["gemma4"].diffusion


def test_the_practice_weights_are_part_of_the_installation() -> None:
    practice = checkpoints()["practice"]
    assert practice.folder is not None
    assert practice.folder.parts[-3:] == ("exercises", "practice", "checkpoint")
    assert (practice.folder.parents[1] / "__init__.py").exists()
    assert practice.name == "practice"


def test_a_hub_model_has_no_folder() -> None:
    assert checkpoints()["bf16"].folder is None
    assert checkpoints()["bf16"].name == "google/diffusiongemma-26B-A4B-it"


def test_an_unknown_one_names_the_nearest() -> None:
    with pytest.raises(LabError) as raised:
        find_checkpoint("fp8x")
    assert raised.value.exit_code == USAGE
    assert "Did you mean fp8?" in raised.value.fix


def test_a_table_of_the_user_adds_and_replaces(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(ENTRY + ENTRY.replace("format_version = 1", "").replace('"mine"', '"bf16"'))
    known = checkpoints([mine])
    assert known["mine"].model == known["bf16"].model == "someone/something"
    assert known["fp8"].model.startswith("RedHatAI")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("format_version = 2", "format_version is 2"),
        ("nonsense", "Expected '='"),
        (ENTRY.replace("title", "titel"), "unknown key 'titel'; nearest is 'title'"),
        (ENTRY.replace('source = "me"', ""), "source"),
        (ENTRY + 'architecture = "llama"', "unknown architecture 'llama'"),
    ],
)
def test_a_broken_table_is_named_with_its_fault(tmp_path: Path, text: str, said: str) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text(text)
    with pytest.raises(LabError) as raised:
        table((broken,))
    assert raised.value.exit_code == USAGE
    assert str(broken) in raised.value.cause
    assert said in raised.value.cause


def test_no_table_takes_the_practice_label_off(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    folder = checkpoints()["practice"].model_argument
    again = ENTRY.replace("format_version = 1", "")
    mine.write_text(
        ENTRY.replace('"mine"', '"practice"')
        + again.replace('"mine"', '"renamed"').replace("someone/something", folder)
    )
    known = checkpoints([mine])
    assert known["practice"].practice, "an entry of that id"
    assert known["renamed"].practice, "those weights under another name"
    assert not known["bf16"].practice


def test_a_lessons_table_is_read_and_the_persons_has_the_last_word(tmp_path: Path) -> None:
    lesson = tmp_path / "lessons" / "mine"
    write_scaffold(lesson)
    (lesson / "checkpoints.toml").write_text(ENTRY + ENTRY.replace("format_version = 1", "").replace('"mine"', '"its"'))
    own = tmp_path / "own.toml"
    own.write_text(ENTRY.replace("someone/something", "person/own"))
    configuration = Configuration(lessons=(lesson,), checkpoints=(own,))
    tables = configured_tables(configuration)
    assert tables == (lesson / "checkpoints.toml", own)
    known = checkpoints(tables)
    assert (known["its"].model, known["mine"].model) == ("someone/something", "person/own")


def test_a_folder_may_be_a_model(tmp_path: Path) -> None:
    one = Checkpoint("x", "X", str(tmp_path), False, 1.0, 1.0, "0.26.0", "me")
    assert one.folder == tmp_path
