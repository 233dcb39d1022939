from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from labtui.errors import LabError
from labtui.serving.asked import Asked
from labtui.serving.diagnosis import Cause
from labtui.serving.live_figures import Figures
from labtui.serving.plan import make_plan
from labtui.serving.preflight import Finding
from labtui.serving.remedies import Remedy
from labtui.serving.status import Status
from labtui.widgets import server_lines
from labtui.widgets.server_lines import ServerMoment, WayOut, changed_flags
from tests.fakes.lab_servers import MACHINE, fake_plans

NOW = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)


def moment(state: str = "stopped", **status: object) -> ServerMoment:
    return ServerMoment(Status(state, **status), now=NOW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (ServerMoment(), "◌ looking for a server…"),
        (moment(), "○ stopped"),
        (moment(launch_id="l"), "○ ended by itself"),
        (
            moment("starting", stage="loading weights 44%", checkpoint="fp8", since_s=72.0),
            "◐ loading weights 44% · fp8 · 1:12",
        ),
        (
            moment("warming", stage="waiting for one token", checkpoint="practice", practice=True, since_s=30.0),
            "◐ waiting for one token · practice checkpoint · 0:30",
        ),
        (moment("ready", checkpoint="fp8", url="http://127.0.0.1:8000"), "● ready · fp8 · 127.0.0.1:8000"),
        (moment("dying", checkpoint="fp8", since_s=5.0), "◐ going down · fp8 · 0:05"),
        (
            moment("foreign", attached=True, checkpoint="own", practice=True, url="http://10.0.0.2:1"),
            "◇ attached, not started by labtui · practice checkpoint · 10.0.0.2:1",
        ),
        (moment("foreign"), "◇ another server answers there"),
    ],
)
def test_every_state_in_words(seen, words) -> None:
    assert server_lines.state_line(seen) == words


def test_a_server_that_was_found_says_since_when(in_zone) -> None:
    in_zone("UTC")
    found = replace(moment("ready", since_s=3600.0), found=True)
    assert server_lines.state_line(found) == "● ready, still running since 09:30"
    assert "2026-02-28" in server_lines.state_line(replace(moment("ready", since_s=2 * 86400.0), found=True))


def test_the_estimate_is_what_is_left_of_the_last_launch() -> None:
    going = replace(moment("starting", since_s=71.0), estimate_s=161.0)
    line = server_lines.progress_line(going, 76)
    assert line.endswith("about 1:30 left (last launch 2:41)")
    assert len(line) <= 76 and line.count("■") == int(28 * 71 / 161)
    late = replace(moment("starting", since_s=1200.0), estimate_s=161.0)
    assert "longer than last time (last launch 2:41)" in server_lines.progress_line(late, 76)
    assert "□" in server_lines.progress_line(late, 76)


def test_without_an_estimate_the_step_is_told() -> None:
    assert server_lines.progress_line(moment("starting", stage_id="weights", share=0.5), 76).endswith(
        "step 6 of 15 (first launch of this plan)"
    )
    assert server_lines.progress_line(moment("ready"), 76) == ""


def test_a_figure_that_the_page_does_not_have_is_a_dash() -> None:
    ready = moment("ready")
    assert server_lines.figures_line(ready) == ("requests – running, – waiting   KV –   delivering –   steps –")
    full = replace(ready, figures=Figures(1, 2, 0.123, 1060.4, 16.02))
    assert server_lines.figures_line(full) == (
        "requests 1 running, 2 waiting   KV 12%   delivering 1,060 tok/s   steps 16"
    )
    assert server_lines.figures_line(moment()) == ""


def test_a_death_shows_title_cause_line_fix_and_log() -> None:
    cause = Cause(
        "kv", "The KV cache is too small", "vLLM has less room.", "--max-model-len 1024", 412, "ValueError: x"
    )
    wrong = server_lines.trouble(moment(launch_id="l", causes=(cause,), log_path=Path("/logs/a.log")))
    assert wrong is not None
    assert wrong.title == "The KV cache is too small"
    assert "line 412: ValueError: x" in wrong.cause
    assert wrong.fix == "--max-model-len 1024 Log: /logs/a.log"


def test_a_fault_of_a_start_stands_before_the_states_own(tmp_path) -> None:
    failed = replace(moment(launch_id="l"), fault=LabError("No start", "why", "do this"))
    wrong = server_lines.trouble(failed)
    assert wrong is not None and (wrong.title, wrong.cause, wrong.fix) == ("No start", "why", "do this")


def test_blocking_findings_come_first_with_cause_and_fix(tmp_path) -> None:
    findings = (
        Finding("a", True, "Port 8000 is free"),
        Finding("b", False, "Few files", "At most 100.", "ulimit"),
        Finding("c", False, "No vLLM", "None here.", "./lab", blocking=True),
    )
    seen = replace(moment(), plan=fake_plans(tmp_path / "weights")(), findings=findings)
    assert server_lines.stop_lines(seen) == ("✗ No vLLM", "  None here.", "  → ./lab")
    assert server_lines.finding_lines(seen) == (
        "! Few files",
        "  At most 100.",
        "  → ulimit",
        "✓ 1 check before a start is in order",
    )
    (line,) = server_lines.plan_lines(seen)
    assert line == f"PLAN  practice on the CPU · {seen.plan.why[0]}"


@pytest.mark.parametrize(
    ("line", "short"),
    [
        ("(EngineCore pid=5162) INFO 11-30 21:53:42 [kv_cache_utils.py:854] kv lcm", "kv lcm"),
        ("(APIServer pid=1) WARNING 11-30 21:53:15 [system_utils.py:255] Found ulimit", "WARNING Found ulimit"),
        ("INFO:     Application startup complete.", "INFO:     Application startup complete."),
        ("", ""),
    ],
)
def test_log_lines_lose_what_takes_more_room_than_it_has(line, short) -> None:
    assert server_lines.without_prefix(line) == short


def test_the_last_lines_leave_out_our_own_looks_and_nothing_steers() -> None:
    log = (
        'INFO:     127.0.0.1:1 - "GET /metrics HTTP/1.1" 200 OK',
        "one\x1b[2J",
        'INFO: "POST /v1/chat HTTP/1.1" 200 OK',
    )
    seen = replace(moment("ready"), log=log)
    assert server_lines.log_lines(seen, 5) == ("one␛[2J", 'INFO: "POST /v1/chat HTTP/1.1" 200 OK')
    assert server_lines.log_lines(seen, 1) == ('INFO: "POST /v1/chat HTTP/1.1" 200 OK',)
    assert server_lines.log_lines(moment("starting", last_line="half a line"), 1) == ("half a line",)
    assert server_lines.log_lines(replace(moment(), log=log), 5) == ()


def test_a_stall_is_told_with_its_time() -> None:
    stalled = replace(moment("ready"), figures=Figures(running=1, stalled_s=38.0))
    assert server_lines.message_lines(stalled) == (
        "stalled: for 0:38 no request got anything; canvases came faster before",
    )
    assert server_lines.message_lines(moment("warming", message="/health says 503")) == ("/health says 503",)


CAUSE = Cause("kv", "The KV cache is too small", "vLLM has less room.", "Ask for less.", 412, "ValueError: x")


def dead(launch_id: str = "l", flags: str = "--max-model-len 1536") -> ServerMoment:
    plan = make_plan(**Asked("practice", max_model_len=1536).choices(), machine=MACHINE)
    way_out = WayOut(launch_id, Remedy(plan, "requests of 1,536 tokens at most"), flags)
    return replace(moment(launch_id="l", causes=(CAUSE,)), ways_out=(way_out,))


def test_a_death_offers_the_changed_flags_by_key() -> None:
    first, words, log = server_lines.offer_lines(dead(), 76)
    assert first.startswith("> Restart with --max-model-len 1536 ") and first.endswith(" [enter]") and len(first) == 76
    assert words == "    requests of 1,536 tokens at most"
    assert log.startswith("  Show the log there") and log.endswith("[g]")
    assert server_lines.offer_lines(dead(flags=""), 76)[0].startswith("> Restart with requests of 1,536 tokens at most")


def test_a_cache_of_less_precision_stands_in_the_plans_line() -> None:
    plan = make_plan("fp8", machine=MACHINE, vram_gib=48)
    (line,) = server_lines.plan_lines(replace(moment(), plan=plan))
    assert line.startswith("PLAN  fp8 on 1 GPU · fp8 KV cache · fits: ")


def test_each_further_way_out_has_its_number() -> None:
    one = dead().ways_out[0]
    others = [replace(one, remedy=replace(one.remedy, words=words)) for words in ("the KV cache in fp8", "with --x")]
    lines = server_lines.offer_lines(replace(dead(), ways_out=(one, *others)), 76)
    assert [line.rpartition("[")[2] for line in lines] == ["enter]", lines[1], "2]", "3]", "g]"]
    assert lines[2].startswith("  Or with the KV cache in fp8 ") and lines[3].startswith("  Or with --x ")
    assert all(len(line) <= 76 for line in lines)


def test_nothing_is_offered_for_another_death_or_while_something_is_done() -> None:
    assert dead("another").offers == ()
    assert len(server_lines.offer_lines(dead("another"), 76)) == 1
    assert server_lines.offer_lines(replace(dead(), doing="starting"), 76) == ()
    assert server_lines.offer_lines(replace(dead(), fault=LabError("No", "why", "do")), 76) == ()
    assert server_lines.offer_lines(moment(), 76) == ()


def test_only_the_flags_that_differ_are_named_and_a_port_only_where_it_was_asked_for() -> None:
    before = make_plan("practice", port=8100, machine=MACHINE).argv
    assert changed_flags(make_plan("practice", machine=MACHINE), before) == ""
    assert changed_flags(make_plan("practice", port=8101, machine=MACHINE), before) == "--port 8101"
    own = make_plan("practice", machine=MACHINE, extra_flags=("--max-num-seqs", "1"))
    assert changed_flags(own, before) == "--max-num-seqs 1"


def test_the_curves_stand_once_something_was_delivered_with_gaps_for_what_is_missing() -> None:
    ready = replace(moment("ready"), rates=(0.0, None, 100.0), kv=(0.5, None, 1.0))
    assert server_lines.curve_line(ready, 76) == "tok/s ▁ █   KV ▄ █"
    assert server_lines.curve_line(replace(ready, rates=(0.0, None)), 76) == ""
    assert server_lines.curve_line(replace(moment(), rates=ready.rates, kv=ready.kv), 76) == ""
    long = replace(ready, rates=(1.0,) * 300, kv=(0.5,) * 300)
    assert len(server_lines.curve_line(long, 76)) <= 76


def test_further_figures_have_a_dash_for_what_the_page_does_not_have() -> None:
    seen = replace(moment("ready"), figures=Figures(first_canvas_s=0.274, canvas_fill=1.0, preemptions=2))
    assert server_lines.more_figures_line(seen) == (
        "first canvas 0.27 s   canvas fill 100%   prefix cache –   preempted 2"
    )
    assert server_lines.more_figures_line(moment()) == ""
