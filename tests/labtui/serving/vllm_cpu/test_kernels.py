"""Each kernel against vLLM's own Triton kernel, which Triton's interpreter runs on random batches without a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from labtui.serving.vllm_cpu.child.labtui_vllm_cpu import kernels  # noqa: E402

WORKER = "vllm.v1.worker.gpu"
SLOTS = 6
MODEL_LEN = 24
VOCABULARY = 11
PAD = -1

random_batches = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
seeds = given(seed=st.integers(0, 2**32 - 1))


class Batch:
    """A random batch in the worker's layout: rows of the batch, slots of the persistent state."""

    def __init__(self, seed: int, *, dummy_rows: bool = False) -> None:
        self.rng = np.random.default_rng(seed)
        self.rows = int(self.rng.integers(1, 5))
        slots = self.rng.permutation(SLOTS)[: self.rows]
        if dummy_rows:
            slots[self.rng.random(self.rows) < 0.3] = -1
        self.slot_of_row = tensor(slots)
        self.query_lengths = self.rng.integers(0, 6, self.rows)
        self.query_starts = tensor(np.concatenate([[0], np.cumsum(self.query_lengths)]))
        self.tokens = int(self.query_lengths.sum())
        self.logit_counts = np.array([int(self.rng.integers(0, n + 1)) for n in self.query_lengths])
        self.logit_starts = tensor(np.concatenate([[0], np.cumsum(self.logit_counts)]))
        self.prefill_lengths = self.numbers(1, 14, SLOTS)
        self.computed_counts = self.numbers(0, 14, SLOTS)
        self.all_token_ids = self.numbers(0, VOCABULARY, SLOTS, MODEL_LEN)

    def lengths_about_the_prompt(self) -> Any:
        """[rows], as often as not at the very end of the prompt, where the kernels take another branch."""
        prompt = self.prefill_lengths.numpy()[self.slot_of_row.numpy()]
        return tensor(np.maximum(1, prompt + self.rng.integers(-1, 5, self.rows) * self.rng.integers(0, 2, self.rows)))

    def numbers(self, low: int, high: int, *shape: int, dtype: Any = np.int32) -> Any:
        return tensor(self.rng.integers(low, high, shape), dtype)


def tensor(values: Any, dtype: Any = np.int32) -> Any:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=dtype))


def addresses(tables: list[Any]) -> Any:
    return torch.tensor([table.data_ptr() for table in tables], dtype=torch.uint64)


def assert_same(
    name: str, grid: tuple[int, ...], original: Callable[[str], Any], arguments: list[Any], **constants: Any
):
    """Both get their own copy of every argument; afterwards all of them have to be equal."""
    ours = [value.clone() if isinstance(value, torch.Tensor) else value for value in arguments]
    theirs = [value.clone() if isinstance(value, torch.Tensor) else value for value in arguments]
    kernels.BY_NAME[f"{WORKER}.{name}"](*ours, **constants)
    original(f"{WORKER}.{name}")[grid](*theirs, **constants)
    for mine, reference in zip(ours, theirs, strict=True):
        if isinstance(mine, torch.Tensor):
            torch.testing.assert_close(mine, reference)


def test_the_names_are_all_there(original):
    for name in kernels.BY_NAME:
        assert callable(original(name))


@random_batches
@seeds
def test_apply_writes_to_one_table(original, seed):
    rng = np.random.default_rng(seed)
    writes = int(rng.integers(1, 6))
    lengths = rng.integers(0, 5, writes)
    for values, dtype in ((np.arange, np.int32), (np.arange, np.int64), (np.linspace, np.float32)):
        contents = values(lengths.sum()) if values is np.arange else rng.random(int(lengths.sum()))
        arguments = [
            tensor(np.zeros((SLOTS, MODEL_LEN)), dtype),
            MODEL_LEN,
            tensor(rng.permutation(SLOTS)[:writes]),
            tensor(rng.integers(0, MODEL_LEN - 5, writes)),
            tensor(contents, dtype),
            tensor(np.cumsum(lengths)),
            None,
        ]
        assert_same("buffer_utils._apply_write_kernel", (writes,), original, arguments, BLOCK_SIZE=8, MULTI_GROUP=False)


@random_batches
@seeds
def test_apply_writes_to_the_tables_of_several_groups(original, seed):
    rng = np.random.default_rng(seed)
    strides = [8, 16]
    writes = int(rng.integers(1, 6))
    lengths = rng.integers(0, 4, writes)
    rows = rng.permutation(SLOTS)[:writes]
    groups = rng.integers(0, 2, writes)
    columns = rng.integers(0, 4, writes)
    contents = rng.integers(1, 99, int(lengths.sum()))

    def tables_after(kernel: Callable[..., None]) -> list[Any]:
        tables = [torch.zeros(SLOTS, stride, dtype=torch.int32) for stride in strides]
        kernel(
            addresses(tables),
            tensor(strides, np.int64),
            tensor(rows),
            tensor(columns),
            tensor(contents),
            tensor(np.cumsum(lengths)),
            tensor(groups),
            BLOCK_SIZE=4,
            MULTI_GROUP=True,
        )
        return tables

    reference = original(f"{WORKER}.buffer_utils._apply_write_kernel")[(writes,)]
    for mine, theirs in zip(tables_after(kernels.apply_writes), tables_after(reference), strict=True):
        torch.testing.assert_close(mine, theirs)


@random_batches
@seeds
def test_gather_block_tables(original, seed):
    batch = Batch(seed)
    strides = [4, 8]
    sources = [batch.numbers(1, 99, SLOTS, stride) for stride in strides]
    counts = batch.numbers(0, 5, len(strides), SLOTS)

    def tables_after(kernel: Callable[..., None]) -> list[Any]:
        targets = [torch.full((SLOTS, stride), 7, dtype=torch.int32) for stride in strides]
        kernel(
            batch.slot_of_row,
            addresses(sources),
            addresses(targets),
            tensor(strides, np.int64),
            counts,
            SLOTS,
            batch.rows,
            BLOCK_SIZE=4,
        )
        return targets

    reference = original(f"{WORKER}.block_table._gather_block_tables_kernel")[(len(strides), batch.rows)]
    for mine, theirs in zip(tables_after(kernels.gather_block_tables), tables_after(reference), strict=True):
        torch.testing.assert_close(mine, theirs)


@random_batches
@seeds
def test_compute_slot_mappings(original, seed):
    batch = Batch(seed, dummy_rows=True)
    block_sizes, strides = [4, 8], [6, 3]
    tables = [batch.numbers(1, 99, SLOTS, stride) for stride in strides]
    arguments = [
        32,
        batch.slot_of_row,
        batch.query_starts,
        batch.numbers(0, MODEL_LEN, batch.tokens + 1, dtype=np.int64),
        addresses(tables),
        tensor(strides, np.int64),
        tensor(block_sizes),
        tensor(batch.rng.random(2) < 0.7, bool),
        tensor([True, True], bool),
        torch.full((2, 32), 5, dtype=torch.int64),
        32,
        0,
    ]
    assert_same(
        "block_table._compute_slot_mappings_kernel",
        (2, batch.rows + 1),
        original,
        arguments,
        CP_SIZE=1,
        CP_INTERLEAVE=1,
        PAD_ID=PAD,
        TRITON_BLOCK_SIZE=8,
    )


def test_context_parallelism_is_refused_instead_of_computed_wrong():
    with pytest.raises(NotImplementedError):
        kernels.compute_slot_mappings(*[torch.zeros(1, dtype=torch.int32)] * 12, CP_SIZE=2, PAD_ID=PAD)


@random_batches
@seeds
def test_prepare_prefill_inputs(original, seed):
    batch = Batch(seed)
    lookahead = int(batch.rng.integers(1, 3))
    arguments = [
        batch.numbers(90, 99, batch.tokens + 1),
        batch.numbers(90, 99, lookahead, SLOTS),
        SLOTS,
        lookahead,
        batch.slot_of_row,
        batch.query_starts,
        batch.all_token_ids,
        MODEL_LEN,
        batch.prefill_lengths,
        batch.computed_counts,
    ]
    assert_same(
        "input_batch._prepare_prefill_inputs_kernel",
        (batch.rows,),
        original,
        arguments,
        BLOCK_SIZE=4,
        LOOKAHEAD_BLOCK=2,
    )


@random_batches
@seeds
def test_prepare_positions_and_lengths(original, seed):
    batch = Batch(seed)
    arguments = [
        batch.numbers(90, 99, batch.tokens + 1, dtype=np.int64),
        batch.numbers(90, 99, SLOTS),
        batch.slot_of_row,
        batch.query_starts,
        batch.computed_counts,
        SLOTS,
    ]
    name = "input_batch._prepare_pos_seq_lens_kernel"
    assert_same(name, (batch.rows + 1,), original, arguments, BLOCK_SIZE=4)


@random_batches
@seeds
def test_combine_sampled_and_draft_tokens(original, seed):
    batch = Batch(seed)
    newly_sampled = int(batch.rng.integers(0, 2))
    batch.logit_counts = np.array(
        [int(batch.rng.integers(newly_sampled, n + newly_sampled + 1)) for n in [4] * batch.rows]
    )
    batch.query_lengths = batch.logit_counts + batch.rng.integers(0, 3, batch.rows)
    arguments = [
        batch.numbers(90, 99, int(batch.query_lengths.sum()) + 1),
        batch.slot_of_row,
        batch.numbers(0, VOCABULARY, SLOTS, 1),
        tensor(np.concatenate([[0], np.cumsum(batch.query_lengths)])),
        batch.lengths_about_the_prompt(),
        batch.prefill_lengths,
        batch.numbers(0, VOCABULARY, SLOTS, 5),
        5,
        tensor(np.concatenate([[0], np.cumsum(batch.logit_counts)])),
        torch.full((int(batch.logit_counts.sum()) + 1,), 77, dtype=torch.int64),
    ]
    name = "input_batch._combine_sampled_and_draft_tokens_kernel"
    assert_same(name, (batch.rows,), original, arguments, BLOCK_SIZE=8, NUM_NEW_SAMPLED_TOKENS=newly_sampled)


@random_batches
@seeds
def test_count_sampled_and_rejected(original, seed):
    batch = Batch(seed)
    arguments = [
        batch.numbers(0, 5, batch.rows),
        torch.full((batch.rows,), 77, dtype=torch.int32),
        batch.lengths_about_the_prompt(),
        batch.logit_starts,
        batch.slot_of_row,
        batch.prefill_lengths,
    ]
    assert_same("input_batch._get_num_sampled_and_rejected_kernel", (batch.rows,), original, arguments)


@random_batches
@seeds
def test_update_after_sampling(original, seed):
    batch = Batch(seed, dummy_rows=True)
    counted, queried = batch.rng.random(2) < 0.5
    arguments = [
        batch.slot_of_row,
        batch.computed_counts,
        batch.numbers(0, VOCABULARY, SLOTS, 1),
        batch.numbers(0, 3, SLOTS, VOCABULARY) if counted else None,
        VOCABULARY if counted else 0,
        batch.numbers(0, VOCABULARY, batch.rows, 4),
        4,
        batch.numbers(0, 5, batch.rows),
        batch.numbers(0, 3, batch.rows),
        batch.query_starts if queried else None,
        batch.all_token_ids,
        MODEL_LEN,
        batch.numbers(0, MODEL_LEN - 4, SLOTS),
    ]
    assert_same("input_batch._post_update_kernel", (batch.rows,), original, arguments)


@random_batches
@seeds
def test_update_computed_counts(original, seed):
    batch = Batch(seed)
    arguments = [batch.slot_of_row, batch.computed_counts, batch.query_starts]
    assert_same("input_batch._post_update_num_computed_tokens_kernel", (batch.rows,), original, arguments)


@random_batches
@seeds
def test_expand_rows_to_logits(original, seed):
    batch = Batch(seed)
    total = int(batch.logit_counts.sum())
    arguments = [
        batch.slot_of_row,
        torch.full((total + 1,), 77, dtype=torch.int32),
        torch.full((total + 1,), 77, dtype=torch.int32),
        batch.logit_starts,
    ]
    assert_same("input_batch._expand_idx_mapping_kernel", (batch.rows,), original, arguments, BLOCK_SIZE=8)


@random_batches
@seeds
def test_token_logprobs_and_ranks(seed):
    """Against a plain reference: Triton's interpreter does not run these two's reductions once Triton is imported."""
    batch = Batch(seed)
    # Rounded, so that equal logits occur: a rank counts them.
    logits = batch.rng.normal(0, 2, (batch.rows, VOCABULARY)).round(0)
    chosen = batch.rng.integers(0, VOCABULARY, (batch.rows, 3))
    scores, ranks = torch.zeros(batch.rows, 3), torch.zeros(batch.rows, dtype=torch.int64)
    row_of_logits = tensor(logits, np.float32)
    kernels.token_logprobs(scores, row_of_logits, VOCABULARY, tensor(chosen, np.int64), 3, 3, VOCABULARY, BLOCK_SIZE=8)
    kernels.token_ranks(ranks, row_of_logits, VOCABULARY, tensor(chosen[:, 0]), VOCABULARY, BLOCK_SIZE=8)
    for row in range(batch.rows):
        for column, token in enumerate(chosen[row]):
            expected = logits[row, token] - math.log(sum(math.exp(logit) for logit in logits[row]))
            assert scores[row, column].item() == pytest.approx(expected, abs=1e-4)
        assert ranks[row].item() == sum(logit >= logits[row, chosen[row, 0]] for logit in logits[row])


def test_a_row_of_the_batch_by_hand():
    """Slot 2 has 3 prompt tokens, of which 1 is computed; the step computes the other 2."""
    ids, ahead = torch.full((2,), 9), torch.full((1, 3), 9)
    tokens = torch.tensor([[0, 0, 0, 0], [0, 0, 0, 0], [5, 6, 7, 0]])
    counts = {"prefill": torch.tensor([0, 0, 3]), "computed": torch.tensor([0, 0, 1])}
    row = torch.tensor([2]), torch.tensor([0, 2])
    kernels.prepare_prefill_inputs(ids, ahead, 3, 1, *row, tokens, 4, counts["prefill"], counts["computed"])
    assert ids.tolist() == [6, 7]
    assert ahead.tolist() == [[9, 9, 0]]
    positions, lengths = torch.full((2,), 9), torch.full((2,), 9)
    kernels.prepare_positions_and_lengths(positions, lengths, *row, counts["computed"], 2)
    assert positions.tolist() == [1, 2]
    assert lengths.tolist() == [3, 0]
