from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from store import Store
from store.journal import choose_journal, file_system_of, is_network


def test_network_file_systems_are_known_by_the_names_that_mount_tables_use():
    for name in ("nfs", "nfs4", "cifs", "fuse.sshfs", "9p", "lustre", "NFS4", "virtiofs"):
        assert is_network(name), name
    for name in ("ext4", "xfs", "btrfs", "apfs", "zfs", "overlay", "tmpfs", "fuseblk", ""):
        assert not is_network(name), name


def test_the_innermost_and_latest_mount_decides(monkeypatch):
    class Partition:
        def __init__(self, mountpoint: str, fstype: str) -> None:
            self.mountpoint, self.fstype = mountpoint, fstype

    table = [Partition("/", "ext4"), Partition("/home", "autofs"), Partition("/home", "nfs4"), Partition("/ho", "xfs")]
    monkeypatch.setattr("psutil.disk_partitions", lambda **_: table)
    assert file_system_of(Path("/home/ann/labtui.db")) == "nfs4"
    assert file_system_of(Path("/srv/labtui.db")) == "ext4"


def test_this_machine_says_what_holds_a_path(tmp_path):
    assert file_system_of(tmp_path) != ""


def test_a_network_file_system_gets_a_rollback_journal_and_one_notice(tmp_path):
    path = tmp_path / "labtui.db"
    with Store.open(path, file_system_of=lambda _: "nfs4") as store:
        assert len(store.notices) == 1
        assert "nfs4" in store.notices[0] and "--store" in store.notices[0]
        with store._connection.reading() as db:
            assert db.journal_mode == "delete"
            assert db.execute("PRAGMA synchronous").fetchone() == (3,)
        store.progress.mark("lesson", "step")
    assert path.read_bytes()[18:20] == b"\x01\x01", "the file itself is not in WAL mode"
    with Store.open(path, file_system_of=lambda _: "nfs4") as store:
        assert store.notices == [], "said once"
        assert store.progress.done("lesson") == {"step"}


def test_a_store_that_moved_to_a_network_file_system_leaves_wal_and_says_so(tmp_path):
    path = tmp_path / "labtui.db"
    Store.open(path).close()
    assert path.read_bytes()[18:20] == b"\x02\x02"
    with Store.open(path, file_system_of=lambda _: "cifs") as store:
        assert len(store.notices) == 1
    assert path.read_bytes()[18:20] == b"\x01\x01"


class RefusesWal:
    """A database whose file system lacks what WAL needs: it keeps the old mode, or fails, and says no more."""

    def __init__(self, path: Path, fault: sqlite3.OperationalError | None) -> None:
        self._real = Database(path)
        self._fault = fault

    def __getattr__(self, name):
        return getattr(self._real, name)

    def execute(self, sql, *parameters):
        if "journal_mode = wal" in sql:
            if self._fault:
                raise self._fault
            return self._real.execute("PRAGMA journal_mode")
        return self._real.execute(sql, *parameters)


@pytest.mark.parametrize(
    "fault", [None, sqlite3.OperationalError("locking protocol")], ids=["silently", "locking protocol"]
)
def test_wal_that_does_not_take_effect_is_noticed(tmp_path, fault):
    db = RefusesWal(tmp_path / "labtui.db", fault)
    notice = choose_journal(db, "ext4")
    assert notice is not None and "rollback journal" in notice
    assert db.journal_mode == "delete"
    db.close()
