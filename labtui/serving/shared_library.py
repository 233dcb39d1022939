"""What a shared library asks of others, read from the file alone: nothing is loaded."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_VERNEED, DT_VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF
USUAL_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib")


@dataclass(frozen=True, slots=True)
class Needs:
    """libraries: by the names that the loader looks for. symbols: versions of symbols, like GLIBCXX_3.4.32."""

    libraries: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()


def needs_of(path: Path) -> Needs:
    """Of a 64-bit little-endian ELF file (man 5 elf); nothing of a file that is none or cannot be read."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _read(data)
    except (OSError, ValueError, OverflowError, struct.error, StopIteration):
        return Needs()


def _read(data: mmap.mmap) -> Needs:
    if data[:6] != b"\x7fELF\x02\x01":
        return Needs()
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, table + index * size) for index in range(count)]
    loads: list[tuple[int, int, int]] = [(one[3], one[2], one[5]) for one in segments if one[0] == PT_LOAD]

    def place(address: int) -> int:
        return next(offset + address - start for start, offset, length in loads if start <= address < start + length)

    dynamic = next((segment for segment in segments if segment[0] == PT_DYNAMIC), None)
    if dynamic is None:
        return Needs()
    entries = list(struct.iter_unpack("<QQ", data[dynamic[2] : dynamic[2] + dynamic[5]]))
    values = dict(entries)
    if DT_STRTAB not in values:
        return Needs()
    strings = place(values[DT_STRTAB])

    def text(offset: int) -> str:
        begin = strings + offset
        return data[begin : data.find(b"\0", begin)].decode("ascii", "replace")

    libraries = tuple(text(value) for tag, value in entries if tag == DT_NEEDED)
    symbols: list[str] = []
    if DT_VERNEED in values:
        where = place(values[DT_VERNEED])
        for _ in range(values.get(DT_VERNEEDNUM, 0)):
            _, count, _, first, following = struct.unpack_from("<HHIII", data, where)
            entry = where + first
            for _ in range(count):
                _, _, _, name, step = struct.unpack_from("<IHHII", data, entry)
                symbols.append(text(name))
                entry += step
            where += following
    return Needs(libraries, tuple(symbols))


def find_library(name: str, *, library_path: str | None = None) -> Path | None:
    """Where the loader of a Python program of this environment would find it; None where it would not."""
    given = os.environ.get("LD_LIBRARY_PATH", "") if library_path is None else library_path
    # A conda Python has its own lib folder in its run path, which counts for what it loads.
    conda = [f"{sys.base_prefix}/lib"] if (Path(sys.base_prefix) / "conda-meta").is_dir() else []
    for folder in [*conda, *(part for part in given.split(os.pathsep) if part)]:
        if (Path(folder) / name).exists():
            return Path(folder) / name
    if name in (known := _loader_cache()):
        return known[name]
    return next((Path(folder) / name for folder in USUAL_FOLDERS if (Path(folder) / name).exists()), None)


@cache
def _loader_cache() -> dict[str, Path]:
    program = shutil.which("ldconfig") or "/sbin/ldconfig"
    try:
        done = subprocess.run([program, "-p"], capture_output=True, text=True, timeout=5, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found: dict[str, Path] = {}
    for match in re.finditer(r"^\s+(\S+) \(.*\) => (\S+)$", done.stdout, re.MULTILINE):
        found.setdefault(match.group(1), Path(match.group(2)))
    return found


def symbol_versions(library: Path) -> frozenset[str]:
    """The versions that a libstdc++ has: GLIBCXX_3.4.30, CXXABI_1.3.13, ..."""
    try:
        found = re.findall(rb"(?:GLIBCXX_3\.4|CXXABI_1\.3)(?:\.\d+)?", library.read_bytes())
    except OSError:
        return frozenset()
    return frozenset(one.decode("ascii") for one in found)
