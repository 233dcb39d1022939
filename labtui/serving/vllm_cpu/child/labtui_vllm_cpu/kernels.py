"""CPU versions of the small Triton kernels on Model Runner V2's path, for vLLM 0.32.0.

vLLM launches `kernel[grid](...)`; its dispatcher drops the grid and calls these with the launch arguments in the
order of the Triton kernel. One call here does the work of the whole grid. Tensors are CPU tensors, so `.numpy()` is a
view and writing to it writes to the tensor. Keyword arguments keep Triton's names.

Words: a *row* is a place in the batch, a *slot* is the request's place in the persistent state (`slot_of_row[row]`);
`query_starts` and `logit_starts` have one entry more than there are rows.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

INT32_BYTES = 4


def _int32_at(address: int, length: int) -> NDArray[np.int32]:
    """A writable view of memory that a tensor owns; block tables come as addresses."""
    return np.ctypeslib.as_array(ctypes.cast(int(address), ctypes.POINTER(ctypes.c_int32)), (int(length),))


def apply_writes(
    out: Tensor,  # [rows, columns], or with MULTI_GROUP the address of each group's int32 table
    stride: Tensor | int,  # columns; with MULTI_GROUP one of each group
    row_indices: Tensor,  # [writes]
    start_columns: Tensor,  # [writes]
    contents: Tensor,  # all writes' values one after the other
    content_ends: Tensor,  # [writes] where each write's values end in contents
    groups: Tensor | None,  # [writes], with MULTI_GROUP
    *,
    MULTI_GROUP: bool,
    **_launch: object,
) -> None:
    """Copies each write's values to its row from its start column on."""
    values, ends = contents.numpy(), content_ends.numpy()
    rows, starts = row_indices.numpy(), start_columns.numpy()
    begin = 0
    for write, end in enumerate(ends.tolist()):
        length = end - begin
        if length > 0:
            if MULTI_GROUP:
                assert groups is not None and not isinstance(stride, int)
                group = int(groups[write])
                offset = int(rows[write]) * int(stride[group]) + int(starts[write])
                target = _int32_at(int(out.numpy()[group]) + INT32_BYTES * offset, length)
            else:
                offset = int(rows[write]) * int(stride) + int(starts[write])
                target = out.view(-1).numpy()[offset : offset + length]
            target[:] = values[begin:end]
        begin = end


def gather_block_tables(
    slot_of_row: Tensor,  # [rows]
    source_addresses: Tensor,  # [groups] int32 tables [slots, stride]
    target_addresses: Tensor,  # [groups] int32 tables [rows, stride]
    strides: Tensor,  # [groups]
    block_counts: Tensor,  # [groups, slots]
    _block_counts_stride: int,
    num_rows: int,
    **_launch: object,
) -> None:
    """Copies the used part of each request's block table to its row of the batch.

    The Triton kernel also clears rows that pad the batch for CUDA graphs; the CPU has no such graphs, so no such rows.
    """
    counts = block_counts.numpy()
    slots = slot_of_row.numpy()[: int(num_rows)].tolist()
    tables = zip(source_addresses.tolist(), target_addresses.tolist(), strides.tolist(), strict=True)
    for group, (source, target, stride) in enumerate(tables):
        for row, slot in enumerate(slots):
            count = int(counts[group, slot])
            if count:
                blocks = _int32_at(source + INT32_BYTES * slot * stride, count)
                _int32_at(target + INT32_BYTES * row * stride, count)[:] = blocks


def compute_slot_mappings(
    _max_num_tokens: int,
    slot_of_row: Tensor,  # [rows]; negative: a dummy request that owns no blocks
    query_starts: Tensor,
    positions: Tensor,  # [tokens] in the request
    table_addresses: Tensor,  # [groups] int32 tables [slots, stride]
    table_strides: Tensor,  # [groups]
    block_sizes: Tensor,  # [groups] tokens in a block
    enabled: Tensor,  # [groups]
    _sharded: Tensor,
    slot_mappings: Tensor,  # [groups, max_num_tokens] out: the token's place in the KV cache
    _slot_mappings_stride: int,
    _context_parallel_rank: int,
    *,
    CP_SIZE: int,
    PAD_ID: int,
    **_launch: object,
) -> None:
    if CP_SIZE != 1:
        raise NotImplementedError("context parallelism has no CPU kernel in labtui; use one process")
    starts = query_starts.numpy().tolist()
    place, out = positions.numpy(), slot_mappings.numpy()
    groups = zip(
        table_addresses.tolist(), table_strides.tolist(), block_sizes.tolist(), enabled.tolist(), out, strict=True
    )
    slots = slot_of_row.tolist()
    for address, stride, block_size, is_enabled, mapping in groups:
        mapping[starts[len(slots)] :] = PAD_ID
        for row, slot in enumerate(slots):
            begin, end = starts[row], starts[row + 1]
            if slot < 0 or not is_enabled:
                mapping[begin:end] = PAD_ID
                continue
            table = _int32_at(address + INT32_BYTES * slot * stride, stride)
            inside = place[begin:end]
            mapping[begin:end] = table[inside // block_size].astype(np.int64) * block_size + inside % block_size


def prepare_prefill_inputs(
    input_ids: Tensor,  # [tokens] out
    next_prefill_tokens: Tensor,  # [lookahead, slots] out
    _next_prefill_tokens_stride: int,
    num_lookahead: int,
    slot_of_row: Tensor,
    query_starts: Tensor,
    all_token_ids: Tensor,  # [slots, max_model_len]
    _all_token_ids_stride: int,
    prefill_lengths: Tensor,  # [slots]
    computed_counts: Tensor,  # [slots]
    **_launch: object,
) -> None:
    """Copies the prompt tokens that this step computes, and the few after them; rows past their prompt are left."""
    ids, ahead, tokens = input_ids.numpy(), next_prefill_tokens.numpy(), all_token_ids.numpy()
    starts = query_starts.numpy().tolist()
    for row, slot in enumerate(slot_of_row.tolist()):
        computed, prefill_length = int(computed_counts[slot]), int(prefill_lengths[slot])
        if computed >= prefill_length:
            continue
        after = computed + starts[row + 1] - starts[row]
        ids[starts[row] : starts[row + 1]] = tokens[slot, computed:after]
        for step in range(int(num_lookahead)):
            ahead[step, slot] = tokens[slot, after + step] if after + step < prefill_length else 0


def prepare_positions_and_lengths(
    positions: Tensor,  # [tokens] out
    sequence_lengths: Tensor,  # [max_rows] out
    slot_of_row: Tensor,
    query_starts: Tensor,
    computed_counts: Tensor,  # [slots]
    max_rows: int,
    **_launch: object,
) -> None:
    place, lengths = positions.numpy(), sequence_lengths.numpy()
    starts = query_starts.numpy().tolist()
    slots = slot_of_row.tolist()
    lengths[len(slots) : int(max_rows)] = 0
    for row, slot in enumerate(slots):
        begin, end = starts[row], starts[row + 1]
        computed = int(computed_counts[slot])
        lengths[row] = computed + end - begin
        place[begin:end] = np.arange(computed, computed + end - begin)


def combine_sampled_and_draft_tokens(
    input_ids: Tensor,  # [tokens] in and out
    slot_of_row: Tensor,
    last_sampled: Tensor,  # [slots] or [slots, 1]
    query_starts: Tensor,
    sequence_lengths: Tensor,  # [rows]
    prefill_lengths: Tensor,  # [slots]
    draft_tokens: Tensor,  # [slots, drafts]
    _draft_tokens_stride: int,
    logit_starts: Tensor,  # [rows + 1]
    logits_indices: Tensor,  # [logits] out: which tokens get logits
    *,
    NUM_NEW_SAMPLED_TOKENS: int = 1,
    **_launch: object,
) -> None:
    """Marks the last tokens of each row for logits; past the prompt it fills them with sampled and draft tokens.

    A canvas of block diffusion arrives here as draft tokens, with no newly sampled one.
    """
    ids, drafts, indices = input_ids.numpy(), draft_tokens.numpy(), logits_indices.numpy()
    last = last_sampled.view(-1)
    starts, logits = query_starts.numpy().tolist(), logit_starts.numpy().tolist()
    for row, slot in enumerate(slot_of_row.tolist()):
        query_end, num_logits = starts[row + 1], logits[row + 1] - logits[row]
        first = query_end - num_logits
        indices[logits[row] : logits[row + 1]] = np.arange(first, query_end)
        sequence_length, prefill_length = int(sequence_lengths[row]), int(prefill_lengths[slot])
        if sequence_length <= prefill_length:
            continue
        if NUM_NEW_SAMPLED_TOKENS > 0 and sequence_length - num_logits >= prefill_length:
            ids[first] = int(last[slot])
        num_drafts = num_logits - NUM_NEW_SAMPLED_TOKENS
        if num_drafts > 0:
            ids[query_end - num_drafts : query_end] = drafts[slot, :num_drafts]


def count_sampled_and_rejected(
    num_sampled: Tensor,  # [rows] in and out
    num_rejected: Tensor,  # [rows] out
    sequence_lengths: Tensor,  # [rows]
    logit_starts: Tensor,  # [rows + 1]
    slot_of_row: Tensor,
    prefill_lengths: Tensor,  # [slots]
    **_launch: object,
) -> None:
    """What was not sampled was rejected, but for rows still in the middle of their prompt, where neither counts."""
    sampled, rejected = num_sampled.numpy(), num_rejected.numpy()
    slots = slot_of_row.numpy()
    rows = len(slots)
    in_prompt = sequence_lengths.numpy()[:rows] < prefill_lengths.numpy()[slots]
    sampled[:rows][in_prompt] = 0
    rejected[:rows] = np.where(in_prompt, 0, np.diff(logit_starts.numpy()[: rows + 1]) - sampled[:rows])


def update_after_sampling(
    slot_of_row: Tensor,  # [rows]; negative: skip
    computed_counts: Tensor,  # [slots] in and out
    last_sampled: Tensor,  # [slots] or [slots, 1] out
    output_counts: Tensor | None,  # [slots, vocabulary] in and out
    _output_counts_stride: int,
    sampled_tokens: Tensor,  # [rows, sampled at most]
    _sampled_tokens_stride: int,
    num_sampled: Tensor,  # [rows]
    num_rejected: Tensor,  # [rows]
    query_starts: Tensor | None,
    all_token_ids: Tensor,  # [slots, max_model_len] in and out
    _all_token_ids_stride: int,
    total_lengths: Tensor,  # [slots] in and out
    **_launch: object,
) -> None:
    """Appends what was sampled to each request's tokens and moves its counters on."""
    computed, last, lengths = computed_counts.numpy(), last_sampled.view(-1).numpy(), total_lengths.numpy()
    tokens, sampled = all_token_ids.numpy(), sampled_tokens.numpy()
    starts = None if query_starts is None else query_starts.numpy().tolist()
    for row, slot in enumerate(slot_of_row.tolist()):
        if slot < 0:
            continue
        count = int(num_sampled[row])
        if count > 0:
            new = sampled[row, :count]
            length = int(lengths[slot])
            last[slot] = new[-1]
            tokens[slot, length : length + count] = new
            lengths[slot] = length + count
            if output_counts is not None:
                np.add.at(output_counts.numpy()[slot], new, 1)
        queried = 0 if starts is None else starts[row + 1] - starts[row]
        computed[slot] += queried - int(num_rejected[row])


def update_computed_counts(
    slot_of_row: Tensor, computed_counts: Tensor, query_starts: Tensor, **_launch: object
) -> None:
    slots = slot_of_row.numpy()
    np.add.at(computed_counts.numpy(), slots, np.diff(query_starts.numpy()[: len(slots) + 1]))


def expand_rows_to_logits(
    slot_of_row: Tensor,
    slot_of_logit: Tensor,  # [logits] out
    place_of_logit: Tensor,  # [logits] out: counts up from 0 in each row
    logit_starts: Tensor,  # [rows + 1]
    **_launch: object,
) -> None:
    slots = slot_of_row.numpy()
    starts = logit_starts.numpy()[: len(slots) + 1]
    lengths = np.diff(starts)
    total = int(starts[-1])
    slot_of_logit.numpy()[:total] = np.repeat(slots, lengths)
    place_of_logit.numpy()[:total] = np.arange(total) - np.repeat(starts[:-1], lengths)


def token_logprobs(
    out: Tensor,  # [rows, chosen] float32
    logits: Tensor,  # [rows, vocabulary]
    _logits_stride: int,
    token_ids: Tensor,  # [rows, chosen] int64
    *_sizes: int,
    **_launch: object,
) -> None:
    out.copy_(logits.float().log_softmax(-1).gather(-1, token_ids))


def token_ranks(
    out: Tensor,  # [rows]: 1 for the most likely token
    logits: Tensor,  # [rows, vocabulary]
    _logits_stride: int,
    token_ids: Tensor,  # [rows]
    *_sizes: int,
    **_launch: object,
) -> None:
    chosen = logits.gather(-1, token_ids.long().view(-1, 1))
    out.copy_((logits >= chosen).sum(-1))


_WORKER = "vllm.v1.worker.gpu"
BY_NAME: dict[str, Callable[..., Any]] = {
    f"{_WORKER}.buffer_utils._apply_write_kernel": apply_writes,
    f"{_WORKER}.block_table._gather_block_tables_kernel": gather_block_tables,
    f"{_WORKER}.block_table._compute_slot_mappings_kernel": compute_slot_mappings,
    f"{_WORKER}.input_batch._prepare_prefill_inputs_kernel": prepare_prefill_inputs,
    f"{_WORKER}.input_batch._prepare_pos_seq_lens_kernel": prepare_positions_and_lengths,
    f"{_WORKER}.input_batch._combine_sampled_and_draft_tokens_kernel": combine_sampled_and_draft_tokens,
    f"{_WORKER}.input_batch._get_num_sampled_and_rejected_kernel": count_sampled_and_rejected,
    f"{_WORKER}.input_batch._post_update_kernel": update_after_sampling,
    f"{_WORKER}.input_batch._post_update_num_computed_tokens_kernel": update_computed_counts,
    f"{_WORKER}.input_batch._expand_idx_mapping_kernel": expand_rows_to_logits,
    f"{_WORKER}.sample.logprob._topk_log_softmax_kernel": token_logprobs,
    f"{_WORKER}.sample.logprob._ranks_kernel": token_ranks,
}
