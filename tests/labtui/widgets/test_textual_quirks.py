from __future__ import annotations

import base64
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labtui.widgets.textual_quirks import ForgivingFile, TerminalGone, TolerantDecoder, clipboard_sequence


def decoded(data: bytes, cuts: list[int]) -> str:
    decoder = TolerantDecoder()
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges) if end > start]
    return "".join(decoder.decode(piece) for piece in pieces) + decoder.decode(b"", final=True)


@given(st.binary(min_size=1), st.lists(st.integers(0, 200), max_size=5))
def test_no_bytes_raise(data: bytes, cuts: list[int]) -> None:
    decoded(data, cuts)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.lists(st.integers(0, 200), max_size=5))
def test_text_comes_through_however_it_is_cut(text: str, cuts: list[int]) -> None:
    if "\x1b" not in text:
        assert decoded(text.encode(), cuts) == text


@given(st.binary(min_size=3, max_size=3), st.text("abcäö漢 ", max_size=8), st.text("abcäö漢 ", max_size=8))
def test_an_x10_mouse_report_is_taken_out(report: bytes, before: str, after: str) -> None:
    assert decoded(before.encode() + b"\x1b[M" + report + after.encode(), []) == before + after


@pytest.mark.parametrize("cut", range(2, 6))
def test_an_x10_report_in_two_reads_is_taken_out(cut: int) -> None:
    data = b"\x1b[M \xff\xfe"
    assert decoded(b"a" + data + b"b", [cut + 1]) == "ab"


@pytest.mark.parametrize("sequence", ["\x1b", "\x1b[A", "\x1b[<0;120;3M", "\x1bOP", "\x1b[200~text\x1b[201~"])
def test_other_sequences_pass_at_once(sequence: str) -> None:
    assert TolerantDecoder().decode(sequence.encode()) == sequence


def test_a_closed_terminal_is_noticed() -> None:
    with pytest.raises(TerminalGone):
        TolerantDecoder().decode(b"")


def test_copying_outside_tmux_is_one_plain_sequence() -> None:
    expected = base64.b64encode("grüße".encode()).decode()
    assert clipboard_sequence("grüße", {}) == f"\x1b]52;c;{expected}\a"


def test_copying_inside_tmux_goes_to_the_terminal_and_to_tmux() -> None:
    bare = clipboard_sequence("x", {})
    both = clipboard_sequence("x", {"TMUX": "/tmp/tmux-0/default,1,0"})
    assert both == "\x1bPtmux;" + bare.replace("\x1b", "\x1b\x1b") + "\x1b\\" + bare


class Closed:
    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")

    def flush(self) -> None:
        raise OSError(5, "Input/output error")


def test_a_terminal_that_is_gone_takes_writes_without_an_error() -> None:
    file = ForgivingFile(Closed())
    assert file.write("text") == 4
    file.flush()
