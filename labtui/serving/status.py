"""What a person is told about the server, at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from labtui.serving.diagnosis import Cause

State = Literal["stopped", "starting", "warming", "ready", "dying", "foreign"]


@dataclass(frozen=True, slots=True)
class Status:
    """One moment of the server.

    state: "starting" until vLLM says that start-up is complete; "warming" until it has answered us; "ready"; "dying"
    while it goes, or while something of it is left; "foreign": something answers that we did not start;
    "stopped" with `causes` where it died.
    stage: where a start stands, in words; share: 0 to 1 of that stage where vLLM tells.
    since_s: since the launch (or since it was attached to); estimate_s: how long such a launch took the last time.
    stalled_s: how long the running requests have got nothing, where that is much longer than their last canvas took; it
    takes several looks to see it, so a first look says None.
    message: one sentence for the person, empty where the state says everything.
    """

    state: State
    stage: str | None = None
    stage_id: str | None = None
    share: float | None = None
    pid: int | None = None
    url: str | None = None
    checkpoint: str | None = None
    practice: bool = False
    since_s: float | None = None
    estimate_s: float | None = None
    ready_after_s: float | None = None
    last_line: str = ""
    stalled_s: float | None = None
    message: str = ""
    attached: bool = False
    launch_id: str | None = None
    plan_key: str | None = None
    model: str | None = None
    vllm_version: str | None = None
    max_model_len: int | None = None
    log_path: Path | None = None
    exit_code: int | None = None
    causes: tuple[Cause, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """A task can be run on it."""
        return self.state == "ready" or (self.state == "foreign" and self.attached and not self.message)

    @property
    def died(self) -> bool:
        return self.state == "stopped" and self.launch_id is not None


def status_to_json(status: Status) -> dict[str, Any]:
    """The shape of `labtui serve status --json`."""
    data: dict[str, Any] = {
        "state": status.state,
        "stage": status.stage,
        "pid": status.pid,
        "url": status.url,
        "checkpoint": status.checkpoint,
        "since_s": None if status.since_s is None else round(status.since_s, 1),
        "practice": status.practice,
        "share": status.share,
        "estimate_s": status.estimate_s,
        "ready_after_s": None if status.ready_after_s is None else round(status.ready_after_s, 1),
        "model": status.model,
        "vllm": status.vllm_version,
        "max_model_len": status.max_model_len,
        "attached": status.attached,
        "last_line": status.last_line,
        "stalled_s": None if status.stalled_s is None else round(status.stalled_s, 1),
        "message": status.message,
        "log": None if status.log_path is None else str(status.log_path),
        "exit_code": status.exit_code,
        "causes": [cause.to_json() for cause in status.causes],
    }
    if status.since_s is None:
        data["since_s_reason"] = "no server is running"
    return data
