"""What `labtui doctor` says of the machine itself: GPU, memory, disk, the hub, the port, limits, the terminal."""

from __future__ import annotations

import locale
import os
import platform
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

from labtui.serving import hub_cache, ports
from labtui.serving.download_findings import SWITCHED_ON, token
from labtui.serving.finding import Finding
from labtui.serving.gpu import GIB, gpus
from labtui.serving.preflight import ENOUGH_FILES, SMALL_SHM_GIB

PRACTICE_MEMORY_GIB = 2.0
ENOUGH_DISK_GB = 20.0
SMALLEST_TERMINAL = (80, 24)
OLDEST_DRIVER_FOR_CUDA_13 = 580


def machine_findings() -> Iterator[Finding]:
    system = f"{platform.system()} {platform.release()} on {platform.machine()}"
    yield Finding("system", True, f"{system}, {os.cpu_count()} CPU threads")
    yield from graphics()
    yield memory()
    yield from disk()
    yield token()
    yield from offline()
    yield port()
    yield from limits()
    yield compiler()


def graphics() -> Iterator[Finding]:
    cards = gpus()
    for card in cards:
        title = f"GPU {card.index}: {card.name}, {card.free_gib:.1f} of {card.total_gib:.1f} GiB free"
        driver = f"driver {card.driver or 'unknown'}, CUDA {card.cuda or 'unknown'}"
        yield Finding(f"gpu-{card.index}", True, title, f"Compute capability {card.capability_text}, {driver}.")
    if cards and _is_older(cards[0].driver, OLDEST_DRIVER_FOR_CUDA_13):
        yield Finding(
            "driver",
            False,
            f"The NVIDIA driver {cards[0].driver} is too old for vLLM's usual build",
            f"That build is made for CUDA 13, which needs driver {OLDEST_DRIVER_FOR_CUDA_13} or newer.",
            "Bring the driver up to date, or install a vLLM build for CUDA 12.9.",
        )
    if not cards:
        hidden = os.environ.get("CUDA_VISIBLE_DEVICES")
        yield Finding(
            "gpu",
            True,
            "No NVIDIA GPU answers: the practice checkpoint runs on the CPU",
            f"CUDA_VISIBLE_DEVICES is {hidden!r}." if hidden is not None else "",
        )


def _is_older(driver: str | None, least: int) -> bool:
    major = (driver or "").split(".")[0]
    return major.isdigit() and int(major) < least


def memory() -> Finding:
    have = psutil.virtual_memory()
    free, total = have.available / GIB, have.total / GIB
    limit = _container_limit()
    title = f"{free:.1f} of {total:.1f} GiB of memory are free"
    detail = "" if limit is None or limit >= total else f"The container may use {limit:.1f} GiB."
    if min(free, limit or free) >= PRACTICE_MEMORY_GIB:
        return Finding("memory", True, title, detail)
    cause = f"The practice checkpoint needs up to {PRACTICE_MEMORY_GIB:.0f} GiB while it starts. {detail}".strip()
    return Finding("memory", False, title, cause, "End what you no longer need, or give the container more.")


def _container_limit() -> float | None:
    """GiB that the control group allows, None where there is no limit."""
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(file).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if text.isdigit() and int(text) < 2**60:
            return int(text) / GIB
    return None


def disk() -> Iterator[Finding]:
    cache = hub_cache.hub_cache_folder()
    existing = next(folder for folder in (cache, *cache.parents) if folder.exists())
    free = shutil.disk_usage(existing).free / 1e9
    title = f"{free:.0f} GB are free for models, in {cache}"
    if not os.access(existing, os.W_OK):
        yield Finding(
            "disk",
            False,
            "The Hugging Face cache cannot be written to",
            f"{existing} belongs to another user (often root, from a container).",
            "Take it over with chown, or set HF_HOME to a folder of your own. The practice checkpoint needs neither.",
        )
    elif free < ENOUGH_DISK_GB:
        cause = "The smallest DiffusionGemma is a download of 18 GB. The practice checkpoint comes with labtui."
        yield Finding("disk", False, title, cause, "Free some space there, or set HF_HOME to a larger disk.")
    else:
        yield Finding("disk", True, title)


def offline() -> Iterator[Finding]:
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        if os.environ.get(name, "").upper() in SWITCHED_ON:
            yield Finding(
                f"offline-{name.lower().replace('_', '-')}",
                False,
                f"{name} is set: nothing is downloaded",
                "Checkpoints that are complete in the cache and the practice checkpoint still work.",
                f"unset {name} before you start labtui, if you want to download a checkpoint.",
            )


def port() -> Finding:
    number = ports.DEFAULT_PORT
    if ports.port_is_free(number):
        return Finding("port", True, f"Port {number} is free")
    holder = ports.port_holder(number) or "a process that this user cannot see"
    return Finding("port", True, f"Port {number} is held by {holder}; a launch takes the next free one")


def limits() -> Iterator[Finding]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = "any number of" if hard == resource.RLIM_INFINITY else str(hard)
    if hard != resource.RLIM_INFINITY and hard < ENOUGH_FILES:
        cause = "vLLM opens many sockets and may end with 'Too many open files'."
        fix = "Raise it before you start: ulimit -n 65535"
        yield Finding("open-files", False, f"At most {hard} files may be open", cause, fix)
    else:
        yield Finding("open-files", True, f"{allowed} files may be open (now {soft})")
    shared = Path("/dev/shm")
    if not shared.exists():
        return
    size = shutil.disk_usage(shared).total / GIB
    if size < SMALL_SHM_GIB:
        yield Finding(
            "shared-memory",
            False,
            f"/dev/shm has {size:.2f} GiB",
            "Containers get 64 MiB unless told otherwise. One GPU manages; several together end with a bus error.",
            "Start the container with --ipc=host or --shm-size=16g.",
        )
    else:
        yield Finding("shared-memory", True, f"/dev/shm has {size:.1f} GiB")


def compiler() -> Finding:
    found = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if found is not None:
        return Finding("compiler", True, f"A C compiler is there ({found})")
    if not gpus():
        return Finding("compiler", True, "No C compiler; on the CPU labtui starts vLLM so that it needs none")
    return Finding(
        "compiler",
        False,
        "No C compiler",
        "On a GPU, Triton builds its launcher with one when the first request comes.",
        "Install one: apt install gcc, or dnf install gcc.",
    )


def terminal() -> Iterator[Finding]:
    columns, lines = shutil.get_terminal_size(fallback=(0, 0))
    least_columns, least_lines = SMALLEST_TERMINAL
    name = os.environ.get("TERM", "")
    inside = [program for program, variable in (("tmux", "TMUX"), ("screen", "STY")) if os.environ.get(variable)]
    inside += ["SSH"] if os.environ.get("SSH_CONNECTION") else []
    detail = f"Inside {' and '.join(inside)}." if inside else ""
    if not sys.stdout.isatty():
        yield Finding("terminal", True, "The output is no terminal; the commands work, the app needs one", detail)
    elif name in ("", "dumb"):
        cause = f"TERM is {name!r}: the app cannot place its text."
        yield Finding("terminal", False, "The terminal does not say what it can", cause, "export TERM=xterm-256color")
    elif (columns, lines) != (0, 0) and (columns < least_columns or lines < least_lines):
        cause = f"The app is laid out for {least_columns}×{least_lines} and more."
        yield Finding("terminal", False, f"The terminal has {columns}×{lines}", cause, "Make the window larger.")
    else:
        yield Finding("terminal", True, f"Terminal {name}, {columns}×{lines}, {_colours(name)}", detail)
    encoding = (sys.stdout.encoding or locale.getpreferredencoding(False)).lower().replace("-", "")
    if encoding != "utf8":
        cause = f"The encoding is {encoding}: lines and signs come out as question marks."
        yield Finding("encoding", False, "The terminal's encoding is not UTF-8", cause, "export LANG=C.UTF-8")
    else:
        yield Finding("encoding", True, "The encoding is UTF-8")


def _colours(term: str) -> str:
    if os.environ.get("NO_COLOR"):
        return "no colours, since NO_COLOR is set"
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return "all colours"
    return "256 colours" if "256" in term else "few colours"
