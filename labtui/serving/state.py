"""The one record of the server: which process, on which port, with which key. Only its owner can read it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import platformdirs

from labtui.errors import FAILED, LabError

FORMAT_VERSION = 1
LOCK_WAIT_S = 10.0
LOGS_KEPT = 5

Ending = Literal["died", "stopped"]


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server that was launched, or one that was attached to (then it has no pid, command and log).

    pid is None between the intent to start and the start itself. Times are seconds since 1970.
    process_start: when the process started, as the system says it: one of the proofs that a pid is still ours.
    """

    launch_id: str
    kind: Literal["launched", "attached"]
    url: str
    model: str
    checkpoint: str
    practice: bool
    started_at: float
    api_key: str | None = field(default=None, repr=False)
    host: str = "127.0.0.1"
    port: int | None = None
    pid: int | None = None
    process_start: str | None = None
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    log_path: str | None = None
    plan_key: str | None = None
    download_gb: float | None = None
    ready_at: float | None = None
    stopping_at: float | None = None
    ended: Ending | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    vllm_version: str | None = None
    max_model_len: int | None = None
    root: str | None = None
    revision: str | None = None
    hardware: tuple[str, ...] = ()
    sampler: Mapping[str, float] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    @property
    def ready_after_s(self) -> float | None:
        return None if self.ready_at is None else self.ready_at - self.started_at


class StateFile:
    """server.json in the state folder: 0600, written whole and then renamed, so that it is never half of anything."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "server.json"

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    def read(self) -> ServerState | None:
        """None where there is none. A file that cannot be understood is moved aside, and counts as none."""
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            return _from_json(data)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self.path, error) from error
        except (ValueError, TypeError, KeyError):
            with contextlib.suppress(OSError):
                self.path.replace(self.path.with_suffix(".unreadable"))
            return None

    def write(self, state: ServerState) -> None:
        try:
            make_private_folder(self.folder)
            partial = self.folder / f".server.{uuid4().hex}.json"
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    json.dump(asdict(state), file, indent=1)
                    file.flush()
                    os.fsync(file.fileno())
                partial.replace(self.path)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise _unusable(self.path, error) from error

    def remove(self) -> None:
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise _unusable(self.path, error) from error

    @contextlib.contextmanager
    def locked(self, what: str, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
        """While one process starts or stops the server no other does. Raises LabError when it is not our turn."""
        with self._lock_file("lock") as descriptor:
            deadline = time.monotonic() + wait_s
            while not _try_lock(descriptor):
                if time.monotonic() >= deadline:
                    raise LabError(
                        f"Another labtui is busy with the server, so it was not told to {what}",
                        f"It has held {self.folder / 'lock'} for more than {wait_s:.0f} s ({_holder(descriptor)}).",
                        "Wait until it has finished, then try again.",
                        FAILED,
                    )
                time.sleep(0.05)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"pid {os.getpid()}".encode(), 0)
            yield

    @contextlib.contextmanager
    def try_locked(self, name: str = "lock") -> Iterator[bool]:
        """Yields whether the lock was free; it is ours until the end of the block."""
        with self._lock_file(name) as descriptor:
            yield _try_lock(descriptor)

    @contextlib.contextmanager
    def _lock_file(self, name: str) -> Iterator[int]:
        try:
            make_private_folder(self.folder)
            descriptor = os.open(self.folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unusable(self.folder / name, error) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def new_log(self, launch_id: str) -> Path:
        """An empty file for the output of a launch; the oldest logs are removed."""
        try:
            make_private_folder(self.logs)
            path = self.logs / f"{launch_id}.log"
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        except OSError as error:
            raise _unusable(self.logs, error) from error
        for old in self.log_files()[LOGS_KEPT:]:
            with contextlib.suppress(OSError):
                old.unlink()
        return path

    def log_files(self) -> list[Path]:
        """Newest first; launch ids begin with their time."""
        return sorted(self.logs.glob("*.log"), key=lambda path: path.name, reverse=True)


def default_state_folder() -> Path:
    return Path(platformdirs.user_state_path("labtui")) / "serving"


def new_launch_id() -> str:
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid4().hex[:8]}"


def make_private_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _from_json(data: Mapping[str, Any]) -> ServerState:
    if data["format_version"] > FORMAT_VERSION:
        raise LabError(
            "The record of the server is newer than this program",
            f"It has format {data['format_version']}, this labtui reads {FORMAT_VERSION}.",
            "Use the newer labtui to stop that server.",
            FAILED,
        )
    known = {one.name for one in fields(ServerState)}
    values: dict[str, Any] = {}
    for key, value in data.items():
        if key in known:
            values[key] = tuple(value) if isinstance(value, list) else value
    return ServerState(**values)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _holder(descriptor: int) -> str:
    return os.pread(descriptor, 64, 0).decode("ascii", "replace") or "unknown holder"


def _unusable(path: Path, error: OSError) -> LabError:
    return LabError(
        "The record of the server cannot be used",
        f"{path}: {error.strerror or error}.",
        "Make that folder writable, or set XDG_STATE_HOME to one that is.",
        FAILED,
    )
