"""The server's process: what is written down before there is one, and its start."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from secrets import token_urlsafe

import psutil

from labtui.errors import LabError
from labtui.serving import processes
from labtui.serving.machine import Machine
from labtui.serving.plan import Plan
from labtui.serving.state import ServerState, StateFile, new_launch_id

API_KEY_VARIABLE = "LABTUI_API_KEY"


def intent(plan: Plan, machine: Machine, file: StateFile) -> ServerState:
    """The record of a launch that is about to be, with its log file and the sampler's file made."""
    if plan.sampler is not None:
        plan.sampler.write()
    launch_id = new_launch_id()
    return ServerState(
        launch_id=launch_id,
        kind="launched",
        url=plan.url,
        model=plan.served_name,
        checkpoint=plan.checkpoint.id,
        practice=plan.checkpoint.practice,
        started_at=time.time(),
        api_key=os.environ.get(API_KEY_VARIABLE) or token_urlsafe(32),
        host=plan.host,
        port=plan.port,
        command=tuple(plan.argv),
        env=dict(plan.env),
        log_path=str(file.new_log(launch_id)),
        plan_key=plan.key,
        download_gb=None if plan.env.get("HF_HUB_OFFLINE") else plan.checkpoint.disk_gb,
        vllm_version=plan.vllm_version,
        root=plan.checkpoint.model_argument,
        revision=plan.revision,
        hardware=hardware(machine),
        sampler={} if plan.sampler is None else plan.sampler.values,
        asked={} if plan.asked is None else plan.asked.to_json(),
    )


def start_process(plan: Plan, state: ServerState, state_dir: Path) -> subprocess.Popen[bytes]:
    """In a session of its own, its output in the log file. Raises LabError where it cannot be started."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LABTUI_")}
    environment |= plan.env
    environment |= processes.marks(state.launch_id, state_dir)
    environment["VLLM_API_KEY"] = state.api_key or ""
    assert state.log_path is not None
    try:
        with Path(state.log_path).open("ab") as output:
            return subprocess.Popen(
                plan.argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
    except OSError as error:
        raise LabError(
            f"{plan.argv[0]} could not be started",
            error.strerror or str(error),
            "See `labtui doctor`, which checks the installation.",
        ) from error


def hardware(machine: Machine) -> tuple[str, ...]:
    """What a run should say that it ran on."""
    if machine.gpus:
        return tuple(
            f"{card.name}, {card.total_gib:.1f} GiB, driver {card.driver or 'unknown'}" for card in machine.gpus
        )
    total = psutil.virtual_memory().total / 2**30
    return (f"CPU, {os.cpu_count() or 1} cores, {total:.0f} GiB of memory",)
