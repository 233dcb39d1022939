from __future__ import annotations

from dataclasses import fields, replace

import pytest

from store import Store, StoreError
from store.judgements import Pair


@pytest.fixture
def answers(store, make_run):
    def answers(number: int = 0, **changes):
        evidence = {"prompt": f"Write SVG number {number}.", "images": []}
        one = {"practice": False, "checkpoint": "fp8", "output": "of diffusion", "evidence": evidence}
        two = {"practice": False, "checkpoint": "gemma4", "output": "of the baseline", "evidence": evidence}
        return store.runs.add(make_run(**one)), store.runs.add(make_run(**{**two, **changes}))

    return answers


def pair_of(store, runs):
    return store.judgements.make_pair(runs[0].id, runs[1].id)


def test_a_pair_tells_nothing_of_whose_the_answers_are(store, answers):
    runs = answers()
    pair = pair_of(store, runs)
    assert {pair.left, pair.right} == {"of diffusion", "of the baseline"}
    assert {field.name for field in fields(Pair)} == {"id", "task", "left", "right", "made_at", "practice"}
    assert not any(run.id in repr(pair) or run.checkpoint in repr(pair) for run in runs)
    with pytest.raises(StoreError, match="not judged yet") as caught:
        store.judgements.reveal(pair.id)
    assert caught.value.exit_code == 2


def test_the_order_is_random(store, answers):
    runs = answers()
    assert {pair_of(store, runs).left for _ in range(40)} == {"of diffusion", "of the baseline"}


def test_the_judgement_names_the_run_that_was_preferred(store, answers):
    pair = pair_of(store, answers())
    judged = store.judgements.judge(pair.id, "left", "Its labels can be read.")
    revealed = store.judgements.reveal(pair.id)
    assert judged.blind and revealed.judgement == judged
    assert revealed.preferred is not None and revealed.preferred.output == pair.left
    assert store.judgements.open_pairs() == []


def test_what_is_said_after_the_reveal_is_kept_and_not_counted(store, answers):
    pair = pair_of(store, answers())
    store.judgements.judge(pair.id, "equal")
    second = store.judgements.judge(pair.id, "left", "Now that I know.")
    assert not second.blind
    assert store.judgements.reveal(pair.id).judgement.choice == "equal"
    assert store.judgements.tally()[0].judged == 1


def test_the_tally_counts_for_each_checkpoint_whatever_side_it_stood_on(store, answers):
    for number in range(12):
        pair = pair_of(store, answers(number))
        if number < 8:
            store.judgements.judge(pair.id, "left" if pair.left == "of diffusion" else "right")
        else:
            store.judgements.judge(pair.id, "equal" if number < 10 else "neither")
    pair_of(store, answers(99))
    (tally,) = store.judgements.tally("coding")
    assert (tally.first, tally.second) == ("fp8", "gemma4")
    assert (tally.first_preferred, tally.second_preferred, tally.equal, tally.neither) == (8, 0, 2, 2)
    assert tally.judged == 12
    assert store.judgements.tally("vision") == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"practice": True}, "practice checkpoint"),
        ({"checkpoint": "fp8"}, "both are from fp8"),
        ({"task": "vision"}, "different tasks"),
        ({"evidence": {"prompt": "Another.", "images": []}}, "prompts or pictures differ"),
        ({"valid": False, "invalid_reason": "the text is empty"}, "the text is empty"),
    ],
)
def test_runs_that_make_no_fair_pair_are_refused(store, answers, changes, reason):
    one, other = answers(**changes)
    with pytest.raises(StoreError, match=reason) as caught:
        store.judgements.make_pair(one.id, other.id)
    assert caught.value.exit_code == 2
    assert store.judgements.open_pairs() == []


def test_two_settings_of_one_checkpoint_make_a_pair(store, answers):
    capped = {"prompt": "Write SVG number 0.", "images": [], "step_cap": {"steps": 4}, "thinking": {"state": "on"}}
    pair = pair_of(store, answers(checkpoint="fp8", evidence=capped))
    store.judgements.judge(pair.id, "left" if pair.left == "of diffusion" else "right")
    (tally,) = store.judgements.tally()
    assert (tally.first, tally.second) == ("fp8", "fp8 (thinking, step cap 4)")
    assert (tally.first_preferred, tally.second_preferred, tally.pairs) == (1, 0, (pair.id,))


def test_practice_is_counted_apart_from_what_is_no_practice(store, answers):
    capped = {
        "prompt": "Write SVG number 0.",
        "images": [],
        "sampler": {"t_min": 0.4, "entropy_bound": 0.5, "max_denoising_steps": 4},
    }
    one = store.runs.add(answers_of(answers, practice=True, checkpoint="practice"))
    other = store.runs.add(answers_of(answers, practice=True, checkpoint="practice", evidence=capped))
    pair = store.judgements.make_pair(one.id, other.id)
    assert pair.practice
    store.judgements.judge(pair.id, "neither")
    (tally,) = store.judgements.tally()
    assert tally.practice and tally.second == "practice (entropy_bound 0.5)"


def answers_of(answers, **changes):
    return replace(answers()[1], id="", **changes)


def test_a_judgement_is_taken_back_and_the_pair_is_not_offered_again(store, answers):
    first, second = answers(), answers(1)
    for runs in (first, second):
        store.judgements.judge(pair_of(store, runs).id, "left")
    last = store.judgements.last_judged()
    assert last is not None
    assert store.judgements.withdraw(last.pair.id).withdrawn
    assert store.judgements.withdraw(last.pair.id).withdrawn
    assert store.judgements.tally()[0].judged == 1
    assert frozenset(run.id for run in (last.left, last.right)) in store.judgements.judged_runs()
    assert store.judgements.open_pairs() == []
    assert not store.judgements.judge(last.pair.id, "right").blind
    before = store.judgements.last_judged()
    assert before is not None and before.pair.id != last.pair.id
    with pytest.raises(StoreError):
        store.judgements.withdraw("p-none")


def test_a_pair_with_a_damaged_run_is_left_out(store, answers):
    runs, others = answers(), answers(1)
    store.judgements.judge(pair_of(store, runs).id, "left")
    pair_of(store, others)
    with store.judgements._connection.writing() as db:
        db.execute("UPDATE runs SET document = '{'")
    assert store.judgements.tally() == [] and store.judgements.open_pairs() == []


def test_an_unknown_pair_and_an_unknown_choice_are_explained(store, answers):
    pair = pair_of(store, answers())
    for call in (lambda: store.judgements.judge(pair.id, "both"), lambda: store.judgements.judge("p-none", "left")):
        with pytest.raises(StoreError) as caught:
            call()
        assert caught.value.exit_code == 2


def test_pairs_and_judgements_survive_closing(store, answers):
    pair = pair_of(store, answers())
    store.judgements.judge(pair.id, "right", "模型 better")
    store.close()
    with Store.open(store.path) as again:
        assert again.judgements.reveal(pair.id).judgement.why == "模型 better"
        assert again.check() == []
