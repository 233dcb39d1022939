"""Several threads, several processes, and processes that are killed."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from store import Store, StoreError

ROOT = Path(__file__).parents[2]


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def test_threads_share_a_store_without_mixing_their_transactions(store, make_run):
    start_together = threading.Barrier(6)

    def work(number: int) -> None:
        start_together.wait()
        for turn in range(5):
            run = store.runs.add(make_run(output=f"{number}/{turn}"))
            store.verdicts.save(f"lesson-{number}", f"{turn}", [run.id])
            answer = store.recall.add_answer("lesson", f"item-{number}", f"{turn}", "hash")
            store.recall.grade(answer.id, "good")
            assert store.runs.get(run.id).output == f"{number}/{turn}"

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert store.runs.count() == 30
    assert len(store.recall.answers("lesson")) == 30
    assert all(len(store.verdicts.history(f"lesson-{number}")) == 5 for number in range(6))
    assert store.check() == []


def test_a_thread_that_fails_takes_nothing_of_another_with_it(store):
    inside, go_on = threading.Event(), threading.Event()

    def fails() -> None:
        with pytest.raises(RuntimeError), store._connection.writing() as db:
            db.execute("INSERT INTO drafts (key, text, changed_at) VALUES ('half', '', '')")
            inside.set()
            go_on.wait(10)
            raise RuntimeError

    thread = threading.Thread(target=fails)
    thread.start()
    assert inside.wait(10)
    other = threading.Thread(target=lambda: store.progress.save_draft("whole", "kept"))
    other.start()
    go_on.set()
    thread.join(10)
    other.join(10)
    assert store.progress.draft("whole") == "kept"
    assert store.progress.draft("half") is None


SAVE_MANY = """
import sys
from pathlib import Path
from store import Store
input()
with Store.open(Path(sys.argv[1])) as store:
    for number in range(int(sys.argv[3])):
        store.recall.grade(store.recall.add_answer("lesson", sys.argv[2], str(number), "hash").id, "good")
"""


@pytest.mark.parametrize("file_system", ["ext4", "nfs4"])
def test_two_processes_save_into_one_store(tmp_path, file_system):
    path = tmp_path / "labtui.db"
    program = SAVE_MANY.replace("Path(sys.argv[1])", f"Path(sys.argv[1]), file_system_of=lambda _: {file_system!r}")
    both = [start(program, path, name, 25) for name in ("a", "b")]
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in both:
        _, narration = process.communicate(timeout=120)
        assert (process.returncode, narration) == (0, "")
    with Store.open(path, file_system_of=lambda _: file_system) as store:
        assert len(store.recall.answers("lesson", "a")) == len(store.recall.answers("lesson", "b")) == 25
        assert store.check() == []


def test_processes_that_make_the_store_at_the_same_time_agree(tmp_path):
    path = tmp_path / "labtui.db"
    all_at_once = [start(SAVE_MANY, path, name, 3) for name in "abcd"]
    for process in all_at_once:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in all_at_once:
        _, narration = process.communicate(timeout=120)
        assert (process.returncode, narration) == (0, "")
    with Store.open(path) as store:
        assert len(store.recall.answers("lesson")) == 12
        assert store.check() == []
    assert [file.name for file in tmp_path.iterdir()] == ["labtui.db"]


HOLD_THE_LOCK = """
import sqlite3, sys
holder = sqlite3.connect(sys.argv[1], isolation_level=None)
holder.execute("BEGIN IMMEDIATE")
print("held", flush=True)
input()
holder.execute("COMMIT")
print("released", flush=True)
input()
"""


def test_a_save_waits_for_another_program_and_is_late_not_lost(tmp_path):
    with Store.open(tmp_path / "labtui.db", busy_timeout_s=30) as store:
        holder = start(HOLD_THE_LOCK, store.path)
        assert holder.stdin and holder.stdout and holder.stdout.readline() == "held\n"
        saving = threading.Thread(target=lambda: store.progress.save_draft("verdict", "late"))
        saving.start()
        reader = sqlite3.connect(store.path)
        assert reader.execute("SELECT count(*) FROM drafts").fetchone() == (0,)
        holder.stdin.write("go\n")
        holder.stdin.flush()
        saving.join(30)
        assert store.progress.draft("verdict") == "late"
        reader.close()
        holder.communicate("go\n", timeout=30)


def test_a_lock_held_too_long_says_who_holds_it_and_what_to_do(tmp_path):
    with Store.open(tmp_path / "labtui.db", busy_timeout_s=0.2) as store:
        holder = start(HOLD_THE_LOCK, store.path)
        assert holder.stdout and holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError) as caught:
            store.progress.save_draft("verdict", "text")
        error = caught.value
        assert error.exit_code == 4
        assert f"process {holder.pid}" in error.cause
        assert "was not saved" in error.cause
        assert "Close the other program" in error.fix
        with pytest.raises(StoreError, match="in use"):
            Store.open(store.path, busy_timeout_s=0.2).progress.mark("lesson", "step")
        holder.communicate("go\ngo\n", timeout=30)
        store.progress.save_draft("verdict", "text")
        assert store.progress.draft("verdict") == "text"


SAVE_UNTIL_KILLED = """
import sys
from pathlib import Path
from store import Store
file_system = sys.argv[2]
with Store.open(Path(sys.argv[1]), file_system_of=lambda _: file_system) as store:
    number = 0
    while True:
        number += 1
        answer = store.recall.add_answer("lesson", "item", f"{number} " + "x" * 3000, "hash")
        print("answer", answer.id, flush=True)
        store.recall.grade(answer.id, "good")
        print("grade", answer.id, flush=True)
"""


@pytest.mark.parametrize(("file_system", "rounds"), [("ext4", 18), ("nfs4", 7)])
def test_what_was_acknowledged_survives_kill_9(tmp_path, file_system, rounds):
    path = tmp_path / "labtui.db"
    moments = random.Random(2026)
    acknowledged: dict[str, set[int]] = {"answer": set(), "grade": set()}
    for _ in range(rounds):
        process = start(SAVE_UNTIL_KILLED, path, file_system)
        assert process.stdout is not None
        for _ in range(moments.randint(1, 12)):
            kind, number = process.stdout.readline().split()
            acknowledged[kind].add(int(number))
        threading.Event().wait(moments.uniform(0, 0.01))
        os.kill(process.pid, signal.SIGKILL)
        for line in process.communicate(timeout=30)[0].splitlines():
            kind, number = line.split()
            acknowledged[kind].add(int(number))
        with Store.open(path, file_system_of=lambda _: file_system) as store:
            assert store.check() == []
            answers = store.recall.answers("lesson")
            missing = acknowledged["answer"] - {answer.id for answer in answers}
            ungraded = acknowledged["grade"] - {answer.id for answer in answers if answer.grade}
            assert (missing, ungraded) == (set(), set())
    assert len(acknowledged["answer"]) >= rounds
