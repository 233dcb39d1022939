"""How the person starts this program, so that every hint is a command that works when it is pasted."""

from __future__ import annotations

import os
import re
import shlex

ENVIRONMENT_VARIABLE = "LABTUI_PROGRAM"
"""Set by the script ./lab to the words that it was started with."""

COMMANDS = (
    "study",
    "next",
    "lessons",
    "lesson",
    "serve",
    "doctor",
    "diagnose",
    "run",
    "sweeps",
    "measure",
    "runs",
    "show",
    "compare",
    "verdict",
    "recall",
    "due",
    "blind",
    "predict",
    "tasks",
    "export",
    "progress",
    "web",
    "store",
    "--help",
    "--version",
)
"""The words after labtui that make a command of it; other sentences about labtui keep its name."""

_COMMAND = re.compile(rf"(?<![\w/.@-])labtui(?= (?:{'|'.join(COMMANDS)})(?![\w-]))")
_INSTALLING = re.compile(r"(?:\./lab(?: --reinstall)?, or: )?pip install '?labtui\[(?P<extra>\w+)\]'?")
_SCRIPT = re.compile(r"(?<![\w/.])\./lab(?![\w/-])")
_VLLM_HELP = re.compile(r"vllm serve --help=all")


def program() -> str:
    """labtui, or what the person typed to get it, quoted for a shell."""
    typed = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
    return shlex.quote(typed) if typed and typed.isprintable() else "labtui"


def as_typed(text: str) -> str:
    """The same hint with the commands in it as this person has to type them."""
    name = program()
    if name == "labtui":
        return text
    text = _INSTALLING.sub(lambda found: f"LABTUI_EXTRA={found['extra']} {name} --reinstall", text)
    text = _VLLM_HELP.sub(lambda _: f"{name} serve flags WORD", text)
    text = _SCRIPT.sub(lambda _: name, text)
    return _COMMAND.sub(lambda _: name, text)
