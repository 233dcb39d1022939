from __future__ import annotations

import os

from labtui.serving.vllm_cpu import child_environment
from labtui.serving.vllm_cpu.environment import CHILD_FOLDER


def test_the_child_folder_comes_before_what_the_person_has_set():
    added = child_environment({"PYTHONPATH": os.pathsep.join(["/mine", "/also mine"])}, vllm_cpu_version="0.32.0")
    assert added["PYTHONPATH"].split(os.pathsep) == [str(CHILD_FOLDER), "/mine", "/also mine"]
    assert added["VLLM_USE_V2_MODEL_RUNNER"] == "1"


def test_a_server_started_from_a_server_environment_gets_the_folder_once():
    first = child_environment({}, vllm_cpu_version="0.32.0")
    assert child_environment(first, vllm_cpu_version="0.32.0") == first


def test_nothing_is_added_where_vllm_cpu_is_not_installed(monkeypatch):
    monkeypatch.setattr("labtui.serving.vllm_cpu.environment.installed_version", lambda distribution: None)
    assert child_environment({"PYTHONPATH": "/mine"}) == {}


def test_the_folder_is_complete():
    assert (CHILD_FOLDER / "sitecustomize.py").is_file()
    assert (CHILD_FOLDER / "labtui_vllm_cpu" / "plugin.py").is_file()
