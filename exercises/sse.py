"""Server-sent events from raw bytes, as the WHATWG HTML standard parses them (section "Server-sent events")."""

from __future__ import annotations

from exercises.errors import ExerciseError

LONGEST_LINE = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class SseDecoder:
    """Feed it bytes as they arrive, cut anywhere; it returns the data of each event that they complete.

    Lines end in LF, CR or CRLF. Comments and the fields event, id and retry are passed over; an event without data is
    none. Bytes that are no UTF-8 become U+FFFD. What the last event lacks when the bytes end is discarded, as the
    standard says.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[str] = []
        self._after_cr = False
        self._at_start = True

    def feed(self, received: bytes) -> list[str]:
        """Raises ExerciseError where a line grows beyond LONGEST_LINE bytes: no server sends such a stream."""
        events: list[str] = []
        if self._after_cr and received:
            self._after_cr = False
            if received[:1] == b"\n":
                received = received[1:]
        if received.endswith(b"\r"):
            self._after_cr = True
        *complete, rest = received.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for end in complete:
            self._line += end
            self._take_line(events)
        self._line += rest
        if len(self._line) > LONGEST_LINE:
            raise ExerciseError(
                "The server's answer is not a stream of events",
                f"one line of it is longer than {LONGEST_LINE // 2**20} MiB",
                "Check that the address is the one of an OpenAI-compatible server.",
            )
        return events

    def _take_line(self, events: list[str]) -> None:
        line = bytes(self._line)
        self._line.clear()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            data = "\n".join(self._data)
            self._data.clear()
            if data:
                events.append(data)
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8", errors="replace"))
