from __future__ import annotations

import threading

from labtui.widgets.tick_list import TickList
from labtui.widgets.writing import Writing

LESSON = "diffusiongemma"


async def test_a_verdict_is_written_with_the_runs_it_cites(running, in_store, make_run) -> None:
    coding = in_store(lambda store: store.runs.add(make_run()))
    vision = in_store(lambda store: store.runs.add(make_run(task="vision", started_at="2026-03-02T09:20:00+00:00")))
    async with running(keys=("v",)) as lab:
        assert "does the gain in speed" in " ".join(lab.text.split())
        assert set(lab.screen.query_one(TickList).ticked) == {coding.id, vision.id}
        await lab.press("space", "w")
        await lab.type("For drafts yes.")
        assert in_store(lambda store: store.verdicts.latest(LESSON)) is None
        await lab.press("escape", "s")
        assert "Saved, citing 1 run." in lab.line
    verdict = in_store(lambda store: store.verdicts.latest(LESSON))
    assert (verdict.text, verdict.runs) == ("For drafts yes.", (coding.id,))
    assert in_store(lambda store: store.progress.draft(f"verdict/{LESSON}")) is None


async def test_a_verdict_on_practice_runs_alone_says_so(running, in_store, make_run) -> None:
    in_store(lambda store: store.runs.add(make_run()))
    async with running(keys=("v",)) as lab:
        assert "! practice checkpoint" in lab.text
        await lab.press("space")
        assert "! practice checkpoint" not in lab.text


async def test_draft_and_ticks_are_there_after_the_app_was_killed(running, in_store, make_run) -> None:
    in_store(lambda store: store.runs.add(make_run()))
    async with running(keys=("v", "space", "w")) as lab:
        await lab.type("half a verd")
    async with running(keys=("v",)) as lab:
        assert lab.screen.query_one(Writing).text == "half a verd"
        assert lab.screen.query_one(TickList).ticked == ()
        assert "draft, not saved" in lab.text


async def test_a_saved_verdict_is_changed_and_the_earlier_one_is_kept(running, in_store) -> None:
    in_store(lambda store: store.verdicts.save(LESSON, "No.", ()))
    async with running(keys=("v",)) as lab:
        assert lab.screen.query_one(Writing).text == "No."
        await lab.press("w")
        await lab.type(" Yes")
        await lab.press("escape", "s", "y")
        assert "No. Yes" in lab.text
        assert lab.text.count("citing no run") == 2
    assert len(in_store(lambda store: store.verdicts.history(LESSON))) == 2


async def test_an_empty_verdict_is_not_saved(running, in_store) -> None:
    async with running(keys=("v", "s")) as lab:
        assert "nothing to save" in lab.line
    assert in_store(lambda store: store.verdicts.history(LESSON)) == []


async def test_a_store_that_stays_locked_loses_nothing_and_says_so(running, in_store, monkeypatch) -> None:
    from store.errors import StoreError

    def refuse(self, *_args):
        raise StoreError("The store is busy", "another program holds it", "Close it and save again.")

    async with running(keys=("v", "w")) as lab:
        await lab.type("kept")
        monkeypatch.setattr("store.verdicts.Verdicts.save", refuse)
        await lab.press("escape", "s")
        assert "The store is busy" in lab.text
        await lab.press("escape")
        assert lab.screen.query_one(Writing).text == "kept"
        monkeypatch.undo()
    assert in_store(lambda store: store.progress.draft(f"verdict/{LESSON}")) == "kept"


async def test_leaving_at_once_does_not_lose_what_was_typed(running, in_store) -> None:
    async with running(keys=("v", "w")) as lab:
        held = threading.Event()
        waiting = lab.app.books.submit(lambda store: held.wait(20))
        await lab.pilot.press("o", "k", "escape", "escape")
        assert type(lab.screen).__name__ == "HomeScreen"
        held.set()
        assert waiting.result()
        await lab.settle()
    assert in_store(lambda store: store.progress.draft(f"verdict/{LESSON}")) == "ok"


async def test_control_bytes_in_a_verdict_do_not_reach_the_terminal(running, in_store) -> None:
    in_store(lambda store: store.verdicts.save(LESSON, "no \x1b]0;owned\x07 \x9b31m way", ()))
    async with running(keys=("v",)) as lab:
        assert "owned" in lab.text
        assert not {"\x1b", "\x07", "\x9b"} & set(lab.text)
        await lab.press("y")
        assert not {"\x1b", "\x07", "\x9b"} & set(lab.text)


async def test_saving_the_same_again_adds_no_further_verdict(running, in_store) -> None:
    async with running(keys=("v", "w")) as lab:
        await lab.type("No.")
        await lab.press("escape", "s", "s")
        assert lab.line.startswith("✓ Saved, citing no run")
        assert len(in_store(lambda store: store.verdicts.history(LESSON))) == 1
        await lab.press("w")
        await lab.type(" Yes")
        await lab.press("escape", "s")
    assert [one.text for one in in_store(lambda store: store.verdicts.history(LESSON))] == ["No. Yes", "No."]


async def test_the_blind_counts_stand_below_the_runs_and_a_key_puts_them_into_the_text(
    running, make_run, in_store
) -> None:
    def judge(store) -> None:
        runs = [
            store.runs.add(make_run(practice=False, checkpoint=name, output=name, evidence={"prompt": "Draw."}))
            for name in ("bf16", "gemma4")
        ]
        pair = store.judgements.make_pair(*(run.id for run in runs))
        store.judgements.judge(pair.id, "left" if pair.left == "gemma4" else "right")

    in_store(judge)
    async with running() as lab:
        lab.app.open_verdict("diffusiongemma")
        await lab.settle()
        sentence = "Of 1 pair of answers to coding judged blind, bf16 was better in 0 and gemma4 in 1"
        assert sentence in " ".join(lab.text.split())
        await lab.press("b", "b", "s")
        saved = in_store(lambda store: store.verdicts.latest("diffusiongemma"))
        assert saved.text.count(sentence) == 1
