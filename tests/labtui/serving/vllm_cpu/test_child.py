"""What a process sees that was started with `child_environment`, and what it does not see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from labtui.serving.vllm_cpu.environment import CHILD_FOLDER, child_environment


def has(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


needs_torchvision = pytest.mark.skipif(not has("torchvision"), reason="torchvision is not installed")
needs_vllm_cpu = pytest.mark.skipif(not has("vllm-cpu"), reason="vllm-cpu is not installed")


def ask(code: str, *, python_path: str | None = None, arguments: list[str] | None = None) -> dict[str, object]:
    """Runs code in a process that sees what the server sees; it fills `seen`."""
    environment = dict(os.environ) | child_environment({}, vllm_cpu_version="0.32.0")
    if python_path is not None:
        environment["PYTHONPATH"] = python_path
    program = f"import json\nseen = {{}}\n{code}\nprint(json.dumps(seen))"
    done = subprocess.run(
        [sys.executable, *(arguments or []), "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return seen


VLLM_METADATA = """
from importlib.metadata import PackageNotFoundError, entry_points, version
try:
    seen["vllm"] = version("vllm")
except PackageNotFoundError:
    seen["vllm"] = None
seen["plugins"] = [point.value for point in entry_points(group="vllm.general_plugins")]
"""


@needs_vllm_cpu
def test_the_command_line_finds_a_distribution_named_vllm():
    seen = ask(VLLM_METADATA)
    assert seen["vllm"] == f"{version('vllm-cpu')}+cpu"
    assert "labtui_vllm_cpu.plugin:register" in seen["plugins"]


@needs_vllm_cpu
def test_without_the_folder_there_is_none():
    assert ask(VLLM_METADATA, python_path="")["vllm"] is None


def test_a_real_vllm_distribution_is_left_alone(tmp_path):
    metadata = tmp_path / "vllm-0.33.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: vllm\nVersion: 0.33.0\n")
    assert ask(VLLM_METADATA, python_path=os.pathsep.join([str(CHILD_FOLDER), str(tmp_path)]))["vllm"] == "0.33.0"


def test_without_any_vllm_there_is_still_none(tmp_path):
    """-S leaves site-packages out, and with it sitecustomize, which is then run by hand."""
    seen = ask("import sitecustomize\n" + VLLM_METADATA, arguments=["-S"])
    assert seen["vllm"] is None


def test_another_sitecustomize_still_runs(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.mine = 'ran'\n")
    seen = ask("seen['mine'] = mine", python_path=os.pathsep.join([str(CHILD_FOLDER), str(tmp_path)]))
    assert seen["mine"] == "ran"


def test_the_start_of_a_process_imports_nothing_heavy():
    seen = ask(
        "import sys\nseen['heavy'] = sorted({'torch', 'numpy', 'importlib.metadata', 'vllm'} & set(sys.modules))"
    )
    assert seen["heavy"] == []


@needs_torchvision
def test_torchvision_can_be_imported_even_after_torch_was_only_looked_up():
    seen = ask(
        "import importlib.util, sys\n"
        "importlib.util.find_spec('torch')\n"
        "import torchvision.transforms.v2\n"
        "from torchvision.io import decode_image\n"
        "seen['version'] = torchvision.__version__\n"
        "seen['traces'] = [repr(finder) for finder in sys.meta_path if 'Watch' in repr(finder)]"
    )
    assert seen["version"]
    assert seen["traces"] == []


PACKAGES = ("torchaudio", "torchcodec")


@pytest.mark.parametrize("package", [name for name in PACKAGES if has(name)])
def test_a_package_is_hidden_exactly_where_its_import_fails(package):
    fails = (
        subprocess.run([sys.executable, "-c", f"import {package}"], capture_output=True, timeout=120).returncode != 0
    )
    seen = ask(
        "import importlib.util, torch\n"
        f"seen['hidden'] = importlib.util.find_spec('{package}') is None\n"
        "try:\n"
        f"    import {package}\n"
        "except ImportError as error:\n"
        "    seen['error'] = type(error).__name__"
    )
    assert seen["hidden"] is fails
    assert seen.get("error") == ("ModuleNotFoundError" if fails else None)


@needs_vllm_cpu
def test_the_worker_gets_every_kernel_of_the_installed_vllm():
    """What vLLM's worker does before it loads a model; register_kernels refuses names that do not exist."""
    seen = ask(
        "from vllm.plugins import load_general_plugins\n"
        "load_general_plugins()\n"
        "from vllm.platforms import current_platform\n"
        "current_platform.register_triton_kernel_overrides()\n"
        "from labtui_vllm_cpu.kernels import BY_NAME\n"
        "from vllm.triton_utils.dispatcher import _registry\n"
        "from vllm.config.vllm import HAS_TRITON\n"
        "seen.update(wanted=sorted(BY_NAME), registered=sorted(_registry), runner_allowed=HAS_TRITON)\n"
    )
    assert set(seen["wanted"]) <= set(seen["registered"])
    assert seen["runner_allowed"] is True


def test_nothing_of_it_is_in_this_process():
    assert not any(Path(entry) == CHILD_FOLDER for entry in sys.path)
    assert "labtui_vllm_cpu" not in sys.modules
