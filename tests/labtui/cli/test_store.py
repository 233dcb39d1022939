from __future__ import annotations

from labtui.errors import NO_STORE, USAGE


def test_path_prefers_the_option_then_the_variable_then_the_configuration(lab, tmp_path, monkeypatch) -> None:
    assert lab("store", "path").stdout.strip() == str(lab.home / "data" / "labtui" / "labtui.db")
    config = lab.home / "config" / "labtui" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('store = "mine.db"\n')
    assert lab("store", "path").stdout.strip() == str(config.parent / "mine.db")
    monkeypatch.setenv("LABTUI_STORE", str(tmp_path / "variable.db"))
    assert lab("store", "path").stdout.strip() == str(tmp_path / "variable.db")
    for arguments in (("--store", "o.db", "store", "path"), ("store", "path", "--store", "o.db")):
        assert lab(*arguments).stdout.strip() == "o.db"


def test_check_and_backup(lab, tmp_path, keep_run) -> None:
    run = keep_run()
    assert "no damage" in lab("store", "check").stdout
    copy = tmp_path / "copy.db"
    assert lab("store", "backup", str(copy)).stdout.strip() == str(copy)
    assert lab.json("show", run.id, "--store", str(copy))["id"] == run.id
    again = lab("store", "backup", str(copy))
    assert again.exit_code == USAGE
    assert "is there already" in again.stderr


def test_a_file_that_is_no_database_is_refused_unchanged_with_exit_4(lab, tmp_path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"my notes, which are long enough to be taken for a header of something else\n" * 20)
    before = path.read_bytes()
    for arguments in (("runs",), ("next",), ("lessons",), ("verdict", "diffusiongemma", "text"), ("store", "check")):
        result = lab(*arguments, "--store", str(path))
        assert result.exit_code == NO_STORE, arguments
        assert "→" in result.stderr
    assert path.read_bytes() == before


def test_without_a_store_what_needs_none_still_works(lab, tmp_path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"not a database at all, only text\n" * 40)
    trace = tmp_path / "trace.txt"
    trace.write_text(
        '[  0.900] data: {"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}],'
        '"usage":{"prompt_tokens":3,"completion_tokens":180,"total_tokens":183}}\n[  0.901] data: [DONE]\n'
    )
    log = tmp_path / "server.log"
    log.write_text("nothing to see\n")
    for arguments in (
        ("measure", str(trace)),
        ("lesson", "new", str(tmp_path / "mine")),
        ("lesson", "check", str(tmp_path / "mine")),
        ("serve", "status", "--json"),
        ("diagnose", str(log), "--json"),
    ):
        result = lab(*arguments, "--store", str(path))
        assert result.exit_code == 0, (arguments, result.output)
    # Exit 1 is its answer about the machine, not about the store.
    assert lab("doctor", "--json", "--store", str(path)).exit_code in (0, 1)
