"""Are the weights here, and if not: can they come? The cache, its disk and owner, the hub, the token."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from labtui.serving import hub_cache
from labtui.serving.checkpoints import PACKAGE_PREFIX, Checkpoint
from labtui.serving.finding import Finding
from labtui.serving.flags import own_value
from labtui.serving.machine import Machine
from labtui.serving.plan import Plan

DISK_MARGIN = 1.05
HUB = "https://huggingface.co"
REACH_TIMEOUT_S = 2.0
SWITCHED_ON = ("1", "ON", "YES", "TRUE")


def download(plan: Plan, machine: Machine) -> Iterator[Finding]:
    """The network is only asked where something must come through it, and for a moment."""
    checkpoint = plan.checkpoint
    if checkpoint.folder is not None:
        yield _folder(plan, checkpoint, checkpoint.folder)
        return
    cached = hub_cache.cached_model(checkpoint.model)
    if cached is not None and cached.complete:
        yield Finding("model", True, f"{checkpoint.model} is in the Hugging Face cache; no network is needed")
        return
    if _offline():
        yield Finding(
            "model",
            False,
            f"{checkpoint.model} is not complete in the cache, and downloads are switched off",
            f"HF_HUB_OFFLINE is set, and {hub_cache.hub_cache_folder()} does not hold all of it.",
            "Unset HF_HUB_OFFLINE for one start, or copy the model into that folder.",
            blocking=True,
        )
        return
    have = 0 if cached is None else cached.bytes
    left = max(0.0, checkpoint.disk_gb - have / 1e9)
    title = f"{checkpoint.model} will be downloaded: {left:.1f} of {checkpoint.disk_gb} GB"
    yield Finding("model", True, title)
    yield from _disk(checkpoint, have)
    if machine.gpus:
        yield hub()
    yield token()


def _folder(plan: Plan, checkpoint: Checkpoint, folder: Path) -> Finding:
    if own_value(plan.own_flags, "--load-format") == "dummy" and (folder / "config.json").exists():
        return Finding("model", True, f"The shape is that of {folder}; its weights will be random")
    if hub_cache.snapshot_complete(folder):
        return Finding("model", True, f"The weights lie in {folder}")
    own = checkpoint.model.startswith(PACKAGE_PREFIX)
    return Finding(
        "model",
        False,
        "The weights are not all there",
        f"{folder} lacks config.json or a weight file.",
        "Get the repository again (git checkout, or git lfs pull)." if own else "Copy the model folder again.",
        blocking=True,
    )


def _disk(checkpoint: Checkpoint, have: int) -> Iterator[Finding]:
    needed = max(0.0, checkpoint.disk_gb * DISK_MARGIN - have / 1e9)
    folder = hub_cache.hub_cache_folder()
    existing = next(one for one in (folder, *folder.parents) if one.exists())
    free = shutil.disk_usage(existing).free / 1e9
    name = "models--" + checkpoint.model.replace("/", "--")
    # A download also writes beside the model, into the locks; each may belong to somebody else.
    places = (folder / name / "blobs", folder / name, folder / ".locks" / name, folder / ".locks", existing)
    closed = next((place for place in places if place.exists() and not os.access(place, os.W_OK)), None)
    if closed is not None:
        yield Finding(
            "disk",
            False,
            "The Hugging Face cache cannot be written to",
            f"{closed} belongs to {_owner(closed)} (often root, from a container).",
            "Take it over with chown, or set HF_HOME to a folder of your own.",
            blocking=True,
        )
    elif free < needed:
        yield Finding(
            "disk",
            False,
            f"The download needs {needed:.0f} GB, {free:.0f} GB are free",
            f"It goes to {folder}.",
            "Free some space there, or set HF_HOME to a folder on a larger disk.",
            blocking=True,
        )
    else:
        yield Finding("disk", True, f"{free:.0f} GB are free for the {needed:.0f} GB of the download")


def hub() -> Finding:
    address = os.environ.get("HF_ENDPOINT") or HUB
    proxy = os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy")
    problem = reach(proxy or address)
    where = f"the proxy for {address}" if proxy else address
    if problem is None:
        return Finding("hub", True, f"{where[:1].upper()}{where[1:]} answers")
    return Finding(
        "hub",
        False,
        f"{address} cannot be reached",
        f'{problem}. The download would wait, then end with "We couldn\'t connect".',
        "Mend the network or set HTTPS_PROXY; or bring the files another way: huggingface-cli download on a machine "
        "with a network, copy its cache folder here, and set HF_HOME to it.",
        blocking=True,
        overridable=True,
    )


def reach(address: str, timeout_s: float = REACH_TIMEOUT_S) -> str | None:
    """None where somebody listens there; else why not. Looking up a name can hang: it is waited for no longer."""
    parts = urlsplit(address if "//" in address else f"//{address}")
    port = parts.port or (80 if parts.scheme == "http" else 443)
    said: list[str | None] = []

    def look() -> None:
        try:
            with socket.create_connection((parts.hostname or "", port), timeout=timeout_s):
                said.append(None)
        except OSError as error:
            said.append(error.strerror or str(error))

    looking = threading.Thread(target=look, name="labtui-hub", daemon=True)
    looking.start()
    looking.join(timeout_s + 0.5)
    return said[0] if said else f"No answer in {timeout_s:.0f} s"


def token() -> Finding:
    """Whether there is one, never what it is."""
    if any(os.environ.get(name) for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")):
        return Finding("hub-token", True, "A Hugging Face token is set in the environment")
    home = Path(os.environ.get("HF_HOME") or hub_cache.hub_cache_folder().parent).expanduser()
    file = Path(os.environ.get("HF_TOKEN_PATH") or home / "token").expanduser()
    if file.is_file():
        return Finding("hub-token", True, f"A Hugging Face token lies in {file}")
    return Finding("hub-token", True, "No Hugging Face token; the checkpoints that labtui knows need none")


def _offline() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in SWITCHED_ON


def _owner(path: Path) -> str:
    try:
        return path.owner()
    except (KeyError, OSError):
        return "another user"
