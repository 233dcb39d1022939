from __future__ import annotations

import errno
import json
import os
import resource
import shlex
import sqlite3
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from store import Store, StoreError, opening
from store.location import default_path
from store.schema import program_version

ROOT = Path(__file__).parents[2]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def refusal(path: Path) -> StoreError:
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert caught.value.exit_code == 4
    assert caught.value.fix and caught.value.cause and caught.value.title
    return caught.value


def test_a_new_store_is_sound_durable_and_closed_to_others(tmp_path):
    with Store.open(tmp_path / "labtui.db") as store:
        store.progress.mark("lesson", "card/intent")
        with store._connection.reading() as db:
            assert db.journal_mode == "wal"
            assert db.execute("PRAGMA synchronous").fetchone() == (2,)
        assert store.check() == []
        assert store.notices == []
        assert {mode(file) for file in tmp_path.iterdir()} == {0o600}, "the journal counts too"


def test_what_was_saved_is_there_after_opening_again(tmp_path):
    with Store.open(tmp_path / "labtui.db") as store:
        store.progress.mark("lesson", "card/intent")
    with Store.open(tmp_path / "labtui.db") as store:
        assert store.progress.done("lesson") == {"card/intent"}
        assert store.notices == []


def test_rights_of_an_existing_file_are_narrowed_but_not_those_of_a_folder_that_is_not_ours(tmp_path):
    tmp_path.chmod(0o755)
    Store.open(tmp_path / "labtui.db").close()
    (tmp_path / "labtui.db").chmod(0o644)
    Store.open(tmp_path / "labtui.db").close()
    assert mode(tmp_path / "labtui.db") == 0o600
    assert mode(tmp_path) == 0o755


def test_the_default_is_a_folder_of_ones_own(tmp_path, monkeypatch):
    monkeypatch.delenv("LABTUI_STORE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "not" / "yet"))
    with Store.open() as store:
        assert store.path == default_path().resolve()
        assert store.path.is_relative_to(tmp_path)
        assert mode(store.path.parent) == 0o700
    store.path.parent.chmod(0o755)
    Store.open().close()
    assert mode(store.path.parent) == 0o700


def test_the_environment_names_the_store(tmp_path, monkeypatch):
    monkeypatch.setenv("LABTUI_STORE", str(tmp_path / "mine.db"))
    with Store.open() as store:
        assert store.path == (tmp_path / "mine.db").resolve()


def test_a_folder_that_is_not_there_is_not_made_for_a_named_store(tmp_path, monkeypatch):
    error = refusal(tmp_path / "mistyped" / "labtui.db")
    assert "mkdir -p" in error.fix
    monkeypatch.setenv("LABTUI_STORE", str(tmp_path / "mistyped" / "labtui.db"))
    with pytest.raises(StoreError):
        Store.open()
    assert not (tmp_path / "mistyped").exists()


def test_a_folder_a_pipe_and_a_file_as_folder_are_refused(tmp_path):
    assert "is a folder" in refusal(tmp_path).cause
    os.mkfifo(tmp_path / "pipe")
    assert "not a plain file" in refusal(tmp_path / "pipe").cause
    (tmp_path / "file").write_text("x")
    refusal(tmp_path / "file" / "labtui.db")


def test_what_is_not_a_database_is_left_as_it_is(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"my notes, not a database\n" * 400)
    error = refusal(path)
    assert "not a store" in error.title
    assert path.read_bytes() == b"my notes, not a database\n" * 400
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("damaged_bytes", [slice(100, 4000), slice(20, 60)], ids=["first page", "header"])
def test_a_damaged_store_is_left_as_it_is(tmp_path, damaged_bytes):
    path = tmp_path / "labtui.db"
    Store.open(path).close()
    content = bytearray(path.read_bytes())
    content[damaged_bytes] = b"\xff" * len(content[damaged_bytes])
    path.write_bytes(content)
    assert "damaged" in refusal(path).title
    assert path.read_bytes() == bytes(content)


def test_damage_inside_is_named_by_the_check(store, make_run):
    run = store.runs.add(make_run())
    with store._connection.writing() as db:
        db.execute("UPDATE runs SET document = '{' WHERE id = ?", [run.id])
    assert [fault for fault in store.check() if run.id in fault and "not JSON" in fault]
    with pytest.raises(StoreError, match=run.id):
        store.runs.get(run.id)


def test_a_truncated_store_gives_a_message_and_no_traceback(tmp_path, make_run):
    path = tmp_path / "labtui.db"
    with Store.open(path) as store:
        for _ in range(20):
            store.runs.add(make_run(output="x" * 5000))
    os.truncate(path, path.stat().st_size // 2)
    try:
        with Store.open(path) as store:
            assert store.check() != []
    except StoreError as error:
        assert "damaged" in error.title


def test_the_database_of_another_program_is_left_as_it_is(tmp_path):
    path = tmp_path / "places.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()
    path.chmod(0o640)
    before = path.read_bytes()
    assert "another program" in refusal(path).title
    assert path.read_bytes() == before
    assert mode(path) == 0o640


@pytest.mark.parametrize(
    "newer",
    [
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('labtui', 'm007_later', 'later')",
        "PRAGMA user_version = 7",
    ],
    ids=["a migration", "a version"],
)
def test_a_newer_store_is_refused_unchanged_with_both_versions(tmp_path, newer):
    path = tmp_path / "labtui.db"
    Store.open(path).close()
    with sqlite3.connect(path) as later:
        later.execute(newer)
    later.close()
    path.chmod(0o640)
    before = path.read_bytes()
    error = refusal(path)
    assert "version 7" in error.cause
    assert f"up to {program_version()}" in error.cause
    assert path.read_bytes() == before
    assert mode(path) == 0o640


def test_a_newer_store_is_refused_unchanged_even_with_a_journal_left_by_a_crash(tmp_path):
    path = tmp_path / "labtui.db"
    Store.open(path).close()
    crash = (
        "import os, sqlite3, sys; later = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "later.execute('PRAGMA user_version = 7'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", crash, str(path)], check=True)
    journal = path.with_name("labtui.db-wal")
    before = path.read_bytes(), journal.read_bytes()
    assert "version 7" in refusal(path).cause
    assert (path.read_bytes(), journal.read_bytes()) == before


TRY_TO_OPEN = """
import os, sys, tempfile
from pathlib import Path
from store import Store, StoreError, opening
with tempfile.TemporaryDirectory() as elsewhere:
    Store.open(Path(elsewhere, "all-modules-are-imported-now.db")).close()
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    with Store.open(Path(sys.argv[1])) as store:
        store.progress.mark("lesson", "step")
        print("opened")
except StoreError as error:
    print(error.exit_code, error.title)
"""


def opened_by_someone_whom_rights_bind(path: Path) -> str:
    """What opening prints. Rights do not bind root, so root becomes nobody first."""
    done = subprocess.run([sys.executable, "-c", TRY_TO_OPEN, str(path)], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == ""
    return done.stdout.strip()


def test_rights_that_do_not_let_us_write_are_explained():
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name, "labtui.db")
        folder.chmod(0o777)
        assert opened_by_someone_whom_rights_bind(path) == "opened"
        path.chmod(0o444)
        assert opened_by_someone_whom_rights_bind(path) == "4 The store is read-only"
        path.chmod(0o000)
        assert opened_by_someone_whom_rights_bind(path) == "4 The store cannot be read"
        path.chmod(0o600)
        folder.chmod(0o555)
        assert opened_by_someone_whom_rights_bind(path) == "4 The store is read-only"
        assert opened_by_someone_whom_rights_bind(folder / "new.db") == "4 The store is read-only"
        folder.chmod(0o700)


def test_a_full_disk_loses_only_what_was_not_acknowledged(store):
    store.progress.save_draft("verdict", "before")
    with store._connection.reading() as db:
        db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(StoreError) as caught:
        store.progress.save_draft("verdict", "x" * 100_000)
    assert (caught.value.exit_code, caught.value.title) == (4, "The disk is full")
    assert store.progress.draft("verdict") == "before"
    with store._connection.reading() as db:
        db.execute("PRAGMA max_page_count = 1000000")
    store.progress.save_draft("verdict", "after")
    assert store.progress.draft("verdict") == "after"
    assert store.check() == []


WRITE_UNTIL_THE_LIMIT = """
import sys
from pathlib import Path
from store import Store, StoreError, opening
with Store.open(Path(sys.argv[1])) as store:
    try:
        for number in range(1000):
            store.progress.save_gate("lesson", "gate", "x" * 10_000)
            print(number)
    except StoreError as error:
        print(error.exit_code, error.title)
"""


def test_a_write_that_the_system_refuses_is_explained_and_loses_nothing(tmp_path):
    path = tmp_path / "labtui.db"
    Store.open(path).close()
    done = subprocess.run(
        [sys.executable, "-c", WRITE_UNTIL_THE_LIMIT, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000)),
    )
    *acknowledged, message = done.stdout.splitlines()
    assert message.startswith("4 "), done.stderr
    assert acknowledged
    with Store.open(path) as store:
        assert len(store.progress.gate_history("lesson")) == len(acknowledged)
        assert store.check() == []


def test_a_closed_store_says_so(store):
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.progress.mark("lesson", "step")


def test_a_backup_is_a_whole_store_for_its_owner_alone(store, tmp_path, make_run):
    run = store.runs.add(make_run())
    copy = store.backup(tmp_path / "copy.db")
    assert copy == (tmp_path / "copy.db").resolve()
    assert mode(copy) == 0o600
    with Store.open(copy) as opened:
        assert opened.runs.get(run.id) == run
        assert opened.check() == []
    assert not list(tmp_path.glob(".*.part"))


def test_a_backup_overwrites_nothing_and_names_what_is_wrong(store, tmp_path):
    (tmp_path / "taken.db").write_text("mine")
    for target, code in ((tmp_path / "taken.db", 2), (store.path, 2), (tmp_path / "no" / "folder.db", 1)):
        with pytest.raises(StoreError) as caught:
            store.backup(target)
        assert caught.value.exit_code == code
        assert str(target) in caught.value.cause
    assert (tmp_path / "taken.db").read_text() == "mine"
    assert store.check() == []


def full_disk() -> sqlite3.Error:
    fault = sqlite3.OperationalError("database or disk is full")
    fault.sqlite_errorcode = sqlite3.SQLITE_FULL
    return fault


@pytest.mark.parametrize(
    "fault",
    [OSError(errno.ENOSPC, "No space left on device"), full_disk()],
    ids=["where the file is made", "in the middle"],
)
def test_a_backup_onto_a_full_disk_names_the_target_and_loses_nothing(store, tmp_path, monkeypatch, fault):
    def copy_database(source, target):
        raise fault

    monkeypatch.setattr(opening, "copy_database", copy_database)
    with pytest.raises(StoreError) as caught:
        store.backup(tmp_path / "stick" / "copy.db")
    assert str(tmp_path / "stick" / "copy.db") in caught.value.cause
    assert "nothing in it is lost" in caught.value.cause
    assert "not saved" not in str(caught.value)
    assert str(store.path) not in str(caught.value)
    assert caught.value.exit_code == 1


def test_check_names_the_run_whose_numbers_do_not_follow_from_its_chunks(store, make_run):
    sound, changed, columns, broken = (store.runs.add(make_run()) for _ in range(4))
    with store._connection.writing() as db:
        document = json.loads(db.execute("SELECT document FROM runs WHERE id = ?", [changed.id]).fetchone()[0])
        document["speed"]["end_to_end_tps"] = 9999.0
        db.execute(
            "UPDATE runs SET document = ?, end_to_end_tps = 9999 WHERE id = ?", [json.dumps(document), changed.id]
        )
        db.execute("UPDATE runs SET checkpoint = 'other' WHERE id = ?", [columns.id])
        db.execute("UPDATE runs SET document = '{\"id\": 3}' WHERE id = ?", [broken.id])
    faults = store.check()
    assert len(faults) == 3
    assert not any(sound.id in fault for fault in faults)
    assert any(changed.id in fault and "end_to_end_tps" in fault for fault in faults)
    assert any(columns.id in fault and "checkpoint" in fault for fault in faults)
    assert any(broken.id in fault and "cannot be read" in fault for fault in faults)


def test_what_is_no_store_names_a_copy_only_where_there_is_one(tmp_path):
    path = tmp_path / "lab's.db"
    path.write_bytes(b"no database" * 500)
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert "newest copy" not in caught.value.fix
    copy = tmp_path / "lab's-v3-20261130-101010.db"
    copy.write_bytes(b"x")
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert shlex.join(["cp", str(copy), str(path)]) in caught.value.fix


def test_a_device_is_no_store_and_gets_a_possible_fix():
    with pytest.raises(StoreError) as caught:
        Store.open(Path("/dev/null"))
    assert "/dev/null/" not in caught.value.fix


def test_a_store_that_may_not_be_written_can_be_read(store, monkeypatch, make_run):
    run = store.runs.add(make_run())
    store.close()
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK and real(path, mode))
    with pytest.raises(StoreError, match="read-only"):
        Store.open(store.path)
    before = store.path.read_bytes()
    with Store.open(store.path, reading_will_do=True) as opened:
        assert opened.runs.get(run.id) == run
        assert "can only be read" in opened.notices[0]
        with pytest.raises(StoreError, match="read-only"):
            opened.runs.add(make_run())
    assert store.path.read_bytes() == before


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_ERROR])
def test_only_what_was_to_be_saved_is_called_unsaved(store, code):
    fault = sqlite3.OperationalError("it did not work")
    fault.sqlite_errorcode = code
    with pytest.raises(StoreError) as reading, store._connection.reading():
        raise fault
    assert "not saved" not in f"{reading.value.cause} {reading.value.fix}"
    with pytest.raises(StoreError) as writing, store._connection.writing():
        raise fault
    assert ("not saved" in writing.value.cause) == (code != sqlite3.SQLITE_ERROR)
