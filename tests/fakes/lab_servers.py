"""Servers for the lab screen: one that is ready at a fake's address, and plans that start fake_vllm.py."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from exercises.endpoint import Endpoint
from labtui.serving import ports
from labtui.serving.machine import Machine, Vllm
from labtui.serving.plan import Plan, make_plan
from labtui.serving.status import Status

FAKE = Path(__file__).with_name("fake_vllm.py")
LOGS = Path(__file__).parent.parent / "fixtures" / "logs"
MACHINE = Machine(
    gpus=(), memory_available_gib=16.0, vllm=Vllm("0.32.0", cpu=True, program=(sys.executable, str(FAKE)))
)


@dataclass
class ServerThere:
    """In place of the supervisor: a server that is ready at the given address, or that is in any other state."""

    url: str = "http://127.0.0.1:1"
    model: str = "fake-diffusion"
    practice: bool = True
    checkpoint: str = "practice"
    status_now: Status = field(default_factory=lambda: Status("stopped"))
    log_path: Path | None = None
    launch: Any = None
    offered: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if self.status_now.state == "stopped" and self.url != "http://127.0.0.1:1":
            self.be("ready")

    def be(self, state: Any, **more: Any) -> None:
        known: dict[str, Any] = {
            "checkpoint": self.checkpoint,
            "practice": self.practice,
            "url": "http://127.0.0.1:8000",
        }
        self.status_now = Status(state, **{**known, **more})

    def status(self, wait_s: float = 0.0) -> Status:
        return self.status_now

    def offers(self, status: Status, **known: Any) -> tuple[Any, ...]:
        return self.offered

    def endpoint(self) -> Endpoint:
        return Endpoint(
            self.url, None, self.model, self.checkpoint, self.practice, "0.32.0", {"launch": "launch-of-this-test"}
        )


def fake_plans(weights: Path, **behaviour: Any) -> Callable[..., Plan]:
    """In place of make_plan: what it makes starts fake_vllm.py, which behaves as told (see there)."""
    weights.mkdir(exist_ok=True)
    (weights / "config.json").write_text("{}")
    (weights / "model.safetensors").write_bytes(b"")
    texts = {key: str(value) if isinstance(value, Path) else value for key, value in behaviour.items()}

    def plan(checkpoint_id: str | None = None, **choices: Any) -> Plan:
        start = 20000 + hash(weights) % 20000
        made = make_plan("practice", port=None, machine=MACHINE, extra_flags=choices.get("extra_flags", ()))
        port = ports.next_free_port(start)
        flags = tuple(replace(flag, value=str(port)) if flag.name == "--port" else flag for flag in made.flags)
        return replace(
            made,
            checkpoint=replace(made.checkpoint, model=str(weights)),
            flags=flags,
            port=port,
            env={**made.env, "FAKE_VLLM": json.dumps(texts)},
        )

    return plan
