"""Runs one function of untrusted code. Started by limited_child.py as a program of its own, never imported.

Reads {"code", "function", "calls", limits} as JSON from stdin and writes one JSON line for each step to stdout. Before
the code runs, the process gives up what it can: other users' rights, new files, new processes, memory, time. An audit
hook (PEP 578) then refuses everything but computing, files and network and other processes in particular. Not every
call of the system has its audit event (os.mkfifo and os.stat have none), so those are taken away as well.
"""

from __future__ import annotations

import _imp
import bisect
import collections
import collections.abc
import contextlib
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import heapq
import io
import itertools
import json
import math
import operator
import os
import posix
import random
import re
import resource
import statistics
import string
import sys
import textwrap
import types
import typing
from collections.abc import Callable
from typing import Any

PLAIN_MODULES = (
    bisect, collections, collections.abc, copy, dataclasses, datetime, decimal, enum, fractions, functools, heapq,
    itertools, json, math, operator, random, re, statistics, string, textwrap, typing,
)  # fmt: skip
"""Loaded before the limits, so that the code can import them although it can open no file."""

COMPUTING = frozenset(
    {"builtins.id", "code.__new__", "compile", "exec", "function.__new__", "object.__delattr__", "object.__getattr__"}
    | {"object.__setattr__", "sys._getframe"}
)
"""Audit events that ordinary code causes; every other one is refused."""

HARMLESS_OS_CALLS = frozenset(
    {"fspath", "urandom", "getpid", "getppid", "times", "cpu_count", "strerror", "write", "read", "close"}
)
MAKERS_OF_MODULES = ("create_builtin", "exec_builtin", "create_dynamic", "exec_dynamic")

NOBODY = 65534


def tell(**step: Any) -> None:
    os.write(1, json.dumps(step).encode("ascii") + b"\n")


def give_up_rights(memory_bytes: int, cpu_s: int) -> None:
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    for limit, value in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 0),
    ):
        resource.setrlimit(limit, (value, value))


def take_away_the_system() -> None:
    """Every function of os that asks the system for something is replaced by a refusal, wherever it can be found."""
    for name, value in list(vars(posix).items()):
        if isinstance(value, types.BuiltinFunctionType) and name not in HARMLESS_OS_CALLS:
            refusal = refusing(f"os.{name}")
            for module in (posix, os):
                if vars(module).get(name) is value:
                    setattr(module, name, refusal)
    for found in (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks):
        found.clear()
    # They would make a second posix, with everything in it.
    for name in MAKERS_OF_MODULES:
        delattr(_imp, name)


def refusing(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **options: Any) -> Any:
        raise PermissionError(f"{name} is not allowed here: the checker offers plain computing only")

    return refuse


def refuse_all_but_computing() -> None:
    """Installs the hook. It lives in no namespace and reads none, so the code cannot reach or change it."""
    computing, not_found, not_allowed = COMPUTING, ImportError, PermissionError

    def refuse(event: str, args: tuple[Any, ...]) -> None:
        if event == "import":
            raise not_found(f"no module {args[0]} here: the checker offers plain computing only")
        if event not in computing:
            raise not_allowed(f"{event} is not allowed here: the checker offers plain computing only")

    sys.addaudithook(refuse)


def plain(value: Any, depth: int = 0) -> Any:
    """The value as JSON has it, tuples as lists. Raises TypeError for anything else."""
    if depth > 50:
        raise TypeError("nested too deeply")
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) in (list, tuple):
        return [plain(item, depth + 1) for item in value]
    if type(value) is dict:
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    raise TypeError(f"a {type(value).__name__}")


def describe(fault: BaseException) -> str:
    try:
        return f"{type(fault).__name__}: {fault}"[:300]
    except BaseException:
        return type(fault).__name__


def main() -> None:
    job = json.load(sys.stdin)
    code, function, calls = job["code"], job["function"], job["calls"]
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(), io.StringIO(), io.StringIO()
    sys.setrecursionlimit(1000)
    give_up_rights(job["memory_bytes"], job["cpu_s"])
    take_away_the_system()
    refuse_all_but_computing()

    # A module of its own: dataclasses and enum look up the module of what they make.
    module = types.ModuleType("answer")
    sys.modules["answer"] = module
    space = module.__dict__
    try:
        compiled = compile(code, "<answer>", "exec")
    except BaseException as fault:
        tell(step="compiles", ok=False, detail=describe(fault))
        return
    tell(step="compiles", ok=True)
    try:
        exec(compiled, space)
    except BaseException as fault:
        tell(step="loads", ok=False, detail=describe(fault))
        return
    found = callable(space.get(function))
    tell(step="loads", ok=True)
    tell(step="defines", ok=found)
    if not found:
        return
    for number, args in enumerate(calls):
        sys.stdout = io.StringIO()
        try:
            value = space[function](*args)
        except BaseException as fault:
            tell(step="call", number=number, ok=False, detail=describe(fault))
            continue
        try:
            tell(step="call", number=number, ok=True, value=plain(value))
        except BaseException as fault:
            tell(step="call", number=number, ok=False, detail=f"gives what is no plain value ({describe(fault)})")


if __name__ == "__main__":
    main()
