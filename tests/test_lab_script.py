"""The set-up script on machines that this one is not: a stand-in for Python plays the machine and its registry."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = (
    "awk bash cat chmod cksum cp cut df dirname env find grep head id ls mkdir mv readlink "
    "rm sed sleep tail tput tr uname"
)

# Plays python3 and, copied into .venv, the environment's python. FAKE_PIP names what the registry does.
PYTHON = r"""#!/usr/bin/env bash
set -eu
real="$REAL_PYTHON"
case "$*" in
*"import venv, ensurepip"*) exit "${FAKE_NO_VENV:-0}" ;;
*_base_executable*) echo "$0"; exit ;;
-c*) if [ -n "${FAKE_VERSION:-}" ]; then
        case "$*" in *print*) echo "$FAKE_VERSION" ;; *) exit "${FAKE_TOO_OLD:-0}" ;; esac
        exit
    fi
    exec "$real" "$@" ;;
"-m venv "*)
    echo "venv $3" >>"$CALLS"
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    echo "version = 3.11.7" >"$3/pyvenv.cfg" ;;
"-m pip --version") echo "pip 26.0 from somewhere" ;;
"-m pip install"*)
    echo "pip ${*: -1} $*" >>"$CALLS"
    echo "Collecting textual"
    case "${FAKE_PIP:-works}:$*" in
    full:*) echo "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"; exit 1 ;;
    offline:*) echo "NewConnectionError: [Errno -3] Temporary failure in name resolution"
        echo "ERROR: No matching distribution found for hatchling"; exit 1 ;;
    odd:*) echo "ERROR: something that nobody has seen before"; exit 1 ;;
    torch-elsewhere:*extra-index-url*) ;;
    torch-elsewhere:*cpu* | no-wheel:*cpu*)
        echo "ERROR: No matching distribution found for torch==2.13.0+cpu"; exit 1 ;;
    slow:*) echo $$ >"$CALLS.pid"; sleep "$FAKE_SECONDS" ;;
    esac
    here=$(dirname "$0")
    printf '#!/usr/bin/env bash\necho "labtui in $PWD:" "$@"\necho "typed $LABTUI_PROGRAM" >>"$CALLS"\n' >"$here/labtui"
    for tool in ruff mypy lint-imports; do
        printf '#!/usr/bin/env bash\necho "%s $*" >>"$CALLS"\n[ "${FAKE_FAILS:-}" != %s ]\n' $tool $tool >"$here/$tool"
    done
    chmod +x "$here"/*
    echo "Successfully installed textual" ;;
"-m pytest"*) shift 2; echo "pytest in $PWD: $*" >>"$CALLS" ;;
*) echo "the stand-in does not know: $*" >&2; exit 9 ;;
esac
"""


@dataclass
class Machine:
    folder: Path
    bin: Path
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def lab(self) -> Path:
        return self.folder / "lab"

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    @property
    def stamp(self) -> Path:
        return self.venv / "labtui-setup.stamp"

    @property
    def calls_file(self) -> Path:
        return self.bin.parent / "calls"

    @property
    def environment(self) -> dict[str, str]:
        home = self.bin.parent
        (home / "tmp").mkdir(exist_ok=True)
        return {
            "PATH": str(self.bin),
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),
            "CALLS": str(self.calls_file),
            "REAL_PYTHON": sys.executable,
            **self.settings,
        }

    def calls(self, start: str = "") -> list[str]:
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        return [line for line in lines if line.startswith(start)]

    def requirements(self) -> list[str]:
        """What pip was asked to install, call by call."""
        return [call.split(" ")[1] for call in self.calls("pip ")]

    def run(self, *arguments: str, script: Path | None = None, cwd: Path | None = None, **settings: str):
        return subprocess.run(
            [str(script or self.lab), *arguments],
            env=self.environment | settings,
            cwd=cwd or self.bin.parent,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        )

    def start(self, *arguments: str, **settings: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.lab), *arguments],
            env=self.environment | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def add(self, name: str, text: str) -> None:
        file = self.bin / name
        file.write_text(text)
        file.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    folder = tmp_path / "a lab with spaces"
    folder.mkdir()
    shutil.copy(ROOT / "lab", folder / "lab")
    (folder / "pyproject.toml").write_text("[project]\nname = 'labtui'\n")
    made = Machine(folder, tmp_path / "bin")
    made.bin.mkdir()
    for tool in TOOLS.split():
        found = shutil.which(tool)
        if found:
            (made.bin / tool).symlink_to(found)
    made.add("python3", PYTHON)
    return made


def wait_for(condition) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_the_first_call_sets_up_and_the_second_starts_at_once(machine, tmp_path):
    first = machine.run("runs", "--json")
    assert first.returncode == 0, first.stderr
    assert first.stdout == f"labtui in {tmp_path}: runs --json\n"
    for step in ("[1/4]", "[2/4]", "[3/4]", "[4/4]", "1.1 GB"):
        assert step in first.stderr
    assert machine.requirements() == [".[cpu]"]
    second = machine.run("runs")
    assert second.stderr == ""
    assert machine.requirements() == [".[cpu]"]


def test_through_a_symlink_from_elsewhere(machine, tmp_path):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "lab").symlink_to("../a lab with spaces/lab")
    done = machine.run("next", script=tmp_path / "links" / "lab", cwd=tmp_path / "links")
    assert done.stdout == f"labtui in {tmp_path / 'links'}: next\n"
    assert machine.stamp.exists()


def test_a_changed_pyproject_installs_again_into_the_same_environment(machine):
    machine.run()
    (machine.folder / "pyproject.toml").write_text("[project]\nname = 'labtui'\nversion = '2'\n")
    assert machine.run().returncode == 0
    assert len(machine.requirements()) == 2
    assert len(machine.calls("venv")) == 1


def test_a_moved_folder_and_reinstall_make_the_environment_anew(machine, tmp_path):
    machine.run()
    moved = machine.folder.rename(tmp_path / "moved")
    elsewhere = Machine(moved, machine.bin)
    assert elsewhere.run().returncode == 0
    assert elsewhere.run("--reinstall").returncode == 0
    assert len(machine.calls("venv")) == 3


@pytest.mark.parametrize(("smi", "extra"), [("echo 'GPU 0: NVIDIA H200'", "gpu"), ("echo 'no devices'; exit 9", "cpu")])
def test_the_gpu_build_where_a_gpu_answers(machine, smi, extra):
    machine.add("nvidia-smi", f"#!/usr/bin/env bash\n{smi}\n")
    machine.run()
    assert machine.requirements() == [f".[{extra}]"]


def test_the_extra_can_be_said(machine):
    machine.run()
    assert machine.run(LABTUI_EXTRA="none").returncode == 0
    assert machine.requirements() == [".[cpu]", "."]
    wrong = machine.run(LABTUI_EXTRA="tpu")
    assert wrong.returncode == 1
    assert "cpu, gpu or none" in wrong.stderr


def test_no_python(machine):
    (machine.bin / "python3").unlink()
    done = machine.run()
    assert done.returncode == 1
    assert "No Python 3.11 or newer was found" in done.stderr
    assert "apt install python3" in done.stderr
    assert not machine.venv.exists()


def test_a_python_that_is_too_old_is_named(machine):
    done = machine.run(FAKE_VERSION="3.9", FAKE_TOO_OLD="1")
    assert done.returncode == 1
    assert "Found: python3 (3.9)" in done.stderr


def test_a_python_without_venv_names_the_package(machine):
    done = machine.run(FAKE_VERSION="3.12", FAKE_NO_VENV="1")
    assert done.returncode == 1
    assert "apt install python3.12-venv" in done.stderr


def test_a_named_python_is_the_only_one_tried(machine):
    done = machine.run(LABTUI_PYTHON="/nowhere/python3")
    assert done.returncode == 1
    assert "No Python 3.11" in done.stderr


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("full", "The disk is full"),
        ("offline", "The package registry could not be reached"),
        ("odd", "LABTUI_EXTRA=none ./lab"),
    ],
)
def test_a_failed_install_says_why_and_is_not_trusted(machine, fault, message):
    done = machine.run(FAKE_PIP=fault)
    assert done.returncode == 1
    assert message in done.stderr
    assert "ERROR: " in done.stderr
    assert done.stdout == ""
    assert not machine.stamp.exists()
    again = machine.run("next")
    assert again.returncode == 0
    assert len(machine.calls("venv")) == 2


def test_torch_comes_from_its_own_index_where_the_registry_has_none(machine):
    assert machine.run(FAKE_PIP="torch-elsewhere").returncode == 0
    first, second = machine.calls("pip ")
    assert "extra-index-url" not in first
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in second
    assert "installed cpu" in machine.stamp.read_text()


def test_without_any_vllm_the_app_still_opens_and_says_so(machine):
    done = machine.run("next", FAKE_PIP="no-wheel")
    assert done.returncode == 0
    assert "going on without" in done.stderr
    assert machine.requirements() == [".[cpu]", ".[cpu]", "."]
    assert machine.run("next", FAKE_PIP="no-wheel").stderr == ""
    assert machine.run("--reinstall", "next").returncode == 0
    assert machine.requirements()[-1] == ".[cpu]"
    assert "installed cpu" in machine.stamp.read_text()


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_set_up_leaves_nothing_that_is_trusted(machine, sent, code):
    running = machine.start(FAKE_PIP="slow", FAKE_SECONDS="60")
    pid_file = Path(f"{machine.calls_file}.pid")
    wait_for(lambda: pid_file.exists() and pid_file.read_text().strip())
    os.killpg(running.pid, sent)
    output, _ = running.communicate(timeout=20)
    assert running.returncode == code
    assert "Nothing half-made is trusted" in output
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)
    assert not machine.stamp.exists()
    assert list((machine.bin.parent / "tmp").glob("labtui-setup-*")) == []
    assert machine.run("next").returncode == 0
    assert len(machine.calls("venv")) == 2


def test_two_at_once_set_up_once(machine):
    first = machine.start("first", FAKE_PIP="slow", FAKE_SECONDS="2")
    wait_for(lambda: machine.calls("pip "))
    second = machine.start("second")
    said = second.communicate(timeout=30)[0]
    assert "Another ./lab is setting up here" in said
    assert said.rstrip().endswith(": second")
    assert first.communicate(timeout=30)[0].rstrip().endswith(": first")
    assert len(machine.requirements()) == 1


def test_the_lock_of_a_killed_set_up_does_not_block(machine):
    running = machine.start(FAKE_PIP="slow", FAKE_SECONDS="60")
    wait_for(lambda: machine.calls("pip "))
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate(timeout=20)
    done = machine.run("next")
    assert done.returncode == 0, done.stderr
    assert "Another" not in done.stderr
    assert len(machine.calls("venv")) == 2


def test_a_folder_that_is_no_environment_is_not_touched(machine):
    machine.venv.mkdir()
    (machine.venv / "letter.txt").write_text("mine")
    done = machine.run()
    assert done.returncode == 1
    assert "is no Python environment" in done.stderr
    assert (machine.venv / "letter.txt").read_text() == "mine"


def test_an_environment_made_by_hand_is_used(machine):
    subprocess.run([machine.bin / "python3", "-m", "venv", machine.venv], env=machine.environment, check=True)
    machine.run()
    assert len(machine.calls("venv")) == 1
    assert machine.stamp.exists()


def test_the_checks_run_in_order_and_all_of_them(machine):
    machine.run()
    done = machine.run("test", "-k", "two words", FAKE_FAILS="mypy")
    assert machine.requirements() == [".[cpu]", ".[cpu,test]"]
    assert machine.calls()[-5:] == [
        "ruff check .",
        "ruff format --check .",
        "mypy ",
        "lint-imports ",
        f"pytest in {machine.folder}: -k two words",
    ]
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("lab test: FAILED after")
    assert done.stdout.splitlines()[-1].endswith(": mypy")
    passed = machine.run("test")
    assert passed.returncode == 0
    assert "lab test: all 6 checks passed" in passed.stdout.splitlines()[-1]
    assert machine.calls()[-2:] == [
        f"pytest in {machine.folder}: -m not real -n 3 --dist worksteal",
        f"pytest in {machine.folder}: -m real",
    ]
    assert passed.stderr == ""


def test_what_has_the_test_tools_keeps_them(machine):
    machine.run("test")
    assert machine.run("next").stderr == ""
    (machine.folder / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    machine.run("next")
    assert machine.requirements() == [".[cpu,test]", ".[cpu,test]"]


def test_ci_runs_the_same_checks():
    assert (ROOT / ".ci" / "run").read_text().rstrip().endswith('lab" test')


def test_the_program_is_told_how_it_was_typed(machine):
    machine.run("runs")
    assert machine.calls("typed")[-1] == f"typed {machine.lab}"
    for typed in (["./lab"], ["bash", "lab"]):
        subprocess.run([*typed, "runs"], env=machine.environment, cwd=machine.folder, capture_output=True, timeout=60)
        assert machine.calls("typed")[-1] == "typed ./lab"
