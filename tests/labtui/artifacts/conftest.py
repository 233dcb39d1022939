from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from exercises.endpoint import Endpoint
from exercises.records import Check, Chunk, CounterWindow, Fact, NotMeasurable, Run, Timeline
from exercises.speed import speed_of
from exercises.sweep import run_sweep, sweep_to_json
from exercises.sweep_points import points_by_concurrency, points_by_kind
from exercises.tasks import prompt_kinds_for
from lessons.model import (
    Anchor,
    Card,
    DeepPoint,
    EditorNote,
    Example,
    Frame,
    Gate,
    GroundedPrompt,
    LabTask,
    Lesson,
    Misconception,
    Pitfall,
    PracticePiece,
    RecallItem,
    Source,
    Video,
)
from store import Store
from store.recall import item_hash
from tests.fakes.vllm_stream import MODEL, Canvas, FakeVllm, Script

THREE_CANVASES = Timeline(
    chunks=(Chunk(1.0, 256, 900), Chunk(1.5, 256, 880), Chunk(2.0, 188, 610)),
    prompt_tokens=41,
    completion_tokens=700,
    counters=CounterWindow(51, 12288, 768, 700),
)
ONE_CANVAS = Timeline(
    chunks=(Chunk(0.9, 180, 600),),
    prompt_tokens=290,
    completion_tokens=180,
    counters=NotMeasurable("other requests ran in the same window"),
)


@pytest.fixture
def lesson() -> Lesson:
    """A small lesson with one of everything that an export shows."""
    return Lesson(
        format_version=1,
        id="small",
        title="Blocks at 1,100 tok/s | a talk",
        summary="A model writes blocks.\nYou measure how fast.",
        lang="en",
        version="3",
        minutes=20,
        video=Video("The talk", "https://www.youtube.com/watch?v=abc", "A channel", 700.0),
        frame=Frame(
            principle="A model needs a **harness**.",
            why="",
            skill="",
            watch_for="",
            thesis="",
            goal="",
            lab_question="Is the speed worth it?",
        ),
        cards=tuple(
            Card(stage.lower(), stage, f"About {stage}.")
            for stage in ("Intent", "Model", "Harness", "Tools", "Verifier", "Artifact")
        ),
        deep_points=(DeepPoint("denoising", 34.0, "Denoising", "Just imagine", "Blocks.", "Draw it."),),
        anchors=(
            Anchor(
                "speed-claim",
                34.0,
                "The speed claim",
                "over 1,100 tokens per second | on a single GPU card",
                proves="That it was said.",
                does_not_prove="That anything\n\nran so fast.",
                to_verify="Which card; see `vllm serve | tee`.",
            ),
            Anchor("barrier", 488.0, "The barrier", "would be able to pass under this or not"),
        ),
        examples=(Example("packet", "A packet", "Body."),),
        pitfalls=(Pitfall("title-only", "Reading the title only."),),
        misconceptions=(
            Misconception("more-tools", "More tools always help.", "**False.** Fewer, with limits."),
            Misconception("memory", "Memory keeps everything.", "**False.** It chooses."),
        ),
        gates=(Gate("claim", "The claim, in your words", "Say it."), Gate("stakes", "The stakes", "Name them.")),
        prompt=GroundedPrompt("Intro", "Why", "Topic", "Frame", ("Task",), ("Include",), ("Bar",)),
        practice=(PracticePiece("teach-back", "Teach-back card", "Explain it.", "Ninety seconds, one drawing."),),
        lab_tasks=(
            LabTask("coding", "coding", "Coding: an SVG", "Draw."),
            LabTask("vision", "vision", "Vision: a barrier", "Look."),
        ),
        recall=(
            RecallItem("tradeoff", "Which tradeoff?", "Speed for quality.", ("faster", "lower scores")),
            RecallItem("how", "How does it write?", "In blocks.", ()),
        ),
        notes=(EditorNote("mmmlu", "deep/denoising", "It is **MMMLU**.", "Model card: https://example.org/card"),),
        sources=(
            Source("card", "Model card", "https://example.org/card", "Good for: scores."),
            Source("p", "Paper", None),
        ),
        path=Path("lesson.toml"),
    )


def run(run_id: str, task: str, timeline: Timeline, **changes) -> Run:
    facts = {
        "id": run_id,
        "task": task,
        "task_set": "practice",
        "checkpoint": "practice",
        "practice": True,
        "started_at": f"2026-11-30T21:{run_id[13:15]}:30+00:00",
        "valid": True,
        "invalid_reason": None,
        "timeline": timeline,
        "speed": speed_of(timeline),
        "check": Check(True, (Fact("parses", True, "one svg element"),)),
        "output": "<svg/>",
        "evidence": {
            "prompt": "Write an SVG of a red circle.",
            "model": "practice",
            "server": {"vllm_version": "0.32.0"},
            "command": ["vllm", "serve", "exercises/practice", "--diffusion-config", '{"canvas_length": 256}'],
        },
    }
    return Run(**{**facts, **changes})


RUNS = (
    run("r-20261130-211030-aaa", "coding", THREE_CANVASES, warmup=True),
    run(
        "r-20261130-211230-bbb",
        "coding",
        THREE_CANVASES,
        output="```svg\n<svg/>\n```\n<script>alert(1)</script>\x1b[31m",
    ),
    run(
        "r-20261130-211430-ccc",
        "vision",
        ONE_CANVAS,
        check=Check(False, (Fact("the right choice", False, "said <yes>, the truth is no"),)),
        output="yes",
    ),
    run(
        "r-20261130-211630-ddd",
        "coding",
        ONE_CANVAS,
        checkpoint="fp8",
        task_set="diffusiongemma",
        practice=False,
        evidence={"model": "google/diffusiongemma-26B-A4B-it", "hardware": "1 × H200", "prompt": "Draw two plates."},
    ),
    run("r-20261130-211830-eee", "vision", ONE_CANVAS, valid=False, invalid_reason="the text is empty", output=""),
)


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 11, 30, 22, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path, lesson: Lesson, now: datetime, monkeypatch: pytest.MonkeyPatch, in_zone) -> Iterator[Store]:
    """A store in which every part of the artifact has something, saved at fixed moments."""
    in_zone("UTC")
    monkeypatch.setattr("store.moments.now", lambda: now - timedelta(minutes=30))
    monkeypatch.setattr("labtui.artifacts.document.version", lambda: "0.0.0")
    with Store.open(tmp_path / "labtui.db") as opened:
        for one in RUNS:
            opened.runs.add(one)
        opened.verdicts.save("small", "An earlier verdict.", [])
        opened.verdicts.save("small", "Fast enough for drafts.\n\n# Not a heading of yours", ["ccc", "bbb"])
        answer = opened.recall.add_answer(
            "small", "tradeoff", "Speed for quality, I think.", item_hash(lesson.recall[0])
        )
        opened.recall.grade(answer.id, "good")
        opened.progress.save_guess("small", "more-tools", True, "More is more.")
        opened.progress.save_gate("small", "claim", "It writes blocks (0:34).")
        opened.progress.save_note("small", "card/tools", "May read one picture, nothing else.")
        opened.progress.save_note("small", "anchor/speed-claim", "Low: nothing ran yet.")
        opened.progress.save_note("small", "practice/teach-back", "Told it to Ann.")
        opened.progress.save_note("small", "deep/denoising", "Compare with crosswords.")
        yield opened


ANSWER = Script((Canvas(0.01, 64, "def is_prime(n):\n"), Canvas(0.03, 40, "    return n\n")))
KINDS = prompt_kinds_for("practice", True)
COMMAND = {"command": ["vllm", "serve", "m", "--max-num-seqs", "2"]}


@pytest.fixture(scope="module")
def sweeps() -> list[dict[str, Any]]:
    """By kind and by requests at once on practice; by kind on a real checkpoint, once earlier and once later."""
    with FakeVllm(ANSWER) as server:
        practice = Endpoint(server.url, None, MODEL, "practice", True, "0.32.0", COMMAND)
        real = replace(practice, checkpoint="fp8", practice=False)
        code = points_by_kind(KINDS, ["code"])[0].task
        made = [
            run_sweep("kinds", points_by_kind(KINDS, ["short"]), real, rounds=1, warmup=0, seed=1),
            run_sweep("kinds", points_by_kind(KINDS), real, rounds=1, warmup=0, seed=1),
            run_sweep("kinds", points_by_kind(KINDS), practice, rounds=1, warmup=0, seed=1),
            run_sweep("concurrency", points_by_concurrency(code, [1, 3]), practice, rounds=1, warmup=0, seed=1),
        ]
    return [sweep_to_json(sweep) for sweep in made]
