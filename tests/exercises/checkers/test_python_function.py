from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exercises.checkers.limited_child import Limits, run_limited
from exercises.checkers.python_function import (
    Case,
    FunctionWanted,
    check_python_function,
    extract_code,
    same,
)

DOUBLE = FunctionWanted("double", (Case((1,), 2), Case(("ab",), "abab")))
RIGHT = "def double(x):\n    return x * 2\n"
SHORT = Limits(time_s=60, cpu_s=1)


def failed(answer: str, wanted: FunctionWanted = DOUBLE, **more) -> dict[str, str]:
    check = check_python_function(answer, wanted, limits=SHORT, **more)
    assert check.passed == all(fact.passed for fact in check.facts)
    return {fact.name: fact.detail for fact in check.facts if not fact.passed}


@pytest.mark.parametrize(
    "answer",
    [
        f"```python\n{RIGHT}```",
        f"Here:\n```py\n{RIGHT}\n```\nUse it well.",
        f"```\n{RIGHT}```",
        f"```python\n{RIGHT}",
        RIGHT,
        f"Sure!\n{RIGHT}",
        "```python\nprint(1)\n```\nand\n```python\n" + RIGHT + "```",
        "```python\nfrom functools import reduce\nimport math, re, itertools\nimport collections.abc\n" + RIGHT + "```",
        "```python\ndouble = lambda x: x + x\n```",
        f"```python\n{RIGHT}\nif __name__ == '__main__':\n    print(double(input()))\n```",
        f"```python\n{RIGHT}\nprint('x' * 100000)\n```",
        "```python\nclass A:\n    pass\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n"
        + RIGHT
        + "```",
    ],
)
def test_right_answers(answer):
    assert failed(answer) == {}


@pytest.mark.parametrize(
    ("answer", "fact", "detail"),
    [
        ("", "has Python code", ""),
        ("Multiply it by two.", "has Python code", ""),
        ("```python\ndef double(x)\n    return\n```", "is Python", "SyntaxError"),
        ("```python\ndef twice(x):\n    return x * 2\n```", "defines double", ""),
        ("```python\nraise ValueError('no')\n```", "loads without an error", "ValueError: no"),
        ("```python\nimport numpy\n" + RIGHT + "```", "loads without an error", "no module numpy"),
        ("```python\ndef double(x):\n    return x + 2\n```", "double(1) is 2", "gives 3"),
        ("```python\ndef double(x):\n    return x + 2\n```", "double('ab') is 'abab'", "TypeError"),
        ("```python\ndef double(x):\n    return {x}\n```", "double(1) is 2", "no plain value"),
        ("```python\ndef double(x):\n    return double(x)\n```", "double(1) is 2", "RecursionError"),
        ("```python\ndef double(x, y):\n    return x\n```", "double(1) is 2", "TypeError"),
        ("```python\nimport sys\ndef double(x):\n    sys.exit(0)\n```", "double(1) is 2", "SystemExit"),
        ("def double(x): return x * 2\n" + "#" * 100_001, "has Python code", "longer than"),
    ],
)
def test_wrong_answers(answer, fact, detail):
    found = failed(answer)
    assert fact in found
    assert detail in found[fact]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("while True: pass", "processor time"),
        ("x = [0] * 10**10", "MemoryError"),
        ("import os\nos._exit(0)", ""),
        ("import os\nos.write(1, b'x' * 10**7)", "wrote too much"),
        ("import os\nos.close(1)\nwhile True: pass", ""),
        ("import os\nos.system('true')", "os.system is not allowed"),
        ("import os\nos.fork()", "os.fork is not allowed"),
        ("import os\nos.kill(os.getppid(), 9)", "os.kill is not allowed"),
        ("import os\nos.listdir('/')", "os.listdir is not allowed"),
        ("import os\nos.mkfifo('/tmp/fifo')", "os.mkfifo is not allowed"),
        ("import os\nos.stat('/etc/passwd')", "os.stat is not allowed"),
        ("import os\nos.setpriority(os.PRIO_PROCESS, 1, 19)", "os.setpriority is not allowed"),
        ("import os\nlist(os.supports_dir_fd)[0]('/')", "IndexError"),
        ("import posix\nposix.readlink('/proc/self/exe')", "os.readlink is not allowed"),
        ("import sys\nsys.modules['_imp'].create_builtin(sys.modules['posix'].__spec__)", "AttributeError"),
        ("import sys\nsys.modules['posix'].__loader__.create_module(sys.modules['posix'].__spec__)", "AttributeError"),
        ("import _thread\nfor _ in range(99): _thread.start_new_thread(print, ())", "can't start new thread"),
        ("import sys\nsys.__stdout__.write('x' * 10**7)", "wrote too much"),
        ("b'x' * 10**9", "MemoryError"),
        ("import re\nre.match('(a+)+$', 'a' * 40 + 'b')", "processor time"),
        ("import os\nos.environ['A'] = 'b'", "not allowed"),
        ("open('/etc/passwd')", "open is not allowed"),
        ("import subprocess", "no module subprocess"),
        ("import socket", "no module"),
        ("import ctypes", "no module ctypes"),
        ("import sys\nsys.modules['__main__'].COMPUTING = {'open'}\nopen('/etc/passwd')", "open is not allowed"),
        ("def f(): f()\nf()", "RecursionError"),
        ("a = ()\nfor _ in range(10**6): a = (a,)\nhash(a)", ""),
    ],
)
def test_code_that_must_not_do_it(code, words):
    found = failed(f"```python\n{code}\n{RIGHT}```")
    assert any(words in detail for detail in found.values())
    assert found


def test_code_that_waits_for_ever_is_ended():
    report = run_limited("import time\ntime.sleep(60)", "f", [[]], Limits(time_s=0.5))
    assert report.stopped == "it was still running after 0.5 s"


def test_files_are_neither_made_nor_removed(tmp_path):
    tmp_path.chmod(0o777)
    kept, made = tmp_path / "kept", tmp_path / "made"
    kept.write_text("here")
    tries = [f"os.remove({str(kept)!r})", f"open({str(made)!r}, 'w')"]
    tries += [f"os.{call}({str(made)!r})" for call in ("mkfifo", "mknod", "mkdir")]
    code = "".join(f"try:\n    {one}\nexcept BaseException:\n    pass\n" for one in tries)
    assert not failed(f"```python\nimport os\n{code}{RIGHT}```")
    assert kept.exists() and not made.exists()


def test_the_environment_is_empty_and_the_answers_stay_outside(monkeypatch):
    monkeypatch.setenv("LABTUI_SECRET", "sk-1")
    report = run_limited(
        "import os, sys\ndef look():\n    return [len(os.environ), 'labtui' in str(sys.path)]\n", "look", [[]]
    )
    (result,) = [step for step in report.steps if step["step"] == "call"]
    # Python itself sets LC_CTYPE where the environment names no locale (PEP 538).
    assert result["value"][0] <= 1
    assert result["value"][1] is False


def test_a_call_that_never_returns_leaves_the_others_measured():
    wanted = FunctionWanted("f", (Case((1,), 1), Case((2,), 2), Case((3,), 3)))
    found = failed("```python\ndef f(x):\n    while x == 2: pass\n    return x\n```", wanted)
    assert set(found) == {"f(2) is 2", "f(3) is 3"}
    assert "processor time" in found["f(2) is 2"]


def test_nothing_of_the_child_stays(tmp_path):
    mark = f"mark_{os.getpid()}_{time.monotonic_ns()}"
    run_limited(f"# {mark}\nwhile True: pass", "f", [[]], Limits(time_s=0.5, cpu_s=5))
    running = [p for p in Path("/proc").iterdir() if p.name.isdigit() and "child_program" in _command(p)]
    parents = [p for p in running if (p / "stat").exists() and f" {os.getpid()} " in _stat(p)]
    assert parents == []


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


def _stat(process: Path) -> str:
    try:
        return (process / "stat").read_text()
    except OSError:
        return ""


def test_code_is_left_alone_where_the_person_says_so(tmp_path):
    made = tmp_path / "made"
    found = failed(f"```python\nopen({str(made)!r}, 'w')\n{RIGHT}```", run_code=False)
    assert found == {"passes its tests": "not run: you did not allow it"}


def test_where_no_process_can_be_started(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no more processes")

    monkeypatch.setattr("subprocess.Popen", refuse)
    assert "no more processes" in failed(RIGHT)["passes its tests"]


@pytest.mark.parametrize(
    ("value", "wanted", "equal"),
    [
        (1, 1, True),
        (True, 1, False),
        (1, True, False),
        (1.0, 1, False),
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, True),
        ([1, [2]], [1, [2]], True),
        ([1, True], [1, 1], False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        ("a", "a", True),
        (None, None, True),
        (10**400, 1.0, False),
    ],
)
def test_what_is_the_same(value, wanted, equal):
    assert same(value, wanted) is equal


def test_a_tuple_is_a_list():
    wanted = FunctionWanted("pair", (Case((), [1, 2]),))
    assert failed("```python\ndef pair():\n    return (1, 2)\n```", wanted) == {}


@given(st.text())
def test_any_text_may_be_searched_for_code(text):
    extract_code(text, "double")


@settings(max_examples=8, deadline=None)
@given(st.text(max_size=60))
def test_no_text_makes_it_raise(text):
    check_python_function(f"```python\n{text}\n```", DOUBLE, limits=SHORT)
