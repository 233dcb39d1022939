"""Under which conditions a run was made: prefix cache, other traffic, thinking, step cap.

Each is a JSON object for the run's evidence, with a state and what it rests on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from exercises.metrics import Counters, gained, other_traffic, prefix_cache_hits
from exercises.records import NotMeasurable

Reading = Counters | NotMeasurable


def prefix_cache(before: Reading, after: Reading, own_prompt_tokens: int | None) -> dict[str, Any]:
    """state: "warm" where a part of the prompt was found in the prefix cache, "cold" where nothing was, else "unknown".

    queried_tokens and hit_tokens are what vllm:prefix_cache_queries and _hits gained. A window in which other prompts
    were looked up proves nothing about this one.
    """
    found = None if _missing(before, after) else prefix_cache_hits(*_readings(before, after))
    if found is None:
        return {
            "state": "unknown",
            "queried_tokens": None,
            "hit_tokens": None,
            "reason": _missing(before, after) or "this server does not count what its prefix cache finds",
        }
    queried, hit = found
    counted = {"queried_tokens": queried, "hit_tokens": hit}
    prompts = gained(*_readings(before, after)).get("prompt_tokens")
    if own_prompt_tokens is None or (prompts is not None and prompts != own_prompt_tokens):
        others = "the server did not say how long this prompt is" if own_prompt_tokens is None else "other prompts too"
        return {"state": "unknown", **counted, "reason": f"the counters cannot be told apart: {others}"}
    if queried == 0:
        return {"state": "off", **counted, "reason": "nothing was looked up: the prefix cache is switched off"}
    return {"state": "warm" if hit > 0 else "cold", **counted, "reason": None}


def traffic(before: Reading, after: Reading, own_completion_tokens: int | None) -> dict[str, Any]:
    """state: "alone", "shared" with the reason, or "unknown" with the reason."""
    missing = _missing(before, after)
    if missing is not None:
        return {"state": "unknown", "reason": missing}
    if own_completion_tokens is None:
        return {"state": "unknown", "reason": "the server did not say how many tokens are ours"}
    seen = other_traffic(*_readings(before, after), own_completion_tokens)
    if isinstance(seen, NotMeasurable):
        return {"state": "unknown", "reason": seen.reason}
    return {"state": "alone" if seen is None else "shared", "reason": seen}


def thinking(evidence: Mapping[str, Any], request: Mapping[str, Any], reasoning_characters: int) -> dict[str, Any]:
    """state: "on", "off" or "unknown"; source: what says so. Reasoning text that arrived outweighs every setting."""
    if reasoning_characters:
        return {"state": "on", "source": "reasoning text arrived"}
    asked = request.get("chat_template_kwargs")
    if isinstance(asked, Mapping) and isinstance(asked.get("enable_thinking"), bool):
        return {"state": "on" if asked["enable_thinking"] else "off", "source": "the request"}
    command = evidence.get("command")
    if not command:
        return {"state": "unknown", "source": "the server was not started by labtui"}
    defaults = json_flag(command, "--default-chat-template-kwargs")
    if isinstance(defaults.get("enable_thinking"), bool):
        return {"state": "on" if defaults["enable_thinking"] else "off", "source": "--default-chat-template-kwargs"}
    return {"state": "off", "source": "the chat template's default"}


def step_cap(evidence: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """steps: the most denoising steps that a canvas may take, None where not known; source: what sets them."""
    asked = request.get("vllm_xargs")
    if isinstance(asked, Mapping) and isinstance(asked.get("diffusion_max_steps"), int):
        return {"steps": asked["diffusion_max_steps"], "source": "the request"}
    known = evidence.get("max_denoising_steps")
    if isinstance(known, Mapping):
        return {"steps": known.get("steps"), "source": known.get("source")}
    return {"steps": None, "source": "the server was not started by labtui, or is not of block diffusion"}


def json_flag(command: Sequence[str], name: str) -> dict[str, Any]:
    """The JSON object that a flag of a server's command holds, {} where it is not there or no object."""
    parts = [str(part) for part in command]
    for at, part in enumerate(parts):
        flag, equals, value = part.partition("=")
        if flag.replace("_", "-") == name:
            try:
                found = json.loads(value if equals else parts[at + 1])
            except (ValueError, IndexError):
                return {}
            return found if isinstance(found, dict) else {}
    return {}


def _missing(before: Reading, after: Reading) -> str | None:
    return next((one.reason for one in (before, after) if isinstance(one, NotMeasurable)), None)


def _readings(before: Reading, after: Reading) -> tuple[Counters, Counters]:
    assert isinstance(before, Counters) and isinstance(after, Counters)
    return before, after
