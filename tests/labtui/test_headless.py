"""Everything but the app, its screens and its widgets runs without Textual."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import importlib, pkgutil, sys
for root in ("labtui.cli", "labtui.serving", "labtui.artifacts", "store", "exercises", "lessons"):
    package = importlib.import_module(root)
    for found in pkgutil.walk_packages(package.__path__, root + "."):
        if not any(found.name.startswith(name) for name in NOT_OURS):
            importlib.import_module(found.name)
for name in ("labtui.running", "labtui.next_step", "labtui.standing", "labtui.configuration", "labtui.terminal_text"):
    importlib.import_module(name)
print(sorted(name for name in sys.modules if name.partition(".")[0] == "textual"))
"""

NOT_OURS = (
    # Runs only inside the server's process.
    "labtui.serving.vllm_cpu.child",
    # For training only: it loads torch.
    "exercises.practice.",
)


def test_the_commands_the_server_code_and_the_store_never_load_textual() -> None:
    code = f"NOT_OURS = {NOT_OURS!r}\n{CODE}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
