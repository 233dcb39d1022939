"""What this machine can run, and what would stop it. Made to be pasted: no secret, and no name in a path of home."""

from __future__ import annotations

import contextlib
import json
import platform
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from labtui.errors import LabError
from labtui.serving.finding import Finding
from labtui.serving.gpu import gpus
from labtui.serving.machine import Vllm, installed_vllm, parse_version
from labtui.serving.machine_findings import machine_findings, terminal
from labtui.serving.supervisor import Supervisor
from labtui.serving.vllm_cpu import obstacles
from store.location import default_path

__all__ = ["Finding", "findings", "to_json", "to_text"]

TIME_LIMIT_S = 1.5


def findings(time_limit_s: float = TIME_LIMIT_S) -> list[Finding]:
    """Everything that was looked at, good things too.

    time_limit_s: how long the one slow look may take, an import of torchvision in a process of its own. Where it is
    not done by then, the file's own words on what it was built for have to do.
    """
    began = time.monotonic()
    on_cpu = bool(obstacles.obstacles())
    importing = obstacles.start_torchvision_import() if on_cpu and time_limit_s > 0 else None
    try:
        found = [
            *_program(),
            *_vllm(installed_vllm()),
            *_obstacles(),
            *machine_findings(),
            *terminal(),
            *_engines(),
            _store(),
        ]
        if importing is not None:
            imported = _torchvision(importing, time_limit_s - (time.monotonic() - began))
            found = [*found, *([imported] if imported else [])]
    finally:
        if importing is not None:
            importing.kill()
            importing.wait()
            if importing.stderr is not None:
                importing.stderr.close()
    return [_without_home(finding) for finding in found]


def to_text(found: Iterable[Finding]) -> str:
    """A sign, the title, and below it the cause and after an arrow what to do."""
    lines = []
    for finding in found:
        lines.append(f"{_sign(finding)} {finding.title}")
        lines += [f"    {finding.cause}"] if finding.cause else []
        lines += [f"  → {finding.fix}"] if finding.fix else []
    return "\n".join(lines)


def to_json(found: Iterable[Finding]) -> str:
    """{"findings": [{"id", "ok", "blocking", "title", "cause", "fix"}, ...]}"""
    keys = ("id", "ok", "blocking", "title", "cause", "fix")
    rows = [{key: value for key, value in asdict(finding).items() if key in keys} for finding in found]
    return json.dumps({"findings": rows}, indent=2, ensure_ascii=False)


def _sign(finding: Finding) -> str:
    return "✓" if finding.ok else "✗" if finding.blocking else "!"


def _program() -> Iterator[Finding]:
    python = f"Python {platform.python_version()}"
    yield Finding("python", True, python, sys.executable)
    yield Finding("labtui", True, f"labtui {_version('labtui') or '(not installed, run from its folder)'}")


def _vllm(vllm: Vllm | None) -> Iterator[Finding]:
    cards = gpus()
    extra = "gpu" if cards else "cpu"
    again = f"./lab --reinstall, or: pip install 'labtui[{extra}]'"
    if vllm is None:
        cause = (
            "Lessons, `labtui measure` and `labtui serve attach URL` work without it; a server of your own does not."
        )
        yield Finding("vllm", False, "vLLM is not installed here", cause, again, blocking=True)
        return
    name = "vllm-cpu" if vllm.cpu else "vllm"
    if vllm.version is None:
        cause = f"{vllm.program[0]} is on PATH; its version is not known here."
        yield Finding("vllm", True, "vLLM of another environment is used", cause)
        return
    wanted = _wanted(name)
    if wanted and not _satisfies(vllm.version, wanted):
        cause = f"labtui is made for {name} {wanted}."
        yield Finding("vllm", False, f"{name} {vllm.version} is another version than labtui wants", cause, again)
    else:
        yield Finding("vllm", True, f"{name} {vllm.version}")
    if cards and vllm.cpu:
        cause = f"{cards[0].name} answers, and this vLLM cannot use it."
        yield Finding("vllm-build", False, "vLLM's CPU build is installed beside a GPU", cause, again)
    elif not cards and not vllm.cpu:
        cause = "No NVIDIA GPU answers, and vLLM's usual build needs one."
        fix = f"See what nvidia-smi says. For the CPU: {again}"
        yield Finding("vllm-build", False, "vLLM's GPU build is installed, without a GPU", cause, fix, blocking=True)


def _obstacles() -> Iterator[Finding]:
    for obstacle in obstacles.obstacles():
        if obstacle.removed:
            cause = f"{obstacle.cause} For a server that you start yourself: {obstacle.by_hand}"
            yield Finding(obstacle.id, True, f"labtui's own server gets round this: {obstacle.title}", f"{cause}.")
        else:
            yield Finding(obstacle.id, False, obstacle.title, obstacle.cause, obstacle.by_hand, obstacle.blocking)


def _torchvision(importing: subprocess.Popen[str], wait_s: float) -> Finding | None:
    """None where it did not finish in time, which a busy or slow machine explains."""
    try:
        _, errors = importing.communicate(timeout=max(0.0, wait_s))
    except subprocess.TimeoutExpired:
        return None
    if importing.returncode == 0:
        return Finding("cpu-torchvision-import", True, "torchvision can be imported as the server does it")
    last = errors.strip().splitlines()[-1] if errors.strip() else f"exit code {importing.returncode}"
    return Finding(
        "cpu-torchvision-import",
        False,
        "torchvision cannot be imported, not even as the server does it",
        last,
        f"pip install --force-reinstall --no-deps torchvision --index-url {obstacles.WHEELS}",
        blocking=True,
    )


def _engines() -> Iterator[Finding]:
    """Without a look at the record: a server of ours that is in use is told as what it is."""
    try:
        others = Supervisor().others()
    except LabError as error:
        yield Finding("leftovers", False, error.title, error.cause, error.fix)
        return
    if others.ours:
        names = "; ".join(one.words() for one in others.ours)
        cause = f"{names}. It may hold memory that the next one needs."
        fix = "labtui serve stop --leftovers"
        yield Finding("leftovers", False, "Something of an earlier server of labtui is still running", cause, fix)
    else:
        yield Finding("leftovers", True, "Nothing of an earlier server of labtui is left")
    if others.foreign:
        names = "; ".join(one.words() for one in others.foreign)
        title = "Another vLLM runs here that labtui did not start; labtui leaves it alone"
        yield Finding("other-engines", True, title, f"{names}.")


def _store() -> Finding:
    path = default_path()
    if not path.exists():
        return Finding("store", True, f"Nothing is kept yet; it will be in {path}")
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=0.2)) as store:
            journal = store.execute("PRAGMA journal_mode").fetchone()[0]
            store.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        return Finding(
            "store", False, f"{path} cannot be read", str(error), "labtui store check says more.", blocking=True
        )
    size = path.stat().st_size / 1e6
    return Finding("store", True, f"What you did is kept in {path} ({size:.1f} MB, journal mode {journal})")


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _wanted(name: str) -> str:
    """What labtui's own metadata asks for, like ">=0.32,<0.34"; empty where it is not installed."""
    with contextlib.suppress(PackageNotFoundError):
        for requirement in requires("labtui") or []:
            match = re.match(rf"{re.escape(name)}\s*([<>=!~][^;\s]*)", requirement)
            if match:
                return match.group(1)
    return ""


def _satisfies(have: str, wanted: str) -> bool:
    compare = {
        ">=": lambda a, b: a >= b,
        "<=": lambda a, b: a <= b,
        "==": lambda a, b: a == b,
        "<": lambda a, b: a < b,
        ">": lambda a, b: a > b,
    }
    release = parse_version(have)
    clauses = re.findall(r"(>=|<=|==|<|>)\s*([\d.]+)", wanted)
    return all(compare[sign](release, parse_version(number)) for sign, number in clauses)


def _without_home(finding: Finding) -> Finding:
    home = str(Path.home())
    if len(home) < 2:
        return finding
    own = re.compile(rf"{re.escape(home)}(?=[/\s'\"),.;:]|$)")
    return replace(
        finding, title=own.sub("~", finding.title), cause=own.sub("~", finding.cause), fix=own.sub("~", finding.fix)
    )
