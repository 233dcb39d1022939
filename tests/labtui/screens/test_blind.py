from __future__ import annotations

import pytest

from labtui.screens.blind import BlindScreen
from tests.fakes.lab_servers import ServerThere

RED, BLUE = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"><rect width="20" height="10" fill="{colour}"/></svg>'
    for colour in ("red", "blue")
)
EVIDENCE = {"prompt": "Write an SVG of a flag.", "images": [], "finish_reason": "length"}
SECRETS = ("fp8", "gemma4", "tok/s", "run-of", "length", "700", "it parses", "check")


@pytest.fixture
def two(make_run, in_store):
    def keep(one: str = f"MINE {RED}", other: str = f"OTHER {BLUE}", number: int = 0, **changes):
        evidence = EVIDENCE | {"prompt": f"Write an SVG of flag {number}."}
        values = {"practice": False, "task_set": "diffusiongemma", "evidence": evidence, **changes}
        first = make_run(**{"id": f"run-of-fp8-{number}", "checkpoint": "fp8", "output": one, **values})
        second = make_run(**{"id": f"run-of-gemma4-{number}", "checkpoint": "gemma4", "output": other, **values})
        for run in (first, second):
            in_store(lambda store, run=run: store.runs.add(run))

    return keep


async def opened(lab, task: str | None = None) -> None:
    lab.app.push_screen(BlindScreen(task))
    await lab.settle()


def words(lab) -> str:
    return " ".join(lab.text.split())


async def test_nothing_gives_it_away_until_it_is_judged(running, two, in_store) -> None:
    two()
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        seen = []
        for keys in ((), ("t",), ("s",), ("t",), ("a",), ("b",), ("p",), ("escape",), ("o",)):
            await lab.press(*keys)
            seen.append(lab.text)
        assert not [secret for secret in SECRETS for text in seen if secret in text]
        assert any("MINE" in text for text in seen) and any("OTHER" in text for text in seen)
        await lab.press("enter")
        (tally,) = in_store(lambda store: store.judgements.tally())
        assert tally.judged == 1
        assert "A is" in words(lab) and "fp8" in words(lab) and "gemma4" in words(lab)
        assert "run-of-" in lab.text and "✓ it parses" in lab.text
        assert "You: B is better." in words(lab)


async def test_at_80_columns_one_answer_is_shown_and_a_key_shows_the_other(running, two, in_store) -> None:
    two()
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        (pair,) = in_store(lambda store: store.judgements.open_pairs())
        left, right = (text.split()[0] for text in (pair.left, pair.right))
        assert "▀" in lab.text
        await lab.press("t")
        assert "▀" not in lab.text and left in lab.text and right not in lab.text
        await lab.press("s")
        assert right in lab.text and left not in lab.text


async def test_a_wide_terminal_shows_both_with_their_pictures(running, two) -> None:
    two()
    async with running((140, 40), supervisor=ServerThere()) as lab:
        await opened(lab)
        assert "MINE" in lab.text and "OTHER" in lab.text
        assert all(picture.display for picture in lab.screen.query("Picture"))
        assert not [secret for secret in SECRETS if secret in lab.text]


@pytest.mark.parametrize(("key", "choice"), [("a", "left"), ("b", "right"), ("e", "equal"), ("x", "neither")])
async def test_each_judgement_is_one_key_and_the_note_is_kept(running, two, in_store, key, choice) -> None:
    two()
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        (pair,) = in_store(lambda store: store.judgements.open_pairs())
        await lab.press("x" if key == "a" else "a", key, "n", *"red", "escape", "enter")
        judgement = in_store(lambda store: store.judgements.reveal(pair.id)).judgement
        assert (judgement.choice, judgement.why, judgement.blind) == (choice, "red", True)


async def test_the_keys_of_a_fast_hand_go_into_the_note(running, two) -> None:
    two()
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        await lab.pilot.press("a", "n", *"spare")
        await lab.settle()
        assert lab.screen.query_one("#blind-note").text == "spare"
        assert "esc leaves the text" in lab.line and "A is better" in lab.text
        await lab.press("escape")
        assert "enter keeps it" in lab.line


async def test_enter_without_a_choice_keeps_nothing(running, two, in_store) -> None:
    two()
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        await lab.press("enter")
        assert in_store(lambda store: store.judgements.tally()) == []
        assert "gemma4" not in lab.text


async def test_a_pair_that_was_left_comes_back_with_its_note(running, two, in_store) -> None:
    two()
    two(number=1)
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        (pair,) = in_store(lambda store: store.judgements.open_pairs())
        await lab.press("a", "n", *"odd", "escape", "escape")
        await opened(lab)
        assert in_store(lambda store: store.judgements.open_pairs()) == [pair]
        assert "odd" in lab.text
        await lab.press("a", "enter", "enter")
        (next_pair,) = in_store(lambda store: store.judgements.open_pairs())
        assert next_pair.id != pair.id and "odd" not in lab.text and "You:" not in lab.text


async def test_the_last_judgement_is_taken_back_after_a_question(running, two, in_store) -> None:
    two()
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        await lab.press("u")
        assert "no judgement to take back" in lab.line
        await lab.press("a", "enter", "u")
        assert "Take back" in lab.text
        await lab.press("n")
        assert in_store(lambda store: store.judgements.tally())[0].judged == 1
        await lab.press("u", "y")
        assert in_store(lambda store: store.judgements.tally()) == []
        assert "Taken back, not counted." in words(lab)
        await lab.press("c")
        assert "No blind judgement yet" in lab.text


async def test_without_two_models_it_says_what_to_do(running, make_run, in_store) -> None:
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        assert "no valid run is kept" in words(lab) and "labtui run coding --seed 1" in words(lab)
        await lab.press("a", "enter", "t", "s", "n", "p", "o")
        in_store(
            lambda store: store.runs.add(
                make_run(practice=False, checkpoint="fp8", evidence={"prompt": "Draw.", "seed": 7})
            )
        )
        await lab.press("escape")
        await opened(lab)
        assert "labtui serve start --checkpoint gemma4 --wait" in words(lab)
        assert "labtui run coding --seed 7" in words(lab)


async def test_practice_is_labelled_before_and_after(running, two, in_store) -> None:
    practice = {"practice": True, "task_set": "practice", "checkpoint": "practice"}
    two(**practice, evidence=EVIDENCE | {"step_cap": {"steps": 4}})
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        assert "--sampler max_denoising_steps=1" in words(lab)
        two(number=1, **practice, evidence=EVIDENCE | {"step_cap": {"steps": 48}})
        await lab.press("escape")
        await opened(lab)
        assert "no evidence about DiffusionGemma" in words(lab) and "step cap" not in lab.text
        await lab.press("a", "enter")
        assert "no evidence about DiffusionGemma" in words(lab) and "practice (step cap 4)" in words(lab)
        await lab.press("c")
        assert "practice · practice (step cap" in words(lab)


async def test_bytes_that_steer_a_terminal_are_symbols(running, two) -> None:
    hostile = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202eflip"
    two(one=hostile, other=hostile + "!", task="cod\x1b[2Jing")
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        for keys in ((), ("s",), ("t",), ("a", "enter"), ("c",)):
            await lab.press(*keys)
            assert not set(lab.text) & {"\x1b", "\x07", "\x9b", "\u202e"}
        await lab.press("escape")
        assert "␛" in lab.title and "␛" in lab.text


async def test_an_svg_that_is_not_safe_is_text_with_the_reason(running, two) -> None:
    unsafe = RED.replace("<rect", "<script>x</script><rect")
    two(one=unsafe, other=unsafe + "!")
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        assert "▀" not in lab.text and "has no scripts: no" in words(lab)


async def test_saved_files_say_a_and_b_and_nothing_more(running, two, tmp_path) -> None:
    two(one=f"MINE {RED}", other="<html><p>OTHER</p></html>")
    async with running(supervisor=ServerThere()) as lab:
        await opened(lab)
        await lab.press("o")
        names = sorted(path.name for path in (tmp_path / "data" / "labtui" / "answers").iterdir())
        assert len(names) == 5 and all("-A." in name or "-B." in name for name in names)
        assert not any(secret in name for name in names for secret in ("fp8", "gemma4", "run-of"))


async def test_b_opens_it_from_the_lab(running, two) -> None:
    two()
    async with running(supervisor=ServerThere()) as lab:
        lab.app.open_lab("diffusiongemma")
        await lab.settle()
        await lab.press("b")
        assert isinstance(lab.screen, BlindScreen)
        assert "Blind" in lab.title
