from __future__ import annotations


def test_steps_are_done_and_undone(store):
    store.progress.mark("lesson", "card/intent")
    store.progress.mark("lesson", "deep/denoising")
    store.progress.mark("lesson", "card/intent")
    store.progress.mark("other", "frame")
    assert store.progress.done("lesson") == {"card/intent", "deep/denoising"}
    store.progress.mark("lesson", "card/intent", done=False)
    assert store.progress.done("lesson") == {"deep/denoising"}
    assert store.progress.done("nothing") == set()


def test_a_mark_keeps_the_text_that_was_read(store):
    store.progress.mark("lesson", "card/intent", fingerprint="first")
    store.progress.mark("lesson", "frame")
    read = store.progress.read_as("lesson")
    assert {step: one.fingerprint for step, one in read.items()} == {"card/intent": "first"}
    store.progress.mark("lesson", "card/intent", fingerprint="second")
    assert store.progress.read_as("lesson")["card/intent"].fingerprint == "second"
    store.progress.mark("lesson", "card/intent", done=False, fingerprint="second")
    assert store.progress.read_as("lesson") == {}


def test_drafts_are_listed_by_how_their_keys_begin(store):
    store.progress.save_draft("answer/le_son", "one")
    store.progress.save_draft("answer/le_son/a-1", "two")
    store.progress.save_draft("answer/lesson/a-2", "another lesson")
    store.progress.save_draft("answer/le_son/a-3", "done with")
    store.progress.clear_draft("answer/le_son/a-3")
    found = store.progress.drafts("answer/le_son")
    assert {key: draft.text for key, draft in found.items()} == {"answer/le_son": "one", "answer/le_son/a-1": "two"}


def test_the_position_is_the_last_one(store):
    assert store.progress.position("lesson") is None
    assert store.progress.last_lesson() is None
    store.progress.set_position("lesson", "card/intent")
    store.progress.set_position("other", "frame")
    store.progress.set_position("lesson", "deep/denoising")
    assert store.progress.position("lesson") == "deep/denoising"
    assert store.progress.last_lesson() == "lesson"


def test_guesses_keep_their_history(store):
    first = store.progress.save_guess("lesson", "more-tools", True, "More is more.")
    second = store.progress.save_guess("lesson", "more-tools", False, "")
    store.progress.save_guess("lesson", "memory", True, "")
    assert store.progress.guesses("lesson")["more-tools"] == second
    assert store.progress.guess_history("lesson")[1:] == [second, first]


def test_gates_keep_their_history_and_can_be_taken_back(store):
    first = store.progress.save_gate("lesson", "claim", "In my words.")
    second = store.progress.save_gate("lesson", "claim", "In better words.")
    assert store.progress.gates("lesson") == {"claim": second}
    store.progress.save_gate("lesson", "claim", " ")
    assert store.progress.gates("lesson") == {}
    assert store.progress.gate_history("lesson", "claim")[1:] == [second, first]


def test_notes_keep_their_history_and_can_be_taken_away(store):
    first = store.progress.save_note("lesson", "card/tools", "May read one picture.")
    second = store.progress.save_note("lesson", "card/tools", "May read one picture, nothing else.")
    other = store.progress.save_note("lesson", "practice/teach-back", "Told it to Ann.")
    assert store.progress.notes("lesson") == {"card/tools": second, "practice/teach-back": other}
    store.progress.save_note("lesson", "card/tools", "")
    assert store.progress.notes("lesson") == {"practice/teach-back": other}
    assert store.progress.note_history("lesson")[2:] == [second, first]


def test_drafts_are_kept_replaced_and_cleared(store):
    assert store.progress.draft("verdict/lesson") is None
    store.progress.save_draft("verdict/lesson", "Half a sen")
    store.progress.save_draft("verdict/lesson", "Half a sentence, 半句话")
    store.progress.save_draft("recall/lesson/item", "")
    assert store.progress.draft("verdict/lesson") == "Half a sentence, 半句话"
    assert store.progress.draft("recall/lesson/item") is None, "an empty text is no draft"
    store.progress.clear_draft("verdict/lesson")
    store.progress.clear_draft("verdict/lesson")
    assert store.progress.draft("verdict/lesson") is None
