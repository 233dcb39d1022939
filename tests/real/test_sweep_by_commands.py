"""A sweep on the real vLLM, and its steps per canvas beside what the metrics page itself says."""

from __future__ import annotations

import json
import re

import httpx
import pytest

from exercises.speed import format_rate

pytestmark = pytest.mark.real


def counters(real_lab) -> dict[str, float]:
    """Read from the page as text, without labtui's own reader."""
    (state,) = real_lab.home.rglob("server.json")
    server = json.loads(state.read_text())
    key = {"Authorization": f"Bearer {server['api_key']}"}
    page = httpx.get(f"{real_lab.started['url']}/metrics", headers=key, trust_env=False).text
    found = re.findall(r"^vllm:diffusion_num_(\w+)_total\{[^}]*\} (\S+)$", page, re.MULTILINE)
    return {name: float(value) for name, value in found}


def test_steps_per_canvas_are_those_of_the_metrics_page(real_lab) -> None:
    before = counters(real_lab)
    trial = real_lab.json("run", "coding", "--runs", "3", "--warmup", "0", code=None)
    after = counters(real_lab)
    positions, committed = (after[name] - before[name] for name in ("canvas_positions", "committed_tokens"))
    canvases = committed / 64
    steps = [run["speed"]["steps_per_canvas"] for run in trial["runs"]]
    of_each = [run["counters"]["committed_tokens"] / 64 for run in trial["runs"]]
    assert sum(of_each) == canvases
    weighted = sum(step * count for step, count in zip(steps, of_each, strict=True)) / canvases
    assert weighted == pytest.approx(positions / committed - 1)
    assert all(run["evidence"]["traffic"]["state"] == "alone" for run in trial["runs"])
    assert all(run["evidence"]["step_cap"]["steps"] == 48 for run in trial["runs"])
    assert all(run["evidence"]["thinking"]["state"] == "off" for run in trial["runs"])


def test_the_second_run_of_a_prompt_finds_it_in_the_prefix_cache_or_says_that_it_did_not(real_lab) -> None:
    for _ in range(2):
        run = real_lab.json("run", "coding", "--seed", "11", "--warmup", "0", code=None)
        cache = run["evidence"]["prefix_cache"]
        assert cache["state"] == ("warm" if cache["hit_tokens"] else "cold" if cache["queried_tokens"] else "off")


def test_a_sweep_by_kind_has_a_point_for_each_and_is_kept(real_lab) -> None:
    sweep = real_lab.json("run", "--sweep", "kinds", "--runs", "2", "--warmup", "0", code=None, limit_s=300)
    assert [point["label"] for point in sweep["points"]] == ["short", "prose", "code", "structured"]
    for point in sweep["points"]:
        assert point["aggregate_tps"] > 0
        assert 1 <= point["steps_per_canvas"] <= 48
    assert real_lab.json("sweeps", sweep["id"]) == sweep
    assert all(real_lab.json("show", run_id)["practice"] for run_id in sweep["points"][0]["runs"])
    to = real_lab.home / "exported"
    assert real_lab("export", "diffusiongemma", "--format", "json,html", "--to", str(to)).returncode == 0
    exported = {one["id"]: one for one in json.loads((to / "diffusiongemma.json").read_text())["sweeps"]}
    assert exported[sweep["id"]] == sweep
    page = (to / "diffusiongemma.html").read_text()
    assert all(f">{format_rate(point['aggregate_tps'])}</text>" in page for point in sweep["points"])


def test_streams_at_once_are_counted_together_and_each(real_lab) -> None:
    sweep = real_lab.json(
        "run",
        "code",
        "--sweep",
        "concurrency",
        "--points",
        "1,4",
        "--runs",
        "1",
        "--warmup",
        "1",
        code=None,
        limit_s=300,
    )
    alone, four = sweep["points"]
    assert sweep["runs_together"] == 4, "read from the command that started it"
    (together,) = four["each_round"]
    assert alone["aggregate_tps"] > 0
    assert together["completion_tokens"] == sum(
        real_lab.json("show", run_id)["completion_tokens"] for run_id in four["runs"]
    )
    assert max(together["per_stream_tps"]) < together["aggregate_tps"]
    assert 1 <= together["steps_per_canvas"] <= 48


def test_a_step_cap_is_refused_before_it_can_kill_the_engine(real_lab) -> None:
    refused = real_lab("run", "coding", "--sweep", "steps")
    assert refused.returncode == 2 and "kills the engine" in refused.stderr
    assert real_lab.json("serve", "status")["state"] == "ready"
