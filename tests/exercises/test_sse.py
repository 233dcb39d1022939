from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises import sse
from exercises.errors import ExerciseError
from exercises.sse import SseDecoder


def decode(*received: bytes) -> list[str]:
    decoder = SseDecoder()
    return [event for data in received for event in decoder.feed(data)]


@pytest.mark.parametrize(
    ("received", "events"),
    [
        (b"data: one\n\ndata: two\n\n", ["one", "two"]),
        (b"data: one\r\n\r\ndata: two\r\n\r\n", ["one", "two"]),
        (b"data: one\r\rdata: two\r\r", ["one", "two"]),
        (b"data:one\n\n", ["one"]),
        (b"data:  two spaces\n\n", [" two spaces"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b": keep-alive\n\ndata: x\n\n", ["x"]),
        (b"event: message\nid: 7\nretry: 10\ndata: x\n\n", ["x"]),
        (b"\xef\xbb\xbfdata: after a mark\n\n", ["after a mark"]),
        (b"data: [DONE]\n\n", ["[DONE]"]),
        (b"data\n\n", []),
        (b"data:\n\n", []),
        (b"\n\n\n", []),
        (b"garbage without a colon\nmore: garbage\n\ndata: x\n\n", ["x"]),
        (b"data: the end is missing", []),
        (b"data: the end is missing\n", []),
        (b"data: \xff\xfe\n\n", ["\ufffd\ufffd"]),
        ("data: grüße 🦤\n\n".encode(), ["grüße 🦤"]),
    ],
)
def test_events(received, events):
    assert decode(received) == events


def test_a_crlf_cut_in_the_middle_is_one_line_end():
    assert decode(b"data: one\r", b"\n\r", b"\ndata: two\r\n\r\n") == ["one", "two"]


def test_an_event_is_there_as_soon_as_its_last_line_end_is():
    decoder = SseDecoder()
    assert decoder.feed(b"data: x\r\n") == []
    assert decoder.feed(b"\r") == ["x"]
    assert decoder.feed(b"\n") == []


def test_a_stream_without_line_ends_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(sse, "LONGEST_LINE", 1000)
    decoder = SseDecoder()
    with pytest.raises(ExerciseError, match="not a stream of events"):
        for _ in range(200):
            decoder.feed(b"x" * 10)


payloads = st.lists(
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1), max_size=6
)


@given(payloads, st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_any_cut_gives_the_same_events(texts, line_end, data):
    stream = "".join(f": c{line_end}data: {text}{line_end}{line_end}" for text in texts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert decode(*pieces) == texts


@given(st.lists(st.binary(max_size=40), max_size=10))
def test_no_bytes_make_it_raise(pieces):
    assert all(isinstance(event, str) and event for event in decode(*pieces))
