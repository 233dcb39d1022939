"""What a person asked a plan for: enough to make it again, or another one that differs in one thing."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from labtui.serving.flags import OwnFlag, read_own_flags


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of make_plan. checkpoint: also where labtui chose it; port: None for the first free one."""

    checkpoint: str
    port: int | None = None
    vram_gib: float | None = None
    gpus: int = 1
    max_model_len: int | None = None
    extra_flags: tuple[str, ...] = ()
    host: str | None = None
    expose: bool = False
    pipeline: int = 1
    copies: int = 1
    ray: bool = False
    sampler: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    @property
    def own(self) -> tuple[OwnFlag, ...]:
        return read_own_flags(self.extra_flags)

    def with_flag(self, name: str, *values: str) -> Asked:
        """With this flag for vLLM instead of what was given for it."""
        return self.without_flag(name)._more(name, *values)

    def without_flag(self, name: str) -> Asked:
        kept = [word for flag in self.own if flag.name != name for word in flag.typed]
        return replace(self, extra_flags=tuple(kept))

    def _more(self, *words: str) -> Asked:
        return replace(self, extra_flags=(*self.extra_flags, *words))

    def choices(self) -> dict[str, Any]:
        """As keywords for make_plan."""
        data = asdict(self)
        data["checkpoint_id"] = data.pop("checkpoint")
        data["tables"] = tuple(Path(one) for one in self.tables)
        return data

    def command(self, verb: str = "start") -> str:
        """The line that asks for it, to be pasted into a shell."""
        words = ["labtui", "serve", verb, "--checkpoint", self.checkpoint]
        for name, value, plain in (
            ("--port", self.port, None),
            ("--gpus", self.gpus, 1),
            ("--pipeline", self.pipeline, 1),
            ("--copies", self.copies, 1),
            ("--max-model-len", self.max_model_len, None),
            ("--host", self.host, None),
        ):
            words += [name, str(value)] if value != plain else []
        words += ["--expose"] if self.expose else []
        words += ["--ray"] if self.ray else []
        for one in self.sampler:
            words += ["--sampler", one]
        words += ["--", *self.extra_flags] if self.extra_flags else []
        return shlex.join(words)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def asked_from_json(data: Mapping[str, Any]) -> Asked | None:
    """None where the record does not have it: an older labtui wrote it."""
    known = {one.name for one in fields(Asked)}
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in data.items() if key in known
    }
    return Asked(**values) if "checkpoint" in values else None


def asked_for(
    checkpoint: str,
    *,
    extra_flags: Iterable[str],
    sampler: Iterable[str],
    tables: Iterable[Path],
    **rest: Any,
) -> Asked:
    return Asked(
        checkpoint,
        extra_flags=tuple(extra_flags),
        sampler=tuple(sampler),
        tables=tuple(str(one) for one in tables),
        **rest,
    )
