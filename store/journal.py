"""Which journal a database gets, and whether it got it.

WAL needs shared memory, which network file systems do not give (https://sqlite.org/wal.html); damage without a
message was reported from such (https://github.com/can1357/oh-my-pi/issues/9082), and an asked-for WAL that was
silently not granted (https://github.com/charmbracelet/crush/issues/3461).
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import psutil
from sqlite_utils import Database

from store.faults import LOCKED, error_family

# As /proc/mounts names them; a "fuse." in front is taken off first. Shared folders of virtual machines count too.
NETWORK_FILE_SYSTEMS = frozenset(
    """
    9p acfs afpfs afs beegfs blobfuse blobfuse2 ceph ceph-fuse cifs coda davfs davfs2 drvfs gcsfuse gfs2 glusterfs
    goofys gpfs grpcfuse juicefs lustre mountpoint-s3 ncpfs nfs nfs3 nfs4 ocfs2 orangefs osxfs prl_fs pvfs2 rclone
    s3fs smb2 smb3 smbfs sshfs vboxsf virtiofs vmhgfs vmhgfs-fuse webdav weka wekafs
    """.split()  # noqa: SIM905
)


def file_system_of(path: Path) -> str:
    """The type of the file system that holds the path, in lower case; empty where the system does not say."""
    found = ""
    best = -1
    for partition in psutil.disk_partitions(all=True):
        mount = Path(partition.mountpoint)
        if path.is_relative_to(mount) and len(mount.parts) >= best:
            found, best = partition.fstype.lower(), len(mount.parts)
    return found


def is_network(file_system: str) -> bool:
    return file_system.lower().removeprefix("fuse.") in NETWORK_FILE_SYSTEMS


def choose_journal(db: Database, file_system: str) -> str | None:
    """Sets the journal mode that suits the file system and checks that it took effect.

    Returns what the person should be told, None where that is nothing or was said before. Both modes write a
    transaction to the disk before it counts as committed. Raises sqlite3.OperationalError where it is locked.
    """
    said_before = bool(db.table_names()) and db.journal_mode == "delete"
    if is_network(file_system):
        _set_rollback(db)
        notice = (
            f"The store is on a network file system ({file_system}), so it uses a rollback journal: as safe, a little "
            "slower. Open it on one machine at a time. --store PATH puts it elsewhere."
        )
        return None if said_before else notice
    refused = _set_wal(db)
    if refused is None:
        db.execute("PRAGMA synchronous = FULL")
        return None
    _set_rollback(db)
    notice = (
        f"The file system under the store does not support write-ahead logging ({refused}), so it uses a rollback "
        "journal: as safe, a little slower. --store PATH puts it elsewhere."
    )
    return None if said_before else notice


def _set_wal(db: Database) -> str | None:
    """None if the database is in WAL mode now, else what SQLite said."""
    try:
        got = _ask(db, "wal")
        if got == "wal":
            # The first use of the shared memory: some file systems grant the mode and fail here.
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return None
        return f"asked for wal, got {got}"
    except sqlite3.OperationalError as error:
        if error_family(error) in LOCKED - {sqlite3.SQLITE_PROTOCOL}:
            raise
        return str(error)


def _set_rollback(db: Database) -> None:
    got = _ask(db, "delete")
    if got != "delete":
        raise sqlite3.OperationalError(f"the journal mode is {got} and cannot be changed to a rollback journal")
    # EXTRA: FULL, and the folder is written to the disk too after the journal is removed.
    db.execute("PRAGMA synchronous = EXTRA")


def _ask(db: Database, mode: str) -> str:
    (got,) = db.execute(f"PRAGMA journal_mode = {mode}").fetchone()
    return str(got).lower()
