from __future__ import annotations

import json
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from exercises.client import request_body, stream_chat
from exercises.endpoint import Endpoint
from exercises.errors import ExerciseError
from exercises.records import NotMeasurable
from exercises.speed import speed_of
from tests.fakes.vllm_stream import CASE_A, CASE_B, MODEL, Canvas, FakeVllm, Script, scaled

ASK = [{"role": "user", "content": "Write an SVG of a red circle."}]
QUICK = Script((Canvas(0.05, 64, "a "), Canvas(0.1, 64, "b")))


def endpoint(server: FakeVllm, **changes) -> Endpoint:
    known = {"base_url": server.url, "api_key": None, "model": MODEL, "checkpoint": "practice", "practice": True}
    return Endpoint(**{**known, **changes})


def ask(server: FakeVllm, timeout_s: float = 20.0, **changes):
    return stream_chat(endpoint(server, **changes), ASK, 512, timeout_s=timeout_s)


def close_to_sent(server: FakeVllm, outcome) -> None:
    """Each arrival against the moment when the server wrote it; generous, since a test machine may be busy."""
    sent_at = [
        at_s for at_s, payload in server.sent if '"content": ""' not in payload and '"choices": []' not in payload
    ]
    for chunk, at_s in zip(outcome.timeline.chunks, sent_at, strict=True):
        assert chunk.at_s == pytest.approx(at_s, abs=0.25)


def test_case_a_is_200_tokens_a_second_and_no_rate_after_the_first_canvas():
    with FakeVllm(CASE_A) as server:
        outcome = ask(server)
        close_to_sent(server, outcome)
    speed = speed_of(outcome.timeline)
    assert speed.end_to_end_tps == pytest.approx(200, rel=0.2)
    assert speed.after_first_canvas_tps == NotMeasurable("one canvas")
    assert (speed.completion_tokens, speed.prompt_tokens, speed.canvases) == (180, 20, 1)


def test_case_b_is_350_and_444_tokens_a_second():
    with FakeVllm(CASE_B) as server:
        outcome = ask(server)
        close_to_sent(server, outcome)
    speed = speed_of(outcome.timeline)
    assert speed.end_to_end_tps == pytest.approx(350, rel=0.2)
    assert speed.after_first_canvas_tps == pytest.approx(444, rel=0.2)
    assert [chunk.tokens for chunk in outcome.timeline.chunks] == [256, 256, 188]
    assert (outcome.text, outcome.finish_reason, outcome.ended) == ("first second third ", "stop", "complete")


def test_the_request_has_what_is_needed_and_nothing_that_a_diffusion_model_refuses():
    with FakeVllm(QUICK, api_key="key-1234") as server:
        ask(server, api_key="key-1234")
        (body,) = server.bodies
    assert body["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
    assert body["stream"] is True and body["max_tokens"] == 512 and body["messages"] == ASK
    assert not {"temperature", "seed", "min_p", "top_p", "logprobs", "n"} & set(body)
    assert body == request_body(MODEL, ASK, 512)


@pytest.mark.parametrize(
    "script",
    [
        Script(QUICK.canvases, crlf=True),
        Script(QUICK.canvases, comments=True),
        Script((Canvas(0.05, 64, "grüße 🦤 "), Canvas(0.1, 64, "日本語")), cut=7),
        Script((Canvas(0.05, 64, "grüße 🦤 "), Canvas(0.1, 64, "日本語")), cut=1, crlf=True, comments=True),
    ],
    ids=["crlf", "comments", "cut characters", "all of it, byte by byte"],
)
def test_the_wire_may_look_as_it_likes(script):
    with FakeVllm(script) as server:
        outcome = ask(server)
    assert outcome.text == "".join(canvas.text for canvas in script.canvases)
    assert [chunk.tokens for chunk in outcome.timeline.chunks] == [64, 64]
    assert outcome.ended == "complete"


def test_text_that_is_empty_still_has_its_canvases():
    with FakeVllm(Script((Canvas(0.05, 256, ""), Canvas(0.1, 256, "")))) as server:
        outcome = ask(server)
    assert outcome.text == ""
    assert [chunk.tokens for chunk in outcome.timeline.chunks] == [256, 256]


def test_reasoning_counts_as_delivered():
    with FakeVllm(Script((Canvas(0.05, 64, "yes", reasoning="the roof is lower"),))) as server:
        outcome = ask(server)
    assert (outcome.reasoning, outcome.text) == ("the roof is lower", "yes")
    assert outcome.timeline.chunks[0].characters == len("the roof is lower" + "yes")


def test_a_canvas_in_several_events_is_no_rate():
    with FakeVllm(Script((Canvas(0.1, 256, "four pieces of text", pieces=4),))) as server:
        speed = speed_of(ask(server).timeline)
    assert isinstance(speed.after_first_canvas_tps, NotMeasurable)
    assert speed.completion_tokens == 256


def test_an_error_inside_the_stream_keeps_what_came_before():
    with FakeVllm(Script(QUICK.canvases, error_at_s=0.15)) as server:
        outcome = ask(server)
    assert (outcome.ended, outcome.text) == ("broken", "a b")
    assert outcome.error.startswith("EngineCore encountered an issue")
    assert outcome.timeline.completion_tokens == 128


def test_a_refusal_inside_the_stream_is_the_servers_words():
    words = "The temperature, min_p, seed sampling parameters are not yet supported with diffusion models."
    with FakeVllm(Script(refuse_in_stream=words)) as server:
        outcome = ask(server)
    assert (outcome.ended, outcome.error, outcome.timeline.chunks) == ("broken", words, ())


def test_a_connection_that_breaks_off_keeps_what_came_before():
    with FakeVllm(Script(QUICK.canvases, break_off_at_s=0.15)) as server:
        outcome = ask(server)
    assert (outcome.ended, outcome.text, outcome.finish_reason) == ("broken", "a b", None)
    assert "broke off" in outcome.error


@pytest.mark.parametrize(
    ("script", "known", "exit_code", "words"),
    [
        (QUICK, {"api_key": "wrong"}, 2, "does not accept the API key"),
        (QUICK, {"api_key": "right", "model": "nope"}, 2, "does not serve the model 'nope'"),
        (Script(refuse=(400, "max_tokens=512 cannot be greater")), {"api_key": "right"}, 1, "max_tokens=512 cannot"),
        (Script(refuse=(500, "EngineCore encountered an issue")), {"api_key": "right"}, 1, "EngineCore encountered"),
        (Script(refuse=(404, "Not Found")), {"api_key": "right"}, 2, "not an OpenAI-compatible server"),
        (Script(refuse=(503, "starting")), {"api_key": "right"}, 3, "not ready"),
    ],
)
def test_a_refusal_is_one_clear_error(script, known, exit_code, words):
    with FakeVllm(script, api_key="right") as server, pytest.raises(ExerciseError) as refusal:
        ask(server, **known)
    assert refusal.value.exit_code == exit_code
    assert words in f"{refusal.value.title} {refusal.value.cause}"
    assert refusal.value.fix


def test_no_server_is_exit_code_3():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nowhere = Endpoint(f"http://127.0.0.1:{port}", None, MODEL, "practice", True)
    with pytest.raises(ExerciseError) as missing:
        stream_chat(nowhere, ASK, 16)
    assert missing.value.exit_code == 3
    assert "labtui serve" in missing.value.fix


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "ftp://127.0.0.1", "http://", "http://a:b:c"])
def test_an_address_that_is_none(url):
    with pytest.raises(ExerciseError) as fault:
        stream_chat(Endpoint(url, None, MODEL, "practice", True), ASK, 16)
    assert fault.value.exit_code == 2


def test_a_key_that_no_header_takes():
    with FakeVllm(QUICK) as server, pytest.raises(ExerciseError, match="key cannot be sent"):
        ask(server, api_key="line\nend")


def test_a_page_that_is_no_model_server():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>")

        threading.Thread(target=answer, daemon=True).start()
        page = Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}", None, MODEL, "x", False)
        with pytest.raises(ExerciseError, match="does not stream") as fault:
            stream_chat(page, ASK, 16)
    assert fault.value.exit_code == 2


def test_a_server_that_refuses_continuous_usage_gets_asked_for_less():
    with FakeVllm(Script(QUICK.canvases, refuse_continuous="stream_options: continuous_usage_stats unknown")) as server:
        outcome = ask(server)
        asked = [body["stream_options"] for body in server.bodies]
    assert asked == [{"include_usage": True, "continuous_usage_stats": True}, {"include_usage": True}]
    assert [chunk.tokens for chunk in outcome.timeline.chunks] == [None, None]
    speed = speed_of(outcome.timeline)
    assert speed.completion_tokens == 128
    assert isinstance(speed.after_first_canvas_tps, NotMeasurable)


@pytest.mark.parametrize(
    "script", [Script(QUICK.canvases, hang=True), Script(QUICK.canvases, silence_before_head_s=30)], ids=["mid", "head"]
)
def test_cancel_ends_a_silent_stream_and_the_server_notices(script):
    cancel = threading.Event()
    with FakeVllm(script) as server:
        threading.Timer(0.3, cancel.set).start()
        began = time.monotonic()
        outcome = stream_chat(endpoint(server), ASK, 512, cancel=cancel, timeout_s=60)
        assert time.monotonic() - began < 10
        assert outcome.ended == "cancelled"
        if script.hang:
            assert outcome.text == "a b"
            assert server.closed_early.wait(5)


def test_cancelled_before_it_began_sends_nothing():
    cancel = threading.Event()
    cancel.set()
    with FakeVllm(QUICK) as server:
        assert stream_chat(endpoint(server), ASK, 512, cancel=cancel).ended == "cancelled"
        assert server.bodies == []


def test_the_timeout_is_for_the_whole_request():
    with FakeVllm(Script(QUICK.canvases, hang=True)) as server:
        outcome = ask(server, timeout_s=0.4)
    assert (outcome.ended, outcome.text) == ("broken", "a b")
    assert "not complete after 0.4 s" in outcome.error


def test_a_slow_listener_does_not_slow_the_clock():
    script = Script(tuple(Canvas(0.05 * n, 64, "x ") for n in range(1, 7)))
    with FakeVllm(script) as server:
        outcome = stream_chat(endpoint(server), ASK, 512, on_chunk=lambda chunk, text: time.sleep(0.2))
    assert outcome.timeline.chunks[-1].at_s == pytest.approx(0.3, abs=0.5)
    assert len(outcome.timeline.chunks) == 6


def test_chunks_are_told_in_the_calling_thread():
    seen = []
    with FakeVllm(QUICK) as server:
        stream_chat(endpoint(server), ASK, 512, on_chunk=lambda chunk, text: seen.append((threading.get_ident(), text)))
    assert seen == [(threading.get_ident(), "a "), (threading.get_ident(), "b")]


def test_a_fault_of_the_listener_closes_the_stream():
    def stumble(chunk, text):
        raise RuntimeError("the screen is gone")

    with FakeVllm(Script(QUICK.canvases, hang=True)) as server:
        with pytest.raises(RuntimeError, match="screen"):
            stream_chat(endpoint(server), ASK, 512, on_chunk=stumble)
        assert server.closed_early.wait(5)


def test_four_streams_at_once_each_have_their_own_times():
    with FakeVllm(scaled(CASE_B, 0.5)) as server, ThreadPoolExecutor(4) as threads:
        outcomes = list(threads.map(lambda _: ask(server), range(4)))
    for outcome in outcomes:
        speed = speed_of(outcome.timeline)
        assert speed.end_to_end_tps == pytest.approx(700, rel=0.3)
        assert [chunk.tokens for chunk in outcome.timeline.chunks] == [256, 256, 188]


def test_proxies_of_the_environment_are_not_for_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with FakeVllm(QUICK) as server:
        assert ask(server).ended == "complete"


def test_other_hosts_are_reached_through_the_proxy_that_the_environment_names(monkeypatch):
    with FakeVllm(QUICK) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        assert ask(proxy, base_url="http://gpu.invalid:8000").text == "a b"


def test_arrivals_are_told_by_the_clock_that_they_come_from():
    with FakeVllm(QUICK) as server:
        assert ask(server).server["arrival_clock"] == ("kernel" if sys.platform == "linux" else "program")


def test_the_address_may_end_in_v1():
    with FakeVllm(QUICK) as server:
        assert ask(server, base_url=f"{server.url}/v1/").ended == "complete"


def test_the_key_is_in_no_repr_and_no_error():
    with FakeVllm(Script(refuse=(400, "you sent sk-secret"))) as server:
        there = endpoint(server, api_key="sk-secret")
        assert "sk-secret" not in repr(there)
        with pytest.raises(ExerciseError) as refusal:
            stream_chat(there, ASK, 16)
    assert "sk-secret" not in str(refusal.value)


def test_a_user_name_in_the_address_is_not_shown():
    there = Endpoint("http://me:pass@127.0.0.1:9/v1", None, MODEL, "x", False)
    assert there.public_root == "http://127.0.0.1:9"


def test_the_body_is_json():
    json.dumps(request_body(MODEL, ASK, 16))
