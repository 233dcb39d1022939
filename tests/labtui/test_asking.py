"""Asking a model the grounded prompt: against a server that speaks the protocol, faults included."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from exercises.endpoint import Endpoint
from labtui.asking import MAX_TOKENS, Place, ask_and_keep, place_to_ask, prompt_tokens, tokens_for_answer
from labtui.errors import FAILED, NO_SERVER, USAGE, LabError
from labtui.kept_answers import kept_answer, kept_answers
from labtui.serving.supervisor import Supervisor
from lessons.finding import find_lesson
from lessons.prompt import grounded_prompt
from store.opening import Store
from tests.fakes.vllm_stream import MODEL, Canvas, FakeVllm, Script

LESSON = find_lesson("diffusiongemma")
KEY = "sk-a-secret-of-the-test"
WORDS = "## Source check\nThe video promises over 1,100 tokens per second (0:34).\n"
ANSWER = Script((Canvas(0.0, 20, WORDS[:30]), Canvas(0.01, 20, WORDS[30:])))


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABTUI_API_KEY", raising=False)


@pytest.fixture
def supervisor(tmp_path: Path) -> Supervisor:
    return Supervisor(state_dir=tmp_path / "state")


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "labtui.db") as opened:
        yield opened


def ask(fake: FakeVllm, supervisor: Supervisor, store: Store, **options):
    place = place_to_ask(supervisor, fake.url)
    return ask_and_keep(LESSON, place, store.progress.save_draft, **options)


def test_the_answer_is_kept_as_a_draft_with_who_gave_it(supervisor, store) -> None:
    seen: list[str] = []
    with FakeVllm(ANSWER) as fake:
        answer = ask(fake, supervisor, store, on_text=lambda text, seconds: seen.append(text))
        (body,) = fake.bodies
    assert body["messages"] == [{"role": "user", "content": grounded_prompt(LESSON)}]
    assert answer.text == WORDS and answer.remark == ""
    assert seen[0] == WORDS[:30] and seen[-1] == WORDS
    kept = kept_answer(LESSON.id, None, store)
    assert (kept.id, kept.text, kept.about) == (answer.id, WORDS, answer.about)
    assert (kept.about.model, kept.about.server, kept.about.ended) == (MODEL, fake.url, "complete")


def test_what_came_before_a_kill_is_kept(supervisor, store) -> None:
    """The text is on the disk before the second canvas, when nothing more has a chance to run."""

    def killed(text: str, seconds: float) -> None:
        raise SystemExit

    with FakeVllm(Script((Canvas(0.0, 20, WORDS),), hang=True)) as fake, pytest.raises(SystemExit):
        ask(fake, supervisor, store, on_text=killed)
    (kept,) = kept_answers(LESSON.id, store)
    assert kept.text == WORDS
    assert kept.remark.startswith("not finished")


def test_stopping_keeps_what_came_and_says_so(supervisor, store) -> None:
    cancel = threading.Event()
    with FakeVllm(Script((Canvas(0.0, 20, WORDS),), hang=True)) as fake:
        answer = ask(fake, supervisor, store, on_text=lambda text, seconds: cancel.set(), cancel=cancel)
        assert fake.closed_early.wait(5)
    assert answer.text == WORDS
    assert kept_answer(LESSON.id, None, store).remark == "cut off: you stopped it"


def test_stopping_before_the_first_word_keeps_nothing(supervisor, store) -> None:
    cancel = threading.Event()
    cancel.set()
    with FakeVllm(ANSWER) as fake, pytest.raises(LabError, match="Stopped before anything came"):
        ask(fake, supervisor, store, cancel=cancel)
    assert kept_answers(LESSON.id, store) == []


@pytest.mark.parametrize(
    ("script", "remark"),
    [
        (Script(ANSWER.canvases, finish_reason="length"), "cut off: its limit of tokens was used up"),
        (Script(ANSWER.canvases, break_off_at_s=0.02), "cut off: the connection or the server failed ("),
        (Script(ANSWER.canvases, error_at_s=0.02), "cut off: the connection or the server failed (EngineCore"),
    ],
    ids=["limit", "connection", "engine"],
)
def test_an_answer_that_was_cut_off_is_kept_and_says_so(supervisor, store, script, remark) -> None:
    with FakeVllm(script) as fake:
        ask(fake, supervisor, store)
    kept = kept_answer(LESSON.id, None, store)
    assert kept.text == WORDS
    assert kept.remark.startswith(remark)


@pytest.mark.parametrize(
    ("script", "title", "said"),
    [
        (Script((Canvas(0.0, 1, ""),)), "The answer is empty", "without a word"),
        (Script((Canvas(0.0, 9, "<think>so</think> \n"),)), "The answer is empty", "without a word"),
        (
            Script((Canvas(0.0, 9, "", reasoning="Let me see"),), finish_reason="length"),
            "The answer is empty",
            "with thinking",
        ),
        (Script(refuse_in_stream="out of memory"), "The answer broke off before its first word", "out of memory"),
        (
            Script(refuse=(400, "This model's maximum context length is 4096 tokens. However, you requested 5000")),
            "The prompt does not fit this model's context",
            "maximum context length is 4096",
        ),
        (Script(refuse=(503, "still loading")), "The server is not ready", "still loading"),
    ],
)
def test_where_no_answer_came_the_reason_is_said_and_nothing_is_kept(supervisor, store, script, title, said) -> None:
    store.progress.save_draft(f"answer/{LESSON.id}", "pasted before")
    with FakeVllm(script) as fake, pytest.raises(LabError) as caught:
        ask(fake, supervisor, store)
    assert caught.value.title == title
    assert said in caught.value.cause
    assert [one.text for one in kept_answers(LESSON.id, store)] == ["pasted before"]


def test_thinking_in_front_of_the_answer_is_left_out(supervisor, store) -> None:
    with FakeVllm(Script((Canvas(0.0, 9, "<think>He says 5.</think>\n"), Canvas(0.01, 9, WORDS)))) as fake:
        assert ask(fake, supervisor, store).text == WORDS


def test_a_server_that_is_not_there_is_named(supervisor) -> None:
    with pytest.raises(LabError) as caught:
        place_to_ask(supervisor, "http://127.0.0.1:9")
    assert caught.value.exit_code == NO_SERVER
    assert "http://127.0.0.1:9" in caught.value.title


def test_without_a_server_and_an_address_both_ways_are_named(supervisor) -> None:
    with pytest.raises(LabError, match="No server is running") as caught:
        place_to_ask(supervisor)
    assert "labtui serve start" in caught.value.fix and "--url" in caught.value.fix


def test_the_key_is_sent_and_stands_nowhere_else(supervisor, store, monkeypatch, tmp_path) -> None:
    script = Script((Canvas(0.0, 20, f"Your key is {KEY}, says the video.\n"),))
    with FakeVllm(script, api_key=KEY) as fake:
        with pytest.raises(LabError) as caught:
            ask(fake, supervisor, store)
        assert caught.value.title == "The server wants an API key"
        monkeypatch.setenv("LABTUI_API_KEY", "another")
        with pytest.raises(LabError) as caught:
            ask(fake, supervisor, store)
        assert caught.value.title == "The server does not accept the API key"
        assert "LABTUI_API_KEY" in caught.value.fix
        monkeypatch.setenv("MINE", KEY)
        place = place_to_ask(supervisor, fake.url, key_variable="MINE")
        answer = ask_and_keep(LESSON, place, store.progress.save_draft)
    assert KEY not in answer.text and "[api key]" in answer.text
    assert KEY not in repr(place)
    store.close()
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]


def test_a_variable_that_is_not_there_is_said_before_anything_is_sent(supervisor) -> None:
    with pytest.raises(LabError, match="There is no API key"):
        place_to_ask(supervisor, "http://127.0.0.1:9", key_variable="NOT_THERE")


def test_of_several_models_one_must_be_named(supervisor, store) -> None:
    with FakeVllm(ANSWER, models=("one", "two")) as fake:
        with pytest.raises(LabError, match="Which model is to be asked") as caught:
            place_to_ask(supervisor, fake.url)
        assert "one, two" in caught.value.cause
        with pytest.raises(LabError, match="does not serve the model 'three'"):
            place_to_ask(supervisor, fake.url, "three")
        ask_and_keep(LESSON, place_to_ask(supervisor, fake.url, "two"), store.progress.save_draft)
        assert fake.bodies[0]["model"] == "two"


@pytest.mark.parametrize(
    ("models", "root"),
    [(("practice",), None), (("renamed",), "/home/me/labtui/exercises/practice/checkpoint"), (("x",), "practice")],
)
def test_the_practice_checkpoint_is_not_asked_also_at_a_plain_address(supervisor, models, root) -> None:
    with FakeVllm(ANSWER, models=models, root=root) as fake, pytest.raises(LabError) as caught:
        place_to_ask(supervisor, fake.url)
    assert caught.value.exit_code == USAGE
    assert "practice checkpoint" in caught.value.title
    assert "lesson prompt" in caught.value.fix and "--url" in caught.value.fix


def test_the_lab_s_own_practice_server_is_not_asked(supervisor, monkeypatch) -> None:
    endpoint = Endpoint("http://127.0.0.1:1", None, "practice", "practice", practice=True)
    monkeypatch.setattr(Supervisor, "endpoint", lambda self: endpoint)
    with pytest.raises(LabError, match="practice checkpoint"):
        place_to_ask(supervisor)


def test_openai_s_newer_name_of_the_limit_is_used_where_it_is_wanted(supervisor, store) -> None:
    refusal = (400, "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.")
    with FakeVllm(ANSWER, scripts={0: Script(refuse=refusal)}, max_model_len=None) as fake:
        ask(fake, supervisor, store, max_tokens=777)
        first, second = fake.bodies
    assert first["max_tokens"] == 777
    assert second["max_completion_tokens"] == 777 and "max_tokens" not in second


def test_the_answer_gets_the_room_that_the_prompt_leaves() -> None:
    prompt = grounded_prompt(LESSON)
    endpoint = Endpoint("http://127.0.0.1:1", None, "m", "m", practice=False)
    assert tokens_for_answer(Place(endpoint), prompt, None) == MAX_TOKENS
    assert tokens_for_answer(Place(endpoint, 128_000), prompt, None) == MAX_TOKENS
    assert tokens_for_answer(Place(endpoint, 4096), prompt, None) == 4096 - prompt_tokens(prompt)
    assert tokens_for_answer(Place(endpoint, 4096), prompt, 100) == 100
    with pytest.raises(LabError, match="does not fit") as caught:
        tokens_for_answer(Place(endpoint, 1024), prompt, None)
    assert "1,024 tokens" in caught.value.cause and caught.value.exit_code == USAGE


def test_a_server_of_another_kind_is_named(supervisor) -> None:
    with FakeVllm(models=()) as fake, pytest.raises(LabError, match="does not say which models") as caught:
        place_to_ask(supervisor, fake.url)
    assert "--model" in caught.value.fix


def test_nothing_of_what_is_kept_is_lost_by_a_failed_ask(supervisor, store) -> None:
    with FakeVllm(ANSWER) as fake:
        first = ask(fake, supervisor, store)
        fake.script = Script(refuse=(500, "boom"))
        with pytest.raises(LabError) as caught:
            ask(fake, supervisor, store)
    assert caught.value.exit_code == FAILED
    assert [one.id for one in kept_answers(LESSON.id, store)] == [first.id]
    assert json.loads(store.progress.drafts("answer-about/")[f"answer-about/{LESSON.id}/{first.id}"].text)["model"]
