from __future__ import annotations

import socket
import sys
import threading
import time

import httpcore
import pytest

from exercises import arrival_clock
from exercises.arrival_clock import TimedBackend, _arrival, keep_stamping

# The kernel begins to stamp a while after it is first asked, as it does in the program long before a canvas arrives.
keep_stamping()


def served(answer):
    """A server for one connection, played by answer(connection), and a TimedStream to it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listener.accept()
        with connection, listener:
            answer(connection)

    threading.Thread(target=serve, daemon=True).start()
    return TimedBackend().connect_tcp("127.0.0.1", listener.getsockname()[1], timeout=5)


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels note no arrival for the reader")
def test_bytes_that_are_read_late_have_the_time_of_their_arrival():
    sending = []
    sent = threading.Event()

    def answer(connection):
        sending.append(time.monotonic())
        connection.sendall(b"canvas")
        sending.append(time.monotonic())
        sent.set()

    stream = served(answer)
    assert sent.wait(10)
    time.sleep(0.5)
    assert stream.read(100, 5) == b"canvas"
    assert stream.stamped
    began, ended = sending
    assert began - 0.01 <= stream.arrived_at <= ended + 0.25
    assert time.monotonic() - ended >= 0.5
    assert stream.read(100, 5) == b""
    stream.close()


def test_where_the_kernel_notes_nothing_the_time_of_reading_has_to_do(monkeypatch):
    monkeypatch.setattr(sys, "platform", "other")
    stream = served(lambda connection: connection.sendall(b"canvas"))
    assert not stream.stamped
    before = time.monotonic()
    assert stream.read(100, 5) == b"canvas"
    assert before <= stream.arrived_at <= time.monotonic()


@pytest.mark.skipif(sys.platform != "linux", reason="the stamps of Linux")
@pytest.mark.parametrize("age_s", [-3600.0, 3600.0])
def test_a_stamp_of_a_clock_that_was_set_meanwhile_is_not_believed(age_s):
    seconds = int(time.time() - age_s)
    stamp = arrival_clock._TIMESPEC.pack(seconds, 0)
    now = time.monotonic()
    assert _arrival([(socket.SOL_SOCKET, arrival_clock._SO_TIMESTAMPNS, stamp)]) >= now


def test_faults_are_those_of_httpcore():
    stream = served(lambda connection: time.sleep(1))
    with pytest.raises(httpcore.ReadTimeout):
        stream.read(100, 0.05)
    stream.close()
    with pytest.raises(httpcore.ReadError):
        stream.read(100, 0.05)


def test_the_request_is_sent_when_its_first_byte_is():
    stream = served(lambda connection: connection.recv(100))
    made_at = stream.sent_at
    stream.request_begins()
    stream.write(b"POST", 5)
    first = stream.sent_at
    stream.write(b" more", 5)
    assert made_at <= first == stream.sent_at
